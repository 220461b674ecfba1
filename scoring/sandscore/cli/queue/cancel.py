"""``sandscore queue cancel``: calls submissions back."""

from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import order_options, tell
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("cancel")
@click.argument("words", metavar="[DIR] ID...", nargs=-1)
@order_options
@home_options
@format_option
def command(words: tuple[str, ...], who: str | None, why: str | None, output_format: str, **where: Any) -> int:
    """Call submissions back: REJECTED with the reason 'cancelled', not counted against the quota.

    One that is being worked on ends at its worker's next heartbeat.

    \b
    Example:
      sandscore queue cancel demo/queue ID
    """
    place, ids = place_of(words, where, -1)
    return tell(
        place,
        ids,
        lambda home, one: home.cancel(one),
        ("cancelled", "has ended already, or is not in this queue"),
        output_format,
        ("cancel", who, why),
    )
