"""Files that an attempt leaves in its folder: the organiser's, and in ``team/`` those that its team may see.

A team sees never a score beyond the feedback, never gold, and of a note what the policy allows.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from sandscore.base.whole_files import write_synced
from sandscore.records.released_view import Released
from sandscore.records.submission import Submission

PREDICTIONS = "predictions.json"
RUN = "run.json"
LOG = "log.txt"
EARLY_LOG = "early-log.txt"
"""What had come of the log before the image was handed a note."""
REFUSED = "refused.json"
"""The answer that ended a run, as the image gave it."""
REHEARSAL = "rehearsal"
"""A folder: all of the image's run on practice notes."""
COPIES = "perturbed"
"""A folder: by copy of the notes all of the image's run on it."""
NOTES = "notes.json"
"""Of a rehearsal."""
PROBLEMS = "problems.json"
"""What validation found: in the folder all of it, in ``team/`` what the policy leaves."""
TEAM = "team"


def card_name(version: int) -> str:
    """The organiser's score card of a version: exact, with note ids. Older versions stay beside it."""
    return f"card.v{version}.json"


def write_team_file(folder: Path, name: str, released: Released[object]) -> None:
    """One more file for the team, text as it is and everything else as JSON; nothing where nothing was released."""
    if released.view is None:
        return
    (folder / TEAM).mkdir(exist_ok=True)
    text = released.view if isinstance(released.view, str) else json.dumps(msgspec.to_builtins(released.view), indent=1)
    write_synced(folder / TEAM / name, text.encode("utf-8", "replace"))


_SELDOM_READ = ("notes", "predictions")
"""Of a rehearsal's files those that a view leaves out: they are long."""


def team_view(one: Submission, folder: Path | None, rehearsal: Path | None = None) -> dict[str, Any]:
    """Status, reason, feedback, what was released of problems and log when the attempt ended, and the rehearsal."""
    seen: dict[str, Any] = {
        "id": one.id,
        "team": one.team,
        "task": one.task,
        "phase": one.phase,
        "status": str(one.status),
        "attempt": one.attempt,
        "created": one.created,
        "finished": one.finished,
        "reason": one.reason if one.status.final else None,
        "feedback": None if one.feedback is None else dict(one.feedback),
    }
    seen |= _team_files(folder)
    rehearsed = _team_files(rehearsal or (folder / REHEARSAL if folder is not None else None))
    if rehearsed:
        seen["rehearsal"] = {name: value for name, value in rehearsed.items() if name not in _SELDOM_READ}
    return seen


def _team_files(folder: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted((folder / TEAM).iterdir()) if folder is not None and (folder / TEAM).is_dir() else ():
        text = path.read_text(encoding="utf-8", errors="replace")
        found[path.stem] = _decoded(text) if path.suffix == ".json" else text
    return found


def _decoded(text: str) -> Any:
    """An image's own answer need not be JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text
