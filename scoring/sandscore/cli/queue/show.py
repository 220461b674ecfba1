"""``sandscore queue show``: one submission, its attempts and versions, or what its team may see of it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import Place, home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome

LOGS = ("early-log", "log")


@click.command("show")
@click.argument("words", metavar="[DIR] ID", nargs=-1)
@click.option("--team-view", is_flag=True, help="Only what the team may see: no scores but the feedback, a clean log.")
@home_options
@format_option
def command(words: tuple[str, ...], team_view: bool, output_format: str, **where: Any) -> int:
    """Show all that is known of a submission; with --team-view, what may be sent to its team.

    \b
    Example:
      sandscore queue show demo/queue ID --team-view
    """
    place, (submission_id,) = place_of(words, where, 1)
    found = place.asking(lambda home: _found(place, home, submission_id, team_view))
    click.echo(json.dumps(found, indent=1, ensure_ascii=False) if output_format == "json" else _as_text(found))
    return 0


async def _found(place: Place, home: "QueueHome", submission_id: str, team_view: bool) -> dict[str, object]:
    from sandscore.cli.queue.submission_text import record
    from sandscore.queue.attempt_files import team_view as view
    from sandscore.queue.public_log import receipt_facts

    one = next((one for one in await home.submissions() if one.id == submission_id), None)
    if one is None:
        raise UsageFault(f"there is no submission {submission_id} in this queue")
    folder = await home.kept(one)
    seen = view(one, folder, place.workspace.rehearsal(one.id) if one.rehearsed else None)
    if (receipt := receipt_facts(place.workspace, submission_id)) is not None:
        seen["receipt"] = receipt
    if team_view:
        return seen
    history = place.row.history(place.workspace, submission_id)
    return record(one) | seen | {"reason": one.reason, "folder": str(folder) if folder else None} | history


def _as_text(found: dict[str, object]) -> str:
    return "\n".join(_lines(found))


def _lines(found: Mapping[str, object]) -> Iterator[str]:
    """One for each fact, logs last; below a log its lines, below a rehearsal its facts."""
    from sandscore.base.terminal_text import printable

    for name, value in sorted(found.items(), key=lambda fact: fact[0] in LOGS):
        below: Iterable[str] | None = None
        if isinstance(value, list):
            below = (printable(json.dumps(one, ensure_ascii=False)) for one in value)
        elif name in LOGS:
            below = map(printable, str(value).splitlines())
        elif name == "rehearsal" and isinstance(value, dict):
            below = _lines(value)
        if below is None:
            written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{name:18}{printable(written)}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in below)
