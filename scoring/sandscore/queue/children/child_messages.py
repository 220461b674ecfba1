"""The messages between a worker and its child processes: what each may be asked, and what it may answer.

They carry paths, digests and numbers: never notes, gold or tokens.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.json import Decoder
from pydantic import BaseModel

from sandscore.attestation.log_lines import HandedIn
from sandscore.disclosure.released import unpack
from sandscore.records.released_view import LedgerLine, PackedView, Released
from sandscore.records.run_record import Outcome, Protocol, RunLimits, Stage
from sandscore.records.submission import Submission
from sandscore.task_table.task import Task


class _Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the wire; its tag says which message it is."""


class SubmissionRunRequest(_Message, frozen=True, tag="run"):
    """Run an image over the notes, or over a ``part`` of them: first and last (exclusive) number."""

    task: str
    image: str
    notes: str
    folder: str
    protocol: Protocol
    concurrency: int
    limits: RunLimits
    part: tuple[int, int] | None = None
    registries: tuple[str, ...] = ()
    """What this team's images may be named in; nobody else is asked for them."""
    registry_failed: bool = False
    """Whether that was what ended the attempt before this one."""
    own_task: Task | None = None
    """The task, where the challenge defines it."""
    practice: str | None = None
    """Rehearse: over these notes and the odd ones in place of ``notes``."""
    masked: bool = True
    """Whoever gets the log may not see the notes."""
    engine: str | None = None
    """Of the table of engines; None for the one that runs there."""


class SweepRequest(_Message, frozen=True, tag="sweep"):
    """Remove what dead runs have left on the engine."""

    engine: str | None = None


class SubmissionScoreRequest(_Message, frozen=True, tag="score"):
    """Validate and score the predictions in a folder; the rest is what the card says about its maker."""

    task: str
    phase: str | None
    submission: str
    team: str
    image: str | None
    created: str
    version: int
    folder: str
    name: str | None = None


class GoldRequest(_Message, frozen=True, tag="gold"):
    """What changed in gold since ``before`` (12 hex), and which of it each of the folders' predictions holds."""

    task: str
    phase: str | None
    before: str
    folders: dict[str, str]


class RecountRequest(_Message, frozen=True, tag="recount"):
    """The counts of these submissions with gold as it is now, from what was kept of each."""

    task: str
    phase: str | None
    submissions: tuple[str, ...]


ScorerRequest = SubmissionScoreRequest | GoldRequest | RecountRequest


class BatchRequest(_Message, frozen=True, tag="batch"):
    """Several at once for the process that sees gold."""

    jobs: tuple[ScorerRequest, ...]
    challenge: str | None = None
    """What is in force, as JSON; else the file."""


class ScoredSubmission(Struct, frozen=True):
    """A submission that has a place on a board: ``card`` is the organiser's, ``waiting`` whether its team waits."""

    id: str
    team: str
    task: str
    phase: str | None
    version: int
    created: str
    score: float | None
    waiting: bool
    card: str


class BoardsRequest(_Message, frozen=True, tag="boards"):
    """Renew the boards of these submissions, then the site."""

    submissions: tuple[ScoredSubmission, ...]
    accepted: tuple[HandedIn, ...] = ()
    """All that was ever taken in, the oldest first: for the log."""
    challenge: str | None = None
    """What is in force, where that is not what the file says now; as JSON."""


class Blame(StrEnum):
    """Whose fault it was that a job was not done."""

    PARTICIPANT = "participant"
    ORGANISER = "organiser"
    INFRASTRUCTURE = "infrastructure"


TOO_COSTLY = "too_costly"
"""How a reason begins where reading a file took more than it may."""


class FaultAnswer(_Message, frozen=True, tag="fault"):
    """The job was not done: whose fault that is, and a sentence."""

    blame: Blame
    reason: str
    counts: dict[str, int] = {}
    """How often validation found each code, where that is the fault."""


class RunAnswer(_Message, frozen=True, tag="ran"):
    """How a run ended."""

    outcome: Outcome
    reason: str | None = None
    stage: Stage | None = None
    code: str | None = None


class SweepAnswer(_Message, frozen=True, tag="swept"):
    """How much was removed."""

    removed: int


class ScoreAnswer(_Message, frozen=True, tag="scored"):
    """F1 by measure for the organiser; what the team may be told, or nothing yet where the board decides it."""

    scores: dict[str, float | None]
    signature: str
    feedback: PackedView | None = None

    @property
    def told(self) -> Released[Mapping[str, object]] | None:
        """What the gate let out, in the child."""
        return None if self.feedback is None else unpack(self.feedback)


class GoldChange(Struct, frozen=True):
    """One annotation that gold has, or had: its place and label, without its text."""

    change: str
    note: str
    start: int
    length: int
    label: str | None


class GoldAnswer(_Message, frozen=True, tag="compared"):
    """The changes, None where the gold of before was not kept; for each submission the numbers of those it has."""

    changes: tuple[GoldChange, ...] | None
    holders: dict[str, tuple[int, ...]] = {}


class RecountedSubmission(Struct, frozen=True):
    """By measure tp, fp and fn, of all and of each note that changed; and what the card would be signed with."""

    signature: str
    totals: dict[str, tuple[int, int, int]]
    notes: dict[str, dict[str, tuple[int, int, int]]]


class RecountAnswer(_Message, frozen=True, tag="recounted"):
    """Those of the submissions that need not be scored again to be counted."""

    submissions: dict[str, RecountedSubmission]


ScorerAnswer = ScoreAnswer | GoldAnswer | RecountAnswer | FaultAnswer


class BatchAnswer(_Message, frozen=True, tag="answers"):
    """One answer a job, in the order of the jobs."""

    answers: tuple[ScorerAnswer, ...]


class BoardsAnswer(_Message, frozen=True, tag="published"):
    """Boards that are there; by submission what teams may now be told; what went wrong; and lines for the ledger."""

    boards: tuple[str, ...]
    feedback: dict[str, PackedView]
    warnings: tuple[str, ...]
    lines: tuple[LedgerLine, ...] = ()
    """For the ledger, about what everybody may see now."""

    @property
    def told(self) -> dict[str, Released[Mapping[str, object]]]:
        """What the gate let out, in the child, by submission."""
        return {submission: unpack(packed) for submission, packed in self.feedback.items()}


RunnerRequest = SubmissionRunRequest | SweepRequest
RunnerAnswer = RunAnswer | SweepAnswer | FaultAnswer
Request = RunnerRequest | BatchRequest | BoardsRequest
Answer = RunnerAnswer | BatchAnswer | BoardsAnswer


def _plain(value: object) -> Any:
    """Records of people are pydantic's; on the wire they are plain."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise NotImplementedError(type(value).__name__)


def _record(kind: type, value: Any) -> Any:
    return kind.model_validate(value) if issubclass(kind, BaseModel) else value


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
RUNNER_REQUESTS: Decoder[RunnerRequest] = Decoder(RunnerRequest, dec_hook=_record)
BATCH_REQUESTS = Decoder(BatchRequest)
BOARDS_REQUESTS = Decoder(BoardsRequest)
RUNNER_ANSWERS: Decoder[RunnerAnswer] = Decoder(RunnerAnswer)
BATCH_ANSWERS: Decoder[BatchAnswer | FaultAnswer] = Decoder(BatchAnswer | FaultAnswer)
BOARDS_ANSWERS: Decoder[BoardsAnswer | FaultAnswer] = Decoder(BoardsAnswer | FaultAnswer)
"""What each kind of child is asked, and what it may say: anything else is a ValueError."""


def as_line(message: Request | Answer) -> bytes:
    """The message as it goes over a pipe."""
    return _ENCODER.encode(message) + b"\n"


def score_request(one: Submission, folder: Path) -> SubmissionScoreRequest:
    """To score what lies in a folder as the next version of a submission's score."""
    return SubmissionScoreRequest(
        one.task, one.phase, one.id, one.team, one.image, one.created, one.version + 1, str(folder), one.name
    )


def unfinished(answer: Answer | ScorerAnswer) -> str:
    """Why an answer is not the one that was hoped for."""
    return answer.reason if isinstance(answer, FaultAnswer) else "a child process answered another question"
