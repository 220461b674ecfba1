"""Records that travel through a queue: submissions, claims, verdicts and notices, whichever home the queue has."""

from collections.abc import Mapping
from enum import IntFlag, StrEnum
from pathlib import Path

from msgspec import Struct, field

from sandscore.records.released_view import LedgerLine, Released, lines_of, view_of


class Status(StrEnum):
    """Where a submission stands, in Synapse's own words."""

    RECEIVED = "RECEIVED"
    EVALUATION_IN_PROGRESS = "EVALUATION_IN_PROGRESS"
    VALIDATED = "VALIDATED"
    SCORED = "SCORED"
    INVALID = "INVALID"
    REJECTED = "REJECTED"
    CLOSED = "CLOSED"

    @property
    def final(self) -> bool:
        return self in (Status.SCORED, Status.INVALID, Status.REJECTED, Status.CLOSED)

    @property
    def counts(self) -> bool:
        """Whether it uses up the team's quota."""
        return self not in (Status.INVALID, Status.REJECTED)


CANCELLED = "cancelled"
"""The reason of a REJECTED submission that its team (or the organiser) called back."""

FAILURE_QUOTA = "failure_quota"
"""The reason of a REJECTED submission whose team has failed, or called back what was begun, too often."""
REHEARSED = "rehearsed"
"""The reason of a RECEIVED submission whose image has done well on the practice notes and waits to meet the others."""


class SubmissionKind(StrEnum):
    """What was submitted."""

    IMAGE = "image"
    PREDICTIONS = "predictions"


class Submission(Struct, frozen=True):
    """One submission as the queue knew it when it was read. Times are ISO 8601 in UTC, ending in Z."""

    id: str
    team: str
    task: str
    kind: SubmissionKind
    status: Status
    created: str
    phase: str | None = None
    image: str | None = None
    """repository@sha256:… where ``kind`` is IMAGE."""
    content: str | None = None
    """A file that was handed in: as sha256:…, or by a name under which its home keeps it unchanged."""
    submitter: str | None = None
    """Whom to notify: an e-mail address, or a Synapse user or team id."""
    attempt: int = 0
    """The number of the latest attempt; 0 before the first. Never reused, never counted down."""
    failures: int = 0
    """Attempts in a row that ended because of us."""
    needs_organiser: bool = False
    cancel_requested: bool = False
    not_before: str | None = None
    """Back-off: not to be claimed before this time."""
    reason: str | None = None
    finished: str | None = None
    version: int = 0
    """Of the score: 1 for the first, one more for each rescoring."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """For the organiser. What the team sees is the feedback."""
    feedback: Mapping[str, object] | None = None
    spent: float = 0.0
    """Seconds that the container ran of the attempt that ended it."""
    rehearsed: bool = False
    """The image has done well on the practice notes; only then it meets hidden ones."""
    name: str | None = None
    """What its team calls it on the board; nothing else goes by it."""

    @property
    def claimable(self) -> bool:
        """But for its back-off and for leases, which only the home can judge."""
        return not self.status.final and not self.needs_organiser


class Claim(Struct, frozen=True):
    """The right to work on a submission, for as long as the lease is renewed.

    ``attempt`` is the fence: a result is taken only while the queue still holds this attempt number and nonce.
    """

    submission: Submission
    attempt: int
    owner: str
    nonce: str
    lease_seconds: float


class Signal(StrEnum):
    """What a heartbeat brings back."""

    GO_ON = "go_on"
    CANCEL = "cancel"
    LOST = "lost"


class Committed(StrEnum):
    """What became of a result, or of what was handed back."""

    DONE = "done"
    CANCELLED = "cancelled"
    STALE = "stale"


class Verdict(Struct, frozen=True):
    """How an attempt ended, if not because of us."""

    status: Status
    """SCORED, INVALID (the participant's fault only) or REJECTED (an organiser's decision, or cancelled)."""
    reason: Released[str] | None = None
    """For the team."""
    scores: Mapping[str, float | None] = field(default_factory=dict)
    """Headline and secondary F1 by measure, exact, for the organiser: never for a place participants can read."""
    feedback: Released[Mapping[str, object]] | None = None
    """What the team may be told under the phase's feedback mode; None where the writer of the board decides it
    (the Ladder needs a team's submissions in order)."""
    signature: str | None = None
    seconds: float = 0.0
    """How long its container ran."""
    folder: Path | None = None
    """The attempt's files (``attempt_files`` names them), all of them written and synced."""
    beside: tuple[Released[object], ...] = ()
    """What else becomes visible to the team with the verdict: the status itself, and what the folder has for it."""

    @property
    def lines(self) -> tuple[LedgerLine, ...]:
        """For the ledger, in the transaction that makes the verdict visible."""
        return lines_of((self.reason, self.feedback, *self.beside))

    @property
    def reason_text(self) -> str | None:
        return view_of(self.reason)


class Version(Struct, frozen=True):
    """A score computed anew for a submission that was scored before; its card lies beside the first."""

    number: int
    scores: Mapping[str, float | None]
    feedback: Released[Mapping[str, object]] | None
    signature: str
    cause: str
    """Why it was computed anew, for the history."""


class Event(IntFlag):
    """What a team or organiser may be told; organisers choose with a sum of these."""

    STARTED = 1
    SCORED = 2
    FAILED = 4
    INVALID = 8
    CANCELLED = 16
    NEEDS_ORGANISER = 32


class NoticeText(Struct, frozen=True):
    """What a notice says to the team."""

    subject: str
    text: str


class Notice(Struct, frozen=True):
    """One message. (submission, attempt, event) is its identity."""

    submission: Submission
    attempt: int
    event: Event
    words: Released[NoticeText]
    detail: str | None = None
    """What exactly failed: for the organisers' own file and mail, for nobody else."""
