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
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore import __version__
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import plain_lines
from sandscore.base.whole_files import remove_parts, told, write_file
from sandscore.containers.annotator_starts import Progress, attempt
from sandscore.containers.answers import Answers, RefusedAnswer
from sandscore.containers.engines.engine_protocol import Engine, labels
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.images.image_archive import PREFIX, find_archived
from sandscore.containers.kept_answers import PARTIAL, KeptAnswers, RunIdentity, RunPace, entry
from sandscore.containers.note_redaction import redact
from sandscore.containers.registries.image_pull import PullRules, find_listed
from sandscore.containers.run_context import Annotator, Facts, Round, Setting
from sandscore.containers.sent_notes import SentNote
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
    RunShard,
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
    """The name of a row of the table of engines; None for the usual one, or the only one that is ready."""
    shard: RunShard | None = None
    """Of which the notes are, where other machines have the others."""
    others: tuple[Task, ...] = ()
    """More tasks that the same start is asked, each note on each one's path."""
    folder: Path | None = None
    """Where answers are kept as they come; None keeps none before the end."""
    resume: bool = False
    """Go on with what an earlier run kept there."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        return (self.task, *self.others)


def task_folder(folder: Path, task: Task, tasks: Sequence[Task]) -> Path:
    """The folder of one task's results: the run's own, or one in it where there are several tasks."""
    return folder if len(tasks) == 1 else folder / task.id


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
    others: "tuple[FinishedRun, ...]" = ()
    """The same of each other task of the job, in their order."""


def quiet(_pace: RunPace) -> None:
    """Progress nobody looks at."""


_Checks = dict[tuple[str, str], Check]
"""By task and by what was checked."""


def run(job: RunJob, progress: Progress = quiet) -> FinishedRun:
    """Annotate the notes; however that ends, it ends in a record."""
    begun = time.monotonic()
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    seen = Facts()
    answers: list[list[bytes]] | None = None
    checks: _Checks = {}
    fault: RunFault | None = None
    setting = Setting(job.annotator, job.limits, job.concurrency, labels(secrets.token_hex(8), 0))
    try:
        with _prepared(job, setting, seen) as setting:
            answers = _annotate(job, setting, seen, checks, progress)
    except RunFault as ended:
        fault, answers = ended, None
    log, masked = redact(plain_lines(seen.log_tail), (note.text for note in job.notes) if job.masked else ())
    measured = {
        "started": started,
        "log": LogTail(bytes=seen.log_bytes, kept_bytes=len(log.encode()), masked=masked),
    }
    total, early, done = time.monotonic() - begun, plain_lines(seen.log_early), []
    for place, task in enumerate(job.tasks):
        timed = {"seconds": _seconds(seen, task, total)}
        record = _record(job, task, seen, setting.image, checks, fault).model_copy(update=measured | timed)
        one = FinishedRun(record, None if answers is None else answers[place], log, early=early)
        if isinstance(fault, RefusedAnswer) and seen.asking in (None, task.id):
            about = {"note": fault.note.name} if fault.note is not None else {}
            record = record.model_copy(update=about)
            one = replace(one, record=record, refused=fault.body, refused_note=fault.note)
        done.append(one)
    return replace(done[0], others=tuple(done[1:]))


def _record(
    job: RunJob, task: Task, seen: Facts, image: ImageFacts | None, checks: _Checks, fault: RunFault | None
) -> RunRecord:
    timing = seen.timings.get(task.id) if fault is None else None
    asked = len(timing.latencies) if timing and timing.latencies else len(job.notes)
    return RunRecord(
        sandscore=__version__,
        task=task.id,
        protocol=job.annotator.protocol,
        kind=job.annotator.kind,
        isolation=seen.isolation,
        image=image,
        tool=seen.tool,
        limits=job.limits,
        limits_in_force=job.annotator.kind == "image",
        engine=seen.engine,
        kernel_limits=seen.kernel_limits,
        concurrency=job.concurrency,
        notes=len(job.notes),
        notes_sha256=job.notes_sha256,
        shard=job.shard,
        latency=latency_of(timing.latencies) if timing else None,
        notes_per_second=asked / timing.seconds if timing and timing.seconds else None,
        retried_notes=seen.retried,
        resumed_notes=seen.resumed.get(task.id, 0),
        cpu_seconds=seen.usage.cpu_seconds,
        peak_memory_bytes=seen.usage.peak_memory_bytes,
        exit_code=seen.exit_code,
        outcome=fault.outcome if fault else Outcome.FINISHED,
        reason=_reason(job, seen, fault) if fault else None,
        stage=_stage(seen, fault) if fault else None,
        code=fault.code if fault else None,
        determinism=checks.get((task.id, "determinism")),
        robustness=checks.get((task.id, "robustness")),
        warnings=seen.warnings,
    )


def _reason(job: RunJob, seen: Facts, fault: RunFault) -> str:
    """Of a run that ran out of time also how far it had come, and how long all of it would take."""
    told = f"{seen.asking}: {fault.reason}" if job.others and seen.asking else fault.reason
    if fault.outcome is Outcome.TIMED_OUT and seen.answered > seen.before:
        told = f"{told}: {seen.pace}"
    return redact(told, (note.text for note in job.notes) if job.masked else ())[0]


def _stage(seen: Facts, fault: RunFault) -> Stage:
    """A service's answers are judged while others are still asked for."""
    return "validate" if seen.stage == "notes" and fault.code is not None else seen.stage


@contextmanager
def _prepared(job: RunJob, setting: Setting, seen: Facts) -> Iterator[Setting]:
    """The setting with engine and image, where the annotator is an image."""
    if job.annotator.kind != "image":
        yield setting
        return
    if job.pinned:
        require_pinned(job.annotator.reference)
    with connected(job.engine) as engine:
        seen.engine = engine.facts()
        engine.require_limits()
        engine.remove_leftovers()
        image = _image(engine, job)
        marks = labels(secrets.token_hex(8), 3 * job.limits.total_seconds)
        yield replace(setting, reached=engine, image=image, marks=marks)


def _image(engine: Engine, job: RunJob) -> ImageFacts:
    reference = job.annotator.reference
    if job.pull is None and reference.startswith(PREFIX):
        return find_archived(engine, Path(reference.removeprefix(PREFIX)), job.limits)
    if job.pull is None:
        return engine.find_image(reference, job.limits)
    return find_listed(engine, reference, job.limits, job.pull)


def _annotate(job: RunJob, setting: Setting, seen: Facts, checks: _Checks, progress: Progress) -> list[list[bytes]]:
    """The answers of each task, in the order of the notes."""
    tasks = job.tasks
    seen.wanted = len(job.notes) * len(tasks)
    with ExitStack() as stack:
        rounds = [_first_round(job, task, setting, seen, stack) for task in tasks]
        if job.check_robustness:
            rounds += [Round(task, repeated(job.notes, job.annotator.protocol)) for task in tasks]
        answered = attempt(setting, rounds, seen, progress)
    if job.check_robustness:
        for first, again, one in zip(answered, answered[len(tasks) :], rounds[len(tasks) :], strict=False):
            checks[one.task.id, "robustness"] = compared(job.notes, first, one.notes, again)
    if job.check_determinism:
        for task, check in zip(tasks, _determinism(job, setting, answered), strict=True):
            checks[task.id, "determinism"] = check
    return answered[: len(tasks)]


def _first_round(job: RunJob, task: Task, setting: Setting, seen: Facts, stack: ExitStack) -> Round:
    """All notes, once; answers are kept as they come, and those an earlier start kept are not asked for again."""
    if job.folder is None or job.annotator.protocol == "batch":
        return Round(task, job.notes, counted=True)
    annotator = (setting.image.digest or setting.image.id) if setting.image else job.annotator.reference
    shard = "" if job.shard is None else f"{job.shard.number}/{job.shard.of}"
    identity = RunIdentity(task.id, job.annotator.kind, annotator, job.notes_sha256, len(job.notes), shard)
    kept = KeptAnswers(task_folder(job.folder, task, job.tasks) / PARTIAL, identity)
    stack.callback(kept.close)
    before = kept.resume(job.notes, Answers(task, job.limits)) if job.resume else {}
    seen.resumed[task.id] = len(before)
    seen.answered = seen.before = seen.before + len(before)
    return Round(task, job.notes, counted=True, kept=kept, before=before)


def _determinism(job: RunJob, setting: Setting, expected: Sequence[list[bytes]]) -> list[Check]:
    """A fresh start, the notes in another order; a fault of the annotator's this time is a difference too."""
    asked = shuffled(job.notes)
    try:
        answered = attempt(setting, [Round(task, asked) for task in job.tasks], Facts(), quiet)
    except RunFault as fault:
        if fault.outcome.ours:
            raise
        failed = Check(passed=False, detail=f"the second start ended otherwise: {fault.reason}")
        return [failed for _ in job.tasks]
    return [compared(job.notes, first, asked, got) for first, got in zip(expected, answered, strict=False)]


def _seconds(seen: Facts, task: Task, total: float) -> Seconds:
    timing = seen.timings.get(task.id)
    return Seconds(
        start=seen.start_seconds, ready=seen.ready_seconds, notes=timing.seconds if timing else None, total=total
    )


def latency_of(latencies: Sequence[float]) -> Latency | None:
    """The seconds that shares of the notes took at most."""
    if not latencies:
        return None
    ordered = sorted(latencies)
    at = {name: ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for name, share in _SHARES.items()}
    return Latency(**at, most=ordered[-1])


_SHARES = {"p50": 50, "p90": 90, "p99": 99}


PREDICTIONS, RECORD, LOG, REFUSED = "predictions.json", "run.json", "log.txt", "refused.json"


def clear(folder: Path, *, resume: bool = False) -> None:
    """Make the folder ready for a run: it can be written to, and what an older run left there is gone.

    To ``resume`` one, what that has kept of its answers stays.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (RECORD, PREDICTIONS, REFUSED, LOG, *(() if resume else (PARTIAL,))):
            (folder / name).unlink(missing_ok=True)
            remove_parts(folder / name)


def write_run(
    folder: Path, task: Task, notes: Sequence[SentNote], run: FinishedRun, beside: Mapping[str, bytes] | None = None
) -> None:
    """Write what came of a run, and files ``beside`` it; run.json last, so that where it is everything is.

    What was kept of the answers stays until a run finishes, or has to be another: its annotator answered wrongly.
    """
    clear(folder, resume=True)
    with writing(folder):
        for name, content in (beside or {}).items():
            write_file(folder / name, content, sync=True)
        write_file(folder / LOG, run.log.encode(), sync=True)
        if run.answers is not None:
            write_file(folder / PREDICTIONS, predictions(task, notes, run.answers), sync=True)
        if run.refused is not None:
            write_file(folder / REFUSED, run.refused, sync=True)
        write_file(folder / RECORD, (run.record.model_dump_json(indent=2) + "\n").encode(), sync=True)
        if run.record.outcome in (Outcome.FINISHED, Outcome.INVALID_OUTPUT):
            (folder / PARTIAL).unlink(missing_ok=True)


def writing(folder: Path) -> AbstractContextManager[None]:
    return told(folder, "{where}: cannot be written ({why})", fault=UsageFault)


def predictions(task: Task, notes: Sequence[SentNote], answers: Sequence[bytes]) -> Iterator[bytes]:
    """The many-note form, one note a line, in the order of the notes; piece by piece."""
    for place, (note, answer) in enumerate(zip(notes, answers, strict=True)):
        yield b",\n" if place else b"[\n"
        yield entry(note, task, answer)
    yield b"\n]\n"
