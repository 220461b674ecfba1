"""``sandscore queue disclosed``: what was shown to whom, in bits."""

from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.ledger_summary import LedgerSummary, TeamTotal


@click.command("disclosed")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--team", metavar="NAME", help="Only what this team was shown, and everybody.")
@home_options
@format_option
def command(words: tuple[str, ...], team: str | None, output_format: str, **where: Any) -> int:
    """Add up what was shown, in bits that it may tell of gold and notes, and say what that can do to a score.

    \b
    Example:
      sandscore queue disclosed demo/queue
    """
    from sandscore.queue.ledger_summary import summarise, summary_json

    place, _ = place_of(words, where, 0)
    found = place.asking(lambda home: summarise(home, place.workspace, team))
    click.echo(summary_json(found) if output_format == "json" else _as_text(found))
    return 0


def _as_text(found: "LedgerSummary") -> str:
    from sandscore.base.terminal_text import printable

    lines = [
        f"{line.when or '':22}{line.bits:10.1f}  {line.what:10}{line.submission or '-':14}{line.team or 'everybody'}"
        for line in found.lines
    ]
    lines += [f"{len(found.lines)} releases, {found.bits:.1f} bits at most", *map(_total, found.teams)]
    return "\n".join(printable(line) for line in lines)


def _total(one: "TeamTotal") -> str:
    where = one.task if one.phase is None else f"{one.task}, {one.phase}"
    said = f"{one.team} ({where}): {one.releases} releases, {one.bits:.1f} bits at most"
    if one.above is None or one.error is None:
        return said
    return (
        f"{said}; the score of {one.best} may lie up to {one.above:.4f} above its true value "
        f"(approximately: its standard error is {one.error:.4f})"
    )
