"""The record of one run of an annotator: how it ended, under which limits, how long it took."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.records.strict_record import StrictRecord


class Outcome(StrEnum):
    """How a run ended. Only ``infrastructure`` is our fault and worth another try."""

    FINISHED = "finished"
    INVALID_OUTPUT = "invalid_output"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMED_OUT = "timed_out"
    NEVER_READY = "never_ready"
    IMAGE_MISSING = "image_missing"
    INFRASTRUCTURE = "infrastructure"

    @property
    def ours(self) -> bool:
        return self is Outcome.INFRASTRUCTURE

    @property
    def exit_code(self) -> int:
        if self is Outcome.FINISHED:
            return 0
        return (InfrastructureFault if self.ours else ParticipantFault).exit_code


Stage = Literal["pull", "start", "notes", "collect", "validate"]
"""How far a run had come: image fetched, container started, notes handed over, answers taken, answers judged."""


class RunFault(SandscoreError):
    """Ends a run: its outcome, a reason that may be shown to whoever may see the notes, and where an answer is not
    valid the code of the problem."""

    def __init__(self, outcome: Outcome, reason: str, code: str | None = None) -> None:
        super().__init__(reason)
        self.outcome, self.reason, self.code = outcome, reason, code
        self.exit_code = outcome.exit_code


Protocol = Literal["service", "batch"]
Hardening = Literal["strict", "compat"]
MIB = 1 << 20


class RunLimits(StrictRecord):
    """Everything a submission may use; handed whole to what runs it and copied whole into run.json."""

    hardening: Hardening = "strict"
    user: str | None = Field(default="20001:20001", description="uid:gid forced on the image; null under compat.")
    capabilities: tuple[str, ...] = ()
    memory_bytes: int = Field(default=2048 * MIB, ge=6 * MIB, description="Memory; swap is the same, so none.")
    cpus: float = Field(default=1.0, gt=0)
    gpus: Literal["all"] | Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Graphics processors it is handed; null is none."
    )
    processes: int = Field(default=256, ge=1)
    open_files: int = Field(default=4096, ge=16)
    tmp_bytes: int = Field(default=256 * MIB, ge=4096)
    tmp_files: int = Field(default=50_000, ge=1)
    tmp_executable: bool = Field(default=False, description="True for images whose compiler needs it.")
    shared_memory_bytes: int = Field(default=64 * MIB, ge=4096)
    image_bytes: int = Field(default=10 * 1024 * MIB, ge=1)
    pull_seconds: float = Field(default=1800.0, gt=0, description="For an image to come out of its registry.")
    log_bytes: int = Field(default=4 * MIB, ge=1, description="Standard output and error together.")
    log_kept_bytes: int = Field(default=64 << 10, ge=0)
    output_bytes: int = Field(default=32 * MIB, ge=1, description="All answers of a run, and …")
    output_bytes_per_character: int = Field(default=4, ge=0, description="… this for each character of all notes.")
    reply_bytes: int = Field(default=256 << 10, ge=1, description="One answer over HTTP, and …")
    reply_bytes_per_character: int = Field(default=64, ge=0, description="… this for each character of the note …")
    reply_bytes_most: int = Field(default=4 * MIB, ge=1, description="… up to this.")
    reply_parts: int = Field(default=1000, ge=1, description="Objects and lists in one answer, and …")
    reply_parts_per_character: float = Field(default=0.125, ge=0, description="… this for each character of the note.")
    ready_seconds: float = Field(default=120.0, gt=0)
    note_seconds: float = Field(default=10.0, gt=0, description="One note, and …")
    note_seconds_per_1000_characters: float = Field(default=0.1, ge=0, description="… this for each 1000 characters.")
    total_seconds: float = Field(default=3600.0, gt=0)

    def note_time(self, characters: int) -> float:
        return self.note_seconds + self.note_seconds_per_1000_characters * characters / 1000

    def reply_part_count(self, characters: int) -> int:
        return self.reply_parts + int(self.reply_parts_per_character * characters)

    def output_size(self, characters: int) -> int:
        return self.output_bytes + self.output_bytes_per_character * characters

    def reply_size(self, characters: int) -> int:
        return min(self.reply_bytes + self.reply_bytes_per_character * characters, self.reply_bytes_most)


class ImageFacts(StrictRecord):
    """``digest`` is what a registry calls the image; null where it never came from one."""

    reference: str
    id: str
    digest: str | None = None
    size_bytes: int
    volumes: tuple[str, ...] = ()


class EngineFacts(StrictRecord):
    """The engine that ran an image, as it says of itself; null what it does not say."""

    name: str
    version: str | None = None
    runtime: str | None = Field(default=None, description="The program that starts its containers.")
    cgroups: str | None = Field(default=None, description="The version of control groups that its limits are made of.")
    rootless: bool | None = Field(default=None, description="Whether it runs without the rights of root.")


class LimitsInForce(StrictRecord):
    """As the kernel told of the started container. A value that is not the one asked for has ended the run."""

    memory_bytes: int
    swap_bytes: int | None = Field(description="Beside the memory; null where the kernel keeps no count of it.")
    cpus: float
    processes: int
    open_files: int
    capabilities: str = Field(description="Those that its processes can ever have, as 16 hexadecimal digits.")
    no_new_privileges: bool
    system_calls_filtered: bool


class Seconds(StrictRecord):
    """Wall-clock times of the stages; null where a stage was not reached."""

    start: float | None = None
    ready: float | None = None
    notes: float | None = None
    total: float | None = None


class Latency(StrictRecord):
    """Seconds a note took, over all notes."""

    p50: float
    p90: float
    p99: float
    most: float


class LogTail(StrictRecord):
    """How much the annotator wrote, and what of it was kept in log.txt."""

    bytes: int = 0
    kept_bytes: int = 0
    masked: int = Field(default=0, description="Places where words of a note were masked.")


class Check(StrictRecord):
    """``note`` is the first note whose answers differ."""

    passed: bool
    note: str | None = None
    detail: str | None = None


class RunShard(StrictRecord):
    """One machine's share of a run: every ``of``-th note, from the ``number``-th on."""

    number: int = Field(ge=1)
    of: int = Field(ge=1)
    notes: int = Field(ge=0, description="Of all shards together.")


class RunRecord(StrictRecord):
    """run.json."""

    sandscore: str
    task: str
    protocol: Protocol
    kind: Literal["image", "url", "command", "python"]
    isolation: str = Field(description="What stood between the annotator and everything else.")
    image: ImageFacts | None = None
    tool: dict[str, Any] | None = None
    limits: RunLimits
    limits_in_force: bool | None = Field(
        default=None, description="False where nothing but times and the sizes of answers was limited."
    )
    engine: EngineFacts | None = Field(default=None, description="Null where no image was run.")
    kernel_limits: LimitsInForce | None = Field(
        default=None, description="Null where the container's processes cannot be seen from where the run was made."
    )
    concurrency: int
    notes: int
    notes_sha256: str
    shard: RunShard | None = Field(default=None, description="Null where all notes were asked.")
    shards: int | None = Field(default=None, description="Of how many shards the run was gathered.")
    started: str | None = None
    seconds: Seconds = Seconds()
    latency: Latency | None = None
    notes_per_second: float | None = None
    retried_notes: int = 0
    resumed_notes: int = Field(default=0, description="Answered by an earlier start of the same run.")
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    exit_code: int | None = None
    outcome: Outcome
    reason: str | None = None
    stage: Stage | None = Field(default=None, description="Where a run that did not finish had come to.")
    code: str | None = Field(default=None, description="Of the first problem of an answer that is not valid.")
    note: str | None = Field(default=None, description="The note whose answer is in refused.json.")
    determinism: Check | None = None
    robustness: Check | None = None
    warnings: tuple[str, ...] = ()
    log: LogTail = LogTail()
