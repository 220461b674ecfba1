"""Exact scores, which never go to Synapse: kept in the worker's local state."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandscore.queueing.workspace import write_synced


class Results:
    """One file a submission and version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, submission_id: str, version: int, scores: Mapping[str, float | None], **facts: Any) -> None:
        content = json.dumps({"scores": dict(scores)} | facts, indent=2).encode() + b"\n"
        write_synced(self._path(submission_id, version), content)

    def scores(self, submission_id: str, version: int) -> dict[str, float | None]:
        """Empty where another machine scored it."""
        try:
            found = json.loads(self._path(submission_id, version).read_bytes())["scores"]
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return dict(found)

    def _path(self, submission_id: str, version: int) -> Path:
        return self._folder / f"{submission_id}-v{version}.json"
