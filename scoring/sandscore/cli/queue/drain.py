"""``sandscore queue drain``: finish what runs, claim nothing."""

from typing import Any

import click

from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("drain")
@click.argument("words", metavar="[DIR]", nargs=-1)
@order_options
@home_options
def command(words: tuple[str, ...], who: str | None, why: str | None, **where: Any) -> int:
    """Let workers finish what they have begun and claim nothing more, until queue undrain.

    Workers go on running, teams go on handing in, boards follow. It holds for all workers with this folder, also for
    those that are started later. queue status says how many still run.

    \b
    Example:
      sandscore queue drain demo/queue
    """
    from sandscore.queue.draining import drain
    from sandscore.queue.order_history import note_order

    place, _ = place_of(words, where, 0)
    note_order(place.workspace.root, "drain", who, why)
    click.echo("draining" if drain(place.workspace.root) else "draining already")
    return 0
