"""A run from beginning to end: engine and image made sure of, notes annotated, checks made, facts recorded.

Does an annotator always say the same? Once from a fresh start in another order, once asked again and again.

The folder of a run: predictions, facts and log, each whole or not there.
"""

import datetime
import json
import random
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore import __version__
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import plain_lines
from sandscore.base.whole_files import remove_parts, told, write_file
from sandscore.containers.annotator_starts import attempt
from sandscore.containers.answers import RefusedAnswer
from sandscore.containers.engines.engine_protocol import Engine, labels
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.note_redaction import redact
from sandscore.containers.registries.image_pull import PullRules, find_listed
from sandscore.containers.run_context import Annotator, Facts, Setting
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.service_protocol import Progress, quiet
from sandscore.records.run_record import (
    Check,
    ImageFacts,
    Latency,
    LogTail,
    Outcome,
    Protocol,
    RunFault,
    RunLimits,
    RunRecord,
    Seconds,
    Stage,
)
from sandscore.task_table.task import Task

SHUFFLE_SEED = 1
_PINNED = re.compile(r"(?:.+@)?sha256:[0-9a-f]{64}")


def require_pinned(reference: str) -> None:
    """Scored runs take an image by digest (or by id where there is no registry), never by a tag that may move."""
    if not _PINNED.fullmatch(reference):
        raise UsageFault(f"'{reference}' may change behind our back; name the image as repository@sha256:…")


def shuffled(notes: Sequence[SentNote]) -> list[SentNote]:
    """The notes in another, always the same, order."""
    order = list(notes)
    random.Random(SHUFFLE_SEED).shuffle(order)  # noqa: S311 (an order, not a secret)
    return order


def repeated(notes: Sequence[SentNote], protocol: Protocol) -> list[SentNote]:
    """The last note first, and each twice where one start can be asked twice: what came before must not matter."""
    times = (1, 2) if protocol == "service" else (1,)
    return [note for note in reversed(notes) for _ in times]


def compared(
    notes: Sequence[SentNote], expected: Sequence[bytes], asked: Sequence[SentNote], got: Sequence[bytes]
) -> Check:
    """Whether each note was answered as before, whatever the order of its annotations; the first that was not."""
    before = {note.name: _sorted(answer) for note, answer in zip(notes, expected, strict=True)}
    different = {n.name for n, answer in zip(asked, got, strict=True) if _sorted(answer) != before[n.name]}
    first = next((note.name for note in notes if note.name in different), None)
    if first is None:
        return Check(passed=True)
    return Check(passed=False, note=first, detail=f"{len(different)} of {len(notes)} notes were answered differently")


def _sorted(answer: bytes) -> list[str]:
    return sorted(json.dumps(annotation, sort_keys=True) for annotation in json.loads(answer))


class RunJob(Struct, frozen=True):
    """All that a run is told."""

    task: Task
    annotator: Annotator
    notes: Sequence[SentNote]
    notes_sha256: str
    limits: RunLimits = field(default_factory=RunLimits)
    concurrency: int = 4
    check_determinism: bool = False
    check_robustness: bool = False
    pinned: bool = False
    pull: PullRules | None = None
    """Whose images may be had from where; None leaves it to the engine, as at home."""
    masked: bool = True
    """What the log shares with the notes is masked; not where the notes may be seen by whoever gets the log."""
    engine: str | None = None
    """The name of a row of the table of engines; None for the usual one."""


class FinishedRun(Struct, frozen=True):
    """What came of it: ``answers`` in the order of the notes, none where the run did not finish."""

    record: RunRecord
    answers: list[bytes] | None
    log: str
    refused: bytes | None = None
    refused_note: SentNote | None = None
    """The note that the refused answer is about."""
    early: str = ""
    """Of the log, what had come before the annotator was handed a note."""


def run(job: RunJob, progress: Progress = quiet) -> FinishedRun:
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
    log, masked = redact(plain_lines(seen.log_tail), (note.text for note in job.notes) if job.masked else ())
    measured = {
        "started": started,
        "seconds": _seconds(seen, time.monotonic() - begun),
        "log": LogTail(bytes=seen.log_bytes, kept_bytes=len(log.encode()), masked=masked),
    }
    record = _record(job, seen, setting.image, checks, fault).model_copy(update=measured)
    early = plain_lines(seen.log_early)
    if isinstance(fault, RefusedAnswer):
        if fault.note is not None:
            record = record.model_copy(update={"note": fault.note.name})
        return FinishedRun(record, answers, log, fault.body, fault.note, early)
    return FinishedRun(record, answers, log, early=early)


def _record(
    job: RunJob, seen: Facts, image: ImageFacts | None, checks: dict[str, Check], fault: RunFault | None
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
        limits_in_force=job.annotator.kind == "image",
        concurrency=job.concurrency,
        notes=len(job.notes),
        notes_sha256=job.notes_sha256,
        latency=latency_of(seen.latencies),
        notes_per_second=len(job.notes) / timed if timed else None,
        retried_notes=seen.retried,
        cpu_seconds=seen.usage.cpu_seconds,
        peak_memory_bytes=seen.usage.peak_memory_bytes,
        exit_code=seen.exit_code,
        outcome=fault.outcome if fault else Outcome.FINISHED,
        reason=redact(fault.reason, (note.text for note in job.notes) if job.masked else ())[0] if fault else None,
        stage=_stage(seen, fault) if fault else None,
        code=fault.code if fault else None,
        determinism=checks.get("determinism"),
        robustness=checks.get("robustness"),
        warnings=seen.warnings,
    )


def _stage(seen: Facts, fault: RunFault) -> Stage:
    """A service's answers are judged while others are still asked for."""
    return "validate" if seen.stage == "notes" and fault.code is not None else seen.stage


@contextmanager
def _prepared(job: RunJob, setting: Setting) -> Iterator[Setting]:
    """The setting with engine and image, where the annotator is an image."""
    if job.annotator.kind != "image":
        yield setting
        return
    if job.pinned:
        require_pinned(job.annotator.reference)
    with connected(job.engine) as engine:
        engine.require_limits()
        engine.remove_leftovers()
        image = _image(engine, job)
        marks = labels(secrets.token_hex(8), 3 * job.limits.total_seconds)
        yield replace(setting, reached=engine, image=image, marks=marks)


def _image(engine: Engine, job: RunJob) -> ImageFacts:
    if job.pull is None:
        return engine.find_image(job.annotator.reference, job.limits)
    return find_listed(engine, job.annotator.reference, job.limits, job.pull)


def _annotate(job: RunJob, setting: Setting, seen: Facts, checks: dict[str, Check], progress: Progress) -> list[bytes]:
    rounds = [job.notes]
    if job.check_robustness:
        rounds.append(repeated(job.notes, job.annotator.protocol))
    answered = attempt(setting, rounds, seen, progress)
    if job.check_robustness:
        checks["robustness"] = compared(job.notes, answered[0], rounds[1], answered[1])
    if job.check_determinism:
        checks["determinism"] = _determinism(job, setting, answered[0])
    return answered[0]


def _determinism(job: RunJob, setting: Setting, expected: list[bytes]) -> Check:
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


def latency_of(latencies: Sequence[float]) -> Latency | None:
    """The seconds that shares of the notes took at most."""
    if not latencies:
        return None
    ordered = sorted(latencies)
    at = {name: ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for name, share in _SHARES.items()}
    return Latency(**at, most=ordered[-1])


_SHARES = {"p50": 50, "p90": 90, "p99": 99}


PREDICTIONS, RECORD, LOG, REFUSED = "predictions.json", "run.json", "log.txt", "refused.json"


def clear(folder: Path) -> None:
    """Make the folder ready for a run: it can be written to, and what an older run left there is gone."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (RECORD, PREDICTIONS, REFUSED, LOG):
            (folder / name).unlink(missing_ok=True)
            remove_parts(folder / name)


def write_run(
    folder: Path, task: Task, notes: Sequence[SentNote], run: FinishedRun, beside: Mapping[str, bytes] | None = None
) -> None:
    """Write what came of a run, and files ``beside`` it; run.json last, so that where it is everything is."""
    clear(folder)
    with _writing(folder):
        for name, content in (beside or {}).items():
            write_file(folder / name, content, sync=True)
        write_file(folder / LOG, run.log.encode(), sync=True)
        if run.answers is not None:
            write_file(folder / PREDICTIONS, predictions(task, notes, run.answers), sync=True)
        if run.refused is not None:
            write_file(folder / REFUSED, run.refused, sync=True)
        write_file(folder / RECORD, (run.record.model_dump_json(indent=2) + "\n").encode(), sync=True)


def _writing(folder: Path) -> AbstractContextManager[None]:
    return told(folder, "{where}: cannot be written ({why})", fault=UsageFault)


def predictions(task: Task, notes: Sequence[SentNote], answers: Sequence[bytes]) -> Iterator[bytes]:
    """The many-note form, one note a line, in the order of the notes; piece by piece."""
    for place, (note, answer) in enumerate(zip(notes, answers, strict=True)):
        name = json.dumps(note.name, ensure_ascii=False).encode()
        yield b",\n" if place else b"[\n"
        yield b'{"annotationSource":{"resourceSource":{"name":%s}},"%s":' % (name, task.array.encode())
        yield answer
        yield b"}"
    yield b"\n]\n"
