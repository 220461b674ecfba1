"""``sandscore queue release-log``: lines of a log of hidden notes that a person has read, for the team."""

import sys
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.queue.order_results import order_options
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome


@click.command("release-log")
@click.argument("words", metavar="[DIR] ID", nargs=-1)
@click.option("--lines", metavar="A-B", help="Only these, counted from 1; at most 2,000 characters.")
@order_options
@home_options
def command(words: tuple[str, ...], lines: str | None, who: str | None, why: str | None, **where: Any) -> int:
    """Show lines of the log that an image wrote among hidden notes, and release them to its team.

    Only where the challenge says logs = "reviewed". They are shown first, and released once the id is typed; where
    there is no terminal nothing is. The ledger counts eight bits a byte.

    \b
    Example:
      sandscore queue release-log demo/queue ID --lines 1-12
    """
    from sandscore.base.terminal_text import printable
    from sandscore.queue.log_release import WARNING, excerpt, release_excerpt
    from sandscore.queue.order_history import note_order

    place, (submission_id,) = place_of(words, where, 1)
    chosen = place.asking(lambda home: excerpt(home, place.workspace, submission_id, lines))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageFault("a log is released by somebody who reads it: there is no terminal")
    for number, line in enumerate(chosen.text.split("\n"), chosen.first):
        click.echo(f"{number:>6}  {printable(line)}")
    click.echo(f"\n{WARNING}")
    if (
        click.prompt(f"Type {submission_id} to release this to its team", default="", show_default=False)
        != submission_id
    ):
        raise UsageFault("nothing was released")

    note_order(place.workspace.root, "release-log", who, why, [submission_id])

    async def done(home: "QueueHome") -> float:
        return await release_excerpt(home, place.workspace, chosen)

    click.echo(f"released: {place.asking(done):,.0f} bits at most, in the ledger")
    return 0
