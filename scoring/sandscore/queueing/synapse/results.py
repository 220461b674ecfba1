"""Exact scores, which never go to Synapse: kept in the worker's local state."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandscore.queueing.synapse.record import Record
from sandscore.queueing.workspace import write_synced

Scores = Mapping[str, float | None]
Feedback = Mapping[str, object] | None


class Results:
    """One file a submission and version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, submission_id: str, version: int, scores: Scores, feedback: Feedback, **facts: Any) -> None:
        told = None if feedback is None else dict(feedback)
        content = json.dumps({"scores": dict(scores), "feedback": told} | facts, indent=2).encode() + b"\n"
        write_synced(self._path(submission_id, version), content)

    def of(self, submission_id: str, record: Record) -> tuple[Scores, Feedback]:
        """Of the current version; empty where another machine, or another attempt, scored it."""
        try:
            found = json.loads(self._path(submission_id, record.version).read_bytes())
            own = found.get("nonce") in (None, record.nonce)
            scores, feedback = dict(found["scores"]) if own else {}, found["feedback"] if own else None
        except (OSError, ValueError, KeyError, TypeError):
            scores, feedback = {}, None
        return scores, (feedback or {}) if record.fed else None

    def explain(self, submission_id: str, attempt: int, reason: str) -> None:
        """What exactly failed, for organisers: an annotation could be read by participants."""
        write_synced(self._why(submission_id), json.dumps({"attempt": attempt, "reason": reason}).encode())

    def reason(self, submission_id: str, record: Record) -> str | None:
        """Of the latest attempt, if it failed on this machine because of us."""
        try:
            found = json.loads(self._why(submission_id).read_bytes())
            return str(found["reason"]) if record.failures and found["attempt"] == record.attempt else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _why(self, submission_id: str) -> Path:
        return self._folder / f"{submission_id}-failure.json"

    def _path(self, submission_id: str, version: int) -> Path:
        return self._folder / f"{submission_id}-v{version}.json"
