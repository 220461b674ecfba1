"""``sandscore queue list``: every submission and where it stands."""

from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of


@click.command("list")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--status", "statuses", multiple=True, metavar="STATUS", help="Only these; repeatable.")
@home_options
@format_option
def command(words: tuple[str, ...], statuses: tuple[str, ...], output_format: str, **where: Any) -> int:
    """List submissions, oldest first, with scores: for organisers, not for participants.

    \b
    Example:
      sandscore queue list demo/queue --format json
    """
    from sandscore.cli.queue.submission_text import FORMATS
    from sandscore.queue.queue_status import ranking_scores

    place, _ = place_of(words, where, 0)
    found = place.asking(lambda home: home.submissions())
    wanted = {status.upper() for status in statuses}
    shown = [one for one in found if not wanted or one.status in wanted]
    click.echo(FORMATS[output_format](shown, ranking_scores(place.workspace, shown)))
    return 0
