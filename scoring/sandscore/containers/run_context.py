"""The context of a run: image, notes and conditions, and what one start of it showed."""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct, field

from sandscore.containers.engines.engine_protocol import Engine
from sandscore.containers.engines.sandbox import Usage
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Hardening, ImageFacts, Outcome, Protocol, RunFault, RunLimits, Stage
from sandscore.task_table.task import Task

Isolated = Literal["best", "own network"]
Kind = Literal["image", "url", "command"]
Rounds = Sequence[Sequence[SentNote]]


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


class Facts(Struct):
    """What one start of an annotator showed."""

    isolation: str = "none"
    tool: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    start_seconds: float | None = None
    ready_seconds: float | None = None
    notes_seconds: float | None = None
    latencies: list[float] = field(default_factory=list)
    retried: int = 0
    usage: Usage = field(default_factory=Usage)
    exit_code: int | None = None
    log_bytes: int = 0
    log_tail: bytes = b""
    log_early: bytes = b""
    stage: Stage = "pull"

    def heard(self, log: LogWatch) -> None:
        """What was written to a log."""
        self.log_bytes, self.log_tail, self.log_early = log.bytes, log.tail, log.early


class Setting(Struct, frozen=True):
    """All that stays the same from one start to the next."""

    annotator: Annotator
    task: Task
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
