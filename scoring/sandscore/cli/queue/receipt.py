"""``sandscore queue receipt``: proof for a team that its submission was taken in."""

from typing import Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("receipt")
@click.argument("words", metavar="[DIR] ID", nargs=-1)
@home_options
def command(words: tuple[str, ...], **where: Any) -> int:
    """Print the receipt of a submission: its line in the public log, and what opens that line.

    For its team, who keeps it: sandscore verify BOARD --log FOLDER --receipt FILE says whether the line is still there.

    \b
    Example:
      sandscore queue receipt demo/queue ID
    """
    from sandscore.queue.public_log import PublicLog, receipt_text

    place, (submission_id,) = place_of(words, where, 1)
    receipt = PublicLog(place.workspace).receipt(submission_id)
    if receipt is None:
        raise UsageFault(
            f"there is no receipt of {submission_id} in this queue; the next queue work that makes boards writes it"
        )
    click.echo(receipt_text(receipt), nl=False)
    return 0
