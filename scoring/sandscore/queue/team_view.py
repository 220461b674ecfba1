"""A team's view of its own submission: never a score beyond the feedback, never gold, never a note."""

import json
from pathlib import Path
from typing import Any

from sandscore.queue.attempt_files import LOG, PROBLEMS
from sandscore.records.submission import Submission


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
