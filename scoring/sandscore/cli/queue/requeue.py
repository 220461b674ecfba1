"""``sandscore queue requeue``: a second chance."""

from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.order_results import order_options, tell
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("requeue")
@click.argument("words", metavar="[DIR] ID...", nargs=-1)
@order_options
@home_options
@format_option
def command(words: tuple[str, ...], who: str | None, why: str | None, output_format: str, **where: Any) -> int:
    """Put submissions back to RECEIVED: those that wait for an organiser, and those that ended.

    Failures are forgotten, earlier attempts and versions are kept.

    \b
    Example:
      sandscore queue requeue demo/queue ID
    """
    place, ids = place_of(words, where, -1)
    return tell(
        place,
        ids,
        lambda home, one: home.requeue(one),
        ("requeued", "is being worked on, or is not in this queue"),
        output_format,
        ("requeue", who, why),
    )
