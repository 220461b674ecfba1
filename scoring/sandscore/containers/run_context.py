"""The context of a run: image, notes and conditions, and what one start of it showed."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from sandscore.containers.engines.engine_protocol import Engine
from sandscore.containers.engines.sandbox import Usage
from sandscore.containers.kept_answers import KeptAnswers, RunPace
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import (
    EngineFacts,
    Hardening,
    ImageFacts,
    LimitsInForce,
    Outcome,
    Protocol,
    RunFault,
    RunLimits,
    Stage,
)
from sandscore.task_table.task import Task

Isolated = Literal["best", "own network"]
Kind = Literal["image", "url", "command"]


class Annotator(Struct, frozen=True):
    """What is run: an image's reference, a server's URL or a command, and how it is spoken to."""

    kind: Kind
    reference: str
    protocol: Protocol = "service"
    isolation: Isolated = "best"


def preset(hardening: Hardening) -> RunLimits:
    """The limits of a profile: ``compat`` is for images whose entrypoint switches the user itself."""
    if hardening == "strict":
        return RunLimits()
    return RunLimits(hardening="compat", user=None, capabilities=("SETUID", "SETGID"))


class Round(Struct, frozen=True):
    """Notes that are asked of one start, for one task. The answers of a ``counted`` round are the run's own."""

    task: Task
    notes: Sequence[SentNote]
    counted: bool = False
    kept: KeptAnswers | None = None
    before: Mapping[str, bytes] = field(default_factory=dict)
    """What an earlier start answered, by note."""

    @property
    def left(self) -> list[SentNote]:
        return [note for note in self.notes if note.name not in self.before]


Rounds = Sequence[Round]


class Timing(Struct, frozen=True):
    """How long the notes of one task took, those of an earlier start left out."""

    seconds: float
    latencies: list[float] = field(default_factory=list)


class Facts(Struct):
    """What one start of an annotator showed."""

    isolation: str = "none"
    engine: EngineFacts | None = None
    kernel_limits: LimitsInForce | None = None
    tool: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    start_seconds: float | None = None
    ready_seconds: float | None = None
    timings: dict[str, Timing] = field(default_factory=dict)
    """By the task's id."""
    begun: float | None = None
    """When the first note was sent."""
    wanted: int = 0
    """Answers, of all tasks together."""
    answered: int = 0
    before: int = 0
    """So many of them by an earlier start."""
    resumed: dict[str, int] = field(default_factory=dict)
    """The same, by the task's id."""
    asking: str | None = None
    """The task whose notes are asked just now."""
    retried: int = 0
    usage: Usage = field(default_factory=Usage)
    exit_code: int | None = None
    log_bytes: int = 0
    log_tail: bytes = b""
    log_early: bytes = b""
    stage: Stage = "pull"

    @property
    def pace(self) -> RunPace:
        """How far it has come, from the first note on."""
        seconds = 0.0 if self.begun is None else time.monotonic() - self.begun
        return RunPace(self.answered, self.wanted, seconds, self.before)

    def heard(self, log: LogWatch) -> None:
        """What was written to a log."""
        self.log_bytes, self.log_tail, self.log_early = log.bytes, log.tail, log.early


class Setting(Struct, frozen=True):
    """All that stays the same from one start to the next."""

    annotator: Annotator
    limits: RunLimits
    concurrency: int
    marks: dict[str, str]
    image: ImageFacts | None = None
    reached: Engine | None = None

    @property
    def engine(self) -> Engine:
        if self.reached is None:
            raise RunFault(Outcome.INFRASTRUCTURE, "no engine was asked")
        return self.reached

    @property
    def found(self) -> ImageFacts:
        if self.image is None:
            raise RunFault(Outcome.INFRASTRUCTURE, "no image was looked up")
        return self.image
