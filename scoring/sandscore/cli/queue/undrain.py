"""``sandscore queue undrain``: workers claim again."""

from typing import Any

import click

from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("undrain")
@click.argument("words", metavar="[DIR]", nargs=-1)
@order_options
@home_options
def command(words: tuple[str, ...], who: str | None, why: str | None, **where: Any) -> int:
    """End what queue drain began: workers claim again.

    \b
    Example:
      sandscore queue undrain demo/queue
    """
    from sandscore.queue.draining import undrain
    from sandscore.queue.order_history import note_order

    place, _ = place_of(words, where, 0)
    note_order(place.workspace.root, "undrain", who, why)
    click.echo("workers claim again" if undrain(place.workspace.root) else "it was not draining")
    return 0
