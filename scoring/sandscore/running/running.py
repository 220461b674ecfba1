"""A run from beginning to end: engine and image made sure of, notes annotated, checks made, facts recorded."""

import datetime
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sandscore import __version__
from sandscore.records.run import Check, ImageFacts, Latency, Limits, LogTail, Outcome, RunFault, RunRecord, Seconds
from sandscore.running.attempts import attempt
from sandscore.running.checks import compared, repeated, shuffled
from sandscore.running.engine import engine, facts, require_limits
from sandscore.running.images import find_image, require_pinned
from sandscore.running.leftovers import labels, remove_leftovers
from sandscore.running.notes import Note
from sandscore.running.redaction import printable, redact
from sandscore.running.replies import RefusedAnswer
from sandscore.running.service import Progress, quiet
from sandscore.running.setting import Annotator, Facts, Setting
from sandscore.tasks import Task


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run is told."""

    task: Task
    annotator: Annotator
    notes: Sequence[Note]
    notes_sha256: str
    limits: Limits = field(default_factory=Limits)
    concurrency: int = 4
    check_determinism: bool = False
    check_robustness: bool = False
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """What came of it: ``answers`` in the order of the notes, none where the run did not finish."""

    record: RunRecord
    answers: list[bytes] | None
    log: str
    refused: bytes | None = None


def run(job: Job, progress: Progress = quiet) -> Run:
    """Annotate the notes; however that ends, it ends in a record."""
    begun = time.monotonic()
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    seen = Facts()
    answers: list[bytes] | None = None
    checks: dict[str, Check] = {}
    fault: RunFault | None = None
    setting = Setting(job.annotator, job.task, job.limits, job.concurrency, labels(secrets.token_hex(8), 0))
    try:
        with _prepared(job, setting) as setting:
            answers = _annotate(job, setting, seen, checks, progress)
    except RunFault as ended:
        fault, answers = ended, None
    log, masked = redact(printable(seen.log_tail), (note.text for note in job.notes))
    measured = {
        "started": started,
        "seconds": _seconds(seen, time.monotonic() - begun),
        "log": LogTail(bytes=seen.log_bytes, kept_bytes=len(log.encode()), masked=masked),
    }
    record = _record(job, seen, setting.image, checks, fault).model_copy(update=measured)
    return Run(record, answers, log, fault.body if isinstance(fault, RefusedAnswer) else None)


def _record(
    job: Job, seen: Facts, image: ImageFacts | None, checks: dict[str, Check], fault: RunFault | None
) -> RunRecord:
    timed = seen.notes_seconds if fault is None else None
    return RunRecord(
        sandscore=__version__,
        task=job.task.id,
        protocol=job.annotator.protocol,
        kind=job.annotator.kind,
        isolation=seen.isolation,
        image=image,
        tool=seen.tool,
        limits=job.limits,
        concurrency=job.concurrency,
        notes=len(job.notes),
        notes_sha256=job.notes_sha256,
        latency=_latency(seen.latencies),
        notes_per_second=len(job.notes) / timed if timed else None,
        retried_notes=seen.retried,
        cpu_seconds=seen.usage.cpu_seconds,
        peak_memory_bytes=seen.usage.peak_memory_bytes,
        exit_code=seen.exit_code,
        outcome=fault.outcome if fault else Outcome.FINISHED,
        reason=redact(fault.reason, (note.text for note in job.notes))[0] if fault else None,
        determinism=checks.get("determinism"),
        robustness=checks.get("robustness"),
        warnings=seen.warnings,
    )


@contextmanager
def _prepared(job: Job, setting: Setting) -> Iterator[Setting]:
    """The setting with engine and image, where the annotator is an image."""
    if job.annotator.kind != "image":
        yield setting
        return
    if job.pinned:
        require_pinned(job.annotator.reference)
    with engine() as client:
        require_limits(facts(client))
        remove_leftovers(client)
        image = find_image(client, job.annotator.reference, job.limits)
        marks = labels(secrets.token_hex(8), 3 * job.limits.total_seconds)
        yield replace(setting, client=client, image=image, marks=marks)


def _annotate(job: Job, setting: Setting, seen: Facts, checks: dict[str, Check], progress: Progress) -> list[bytes]:
    rounds = [job.notes]
    if job.check_robustness:
        rounds.append(repeated(job.notes, job.annotator.protocol))
    answered = attempt(setting, rounds, seen, progress)
    if job.check_robustness:
        checks["robustness"] = compared(job.notes, answered[0], rounds[1], answered[1])
    if job.check_determinism:
        checks["determinism"] = _determinism(job, setting, answered[0])
    return answered[0]


def _determinism(job: Job, setting: Setting, expected: list[bytes]) -> Check:
    """A fresh start, the notes in another order; a fault of the annotator's this time is a difference too."""
    asked = shuffled(job.notes)
    try:
        [got] = attempt(setting, [asked], Facts(), quiet)
    except RunFault as fault:
        if fault.outcome.ours:
            raise
        return Check(passed=False, detail=f"the second start ended otherwise: {fault.reason}")
    return compared(job.notes, expected, asked, got)


def _seconds(seen: Facts, total: float) -> Seconds:
    return Seconds(start=seen.start_seconds, ready=seen.ready_seconds, notes=seen.notes_seconds, total=total)


def _latency(latencies: Sequence[float]) -> Latency | None:
    if not latencies:
        return None
    ordered = sorted(latencies)
    at = {name: ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for name, share in _SHARES.items()}
    return Latency(**at, most=ordered[-1])


_SHARES = {"p50": 50, "p90": 90, "p99": 99}
