"""Where the attempts of this machine lie."""

from pathlib import Path

from sandscore.queueing.artifacts import card_name
from sandscore.queueing.submission import Submission
from sandscore.queueing.synapse.record import Record
from sandscore.queueing.workspace import Workspace


class Places:
    """Folders by submission, as the records of the last list name them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, tuple[int, str]] = {}

    def remember(self, submission_id: str, record: Record) -> None:
        self._known[submission_id] = record.attempt, record.nonce

    def folder(self, submission: Submission) -> Path | None:
        """None where another machine has it, or where it is gone."""
        if submission.id not in self._known:
            return None
        folder = self._workspace.attempt(submission.id, *self._known[submission.id])
        return folder if (folder / card_name(submission.version)).is_file() else None
