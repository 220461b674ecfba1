"""``sandscore queue rekey``: another key for the public log."""

from typing import Any

import click

from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("rekey")
@click.argument("words", metavar="[DIR]", nargs=-1)
@order_options
@home_options
def command(words: tuple[str, ...], who: str | None, why: str | None, **where: Any) -> int:
    """Have the public log signed by a new key from now on, and print its public half.

    The change is a line of the log, approved by the key that signed before.

    \b
    Example:
      sandscore queue rekey demo/queue
    """
    from sandscore.queue.order_history import note_order
    from sandscore.queue.public_log import PublicLog

    place, _ = place_of(words, where, 0)
    note_order(place.workspace.root, "rekey", who, why)
    log = PublicLog(place.workspace)
    key = log.rotate()
    log.publish()
    click.echo(key)
    return 0
