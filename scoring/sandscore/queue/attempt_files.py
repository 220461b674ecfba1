"""Files that an attempt leaves in its folder, and the team's view of them.

A team sees never a score beyond the feedback, never gold, never a note.
"""

import json
from pathlib import Path
from typing import Any

from sandscore.records.disclosure_policy import DisclosurePolicy
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
NOTES = "notes.json"
"""Of a rehearsal."""
PROBLEMS = "problems.json"
"""What validation found, without anything from gold or notes: for the team."""


def rehearsal_files(policy: DisclosurePolicy) -> tuple[str, ...]:
    """What a team gets of its image's rehearsal."""
    log = () if policy.logs == "none" else (LOG,)
    return (NOTES, PREDICTIONS, REFUSED, PROBLEMS, RUN, *log)


def card_name(version: int) -> str:
    """The organiser's score card of a version: exact, with note ids. Older versions stay beside it."""
    return f"card.v{version}.json"


def team_view(one: Submission, folder: Path | None) -> dict[str, Any]:
    """Status, reason, feedback, what validation found, and the log (capped and masked when it was written)."""
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
    if folder is None:
        return seen
    if (folder / PROBLEMS).exists():
        seen["problems"] = json.loads((folder / PROBLEMS).read_bytes())
    if (folder / LOG).exists():
        seen["log"] = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    return seen
