"""Where attempts lie: on this machine, or fetched from the one that scored them."""

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

    def card(self, submission: Submission) -> Path | None:
        """Where the score card is, or would be; None where the submission is not known."""
        if submission.id not in self._known:
            return None
        attempt, nonce = self._known[submission.id]
        return self._workspace.attempt(submission.id, attempt, nonce) / card_name(submission.version)
