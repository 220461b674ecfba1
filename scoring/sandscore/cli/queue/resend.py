"""``sandscore queue resend``: send again what has not certainly arrived."""

from typing import Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("resend")
@click.argument("words", metavar="[DIR] [ID...]", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Of every submission.")
@order_options
@home_options
def command(words: tuple[str, ...], every: bool, who: str | None, why: str | None, **where: Any) -> int:
    """Send messages about these submissions again that were refused, or whose answer never came.

    What nobody knows about may have arrived, and then arrives twice. What was sent for certain is not sent again.

    \b
    Example:
      sandscore queue resend demo/queue --all
    """
    from sandscore.queue.order_history import note_order

    place, ids = place_of(words, where, -1)
    if every == bool(ids):
        raise UsageFault("name the submissions, or --all")
    note_order(place.workspace.root, "resend", who, why, ids)
    again = place.row.resend(place.workspace, where, ids)
    click.echo(f"{again.asked} messages sent again, of which {again.waiting} wait for the next worker")
    return 0
