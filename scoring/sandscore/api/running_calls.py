"""Running as a call: an annotator over notes, its predictions and the record of its run."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from sandscore import api
from sandscore.api.given_inputs import given
from sandscore.api.output_files import write
from sandscore.api.results import ShownValue
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.containers.annotation_run import (
    LOG,
    PREDICTIONS,
    RECORD,
    RunJob,
    clear,
    predictions,
    quiet,
    task_folder,
    write_run,
)
from sandscore.containers.annotation_run import run as run_job
from sandscore.containers.annotator_starts import Progress
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.containers.failure_cures import cure_of, last_lines
from sandscore.containers.kept_answers import PARTIAL
from sandscore.containers.python_annotator import run_in_python
from sandscore.containers.run_context import Annotator, Kind, preset
from sandscore.containers.run_shards import gather as gather_shards
from sandscore.containers.run_shards import notes_of, shard_of
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.records.run_record import Hardening, Outcome, Protocol, RunLimits, RunRecord
from sandscore.task_table.task import Task, find_task

if TYPE_CHECKING:
    from sandscore.records.challenge import Challenge, Limits

_CONCURRENCY = 4
Following = Callable[[int], AbstractContextManager[Progress]]
"""Told how many answers there will be; its value is told how many there are."""


class RunPlan(Struct, frozen=True, kw_only=True):
    """What is run over which notes, how it is spoken to, and what it may use."""

    task: str | Task
    kind: Kind
    reference: str
    notes: str | Path
    protocol: Protocol | None = None
    """This and what follows it, as far as it is None: what the challenge says, else the harness's own."""
    hardening: Hardening | None = None
    concurrency: int | None = None
    time_limit: float | None = None
    ready_time: float | None = None
    note_time: float | None = None
    memory: int | None = None
    image_size: int | None = None
    gpus: int | Literal["all"] | None = None
    challenge: str | Path | None = None
    """A challenge.toml, whose limits are taken."""
    check_determinism: bool = False
    check_robustness: bool = False
    engine: str | None = None
    """Of the table of engines; None for what the challenge says, else the usual one or the only one that is ready."""
    others: tuple[Task, ...] = ()
    """More tasks for the same start: each note goes to each one's path."""
    shard: str | None = None
    """3/10 for the third of ten shards: every tenth note. ``gather`` makes one run of all of them."""
    resume: bool = False
    """Go on with the answers that an earlier run kept in its folder."""


class RunFiles(Struct, frozen=True):
    """A run that is over: its record, and where it and the predictions lie."""

    record: RunRecord
    folder: Path
    others: "tuple[RunFiles, ...]" = ()
    """The same of each other task."""
    cure: str | None = None
    """What would help, where the reason is one that we know."""
    log_end: tuple[str, ...] = ()
    """The last lines of a log, where a run did not finish."""

    @property
    def predictions(self) -> Path:
        return self.folder / PREDICTIONS

    @property
    def log(self) -> Path:
        return self.folder / LOG

    @property
    def resumable(self) -> bool:
        """Whether answers were kept that ``resume`` goes on with."""
        return (self.folder / PARTIAL).exists()

    @property
    def record_file(self) -> Path:
        return self.folder / RECORD

    @property
    def image(self) -> str | None:
        """What a registry calls the image, else its id."""
        image = self.record.image
        return (image.digest or image.id) if image else None

    @property
    def exit_code(self) -> int:
        """A check that was asked for and failed is the participant's fault, as an invalid answer is."""
        checks = [check for check in (self.record.determinism, self.record.robustness) if check is not None]
        return self.record.outcome.exit_code or (0 if all(check.passed for check in checks) else 65)


class Run(ShownValue):
    """A run that is over: what the annotator answered (None where it did not get that far), and its record.

    >>> done = ss.run("date", annotate=lambda note: [], notes=notes)
    >>> done.record.outcome.value, done.record.notes
    ('finished', 72)
    """

    shown_by = "value_views.views_of_values:run_view"

    def __init__(self, predictions: bytes | None, record: RunRecord) -> None:
        self.predictions, self.record = predictions, record

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values."""
        return self.record.model_dump(mode="json")

    def save(self, path: str | Path) -> None:
        """Write the predictions."""
        if self.predictions is None:
            raise UsageFault(f"the run has no predictions to write: it ended as {self.record.outcome.value}")
        write(path, [self.predictions])


def unfollowed(_notes: int) -> AbstractContextManager[Progress]:
    """Nobody looks."""
    return nullcontext(quiet)


def run(
    task: str | Task,
    *,
    image: str | None = None,
    command: str | None = None,
    url: str | None = None,
    annotate: Callable[[Mapping[str, str]], Any] | None = None,
    notes: Any,
    limits: RunLimits | None = None,
    engine: str | None = None,
) -> Run:
    """An annotator over notes: its predictions, and the record of how the run went.

    Name one of an ``image``, which is isolated and limited; a local ``command`` that serves on the port in $PORT; the
    ``url`` of a server; or a function that is given a note (a dict with ``identifier`` and ``text``) and returns its
    spans. Only images are isolated. However a run of the first three ends, it ends in a record.

    >>> def years(note):
    ...     import re
    ...     return [{"start": found.start(), "end": found.end()} for found in re.finditer("[0-9]{4}", note["text"])]
    >>> done = ss.run("date", annotate=years, notes=notes)
    >>> str(done.record.outcome)
    'finished'
    """
    if engine is not None:
        ENGINES.find(engine)
    kinds: tuple[tuple[Kind, str | None], ...] = ("image", image), ("url", url), ("command", command)
    named = [(kind, reference) for kind, reference in kinds if reference is not None]
    if len(named) + (annotate is not None) != 1:
        raise UsageFault("name what to run: exactly one of image, command, url and annotate")
    row, (sent, digest) = find_task(task), read_notes(given(notes, "notes", find_task(task)))
    limits = limits or preset("strict")
    if annotate is not None:
        done = run_in_python(row, sent, digest, _in_our_form(row, annotate), limits)
    else:
        done = run_job(RunJob(row, Annotator(*named[0]), sent, digest, limits, engine=engine))
    answered = b"".join(predictions(row, sent, done.answers)) if done.answers is not None else None
    return Run(answered, done.record)


def _in_our_form(
    task: Task, annotate: Callable[[Mapping[str, str]], Any]
) -> Callable[[SentNote], list[dict[str, Any]]]:
    with REMOVABLE:
        from sandscore.memory_inputs.span_reading import SpanReader

    reader = SpanReader.of(task, "predictions")

    def annotations(note: SentNote) -> list[dict[str, Any]]:
        return reader.annotations(annotate(note.record()), note.name, note.text, texts=True)

    return annotations


def run_to_folder(request: RunPlan, folder: Path, following: Following = unfollowed) -> RunFiles:
    """Does the run and writes its folder: predictions, record and log, of each task where there are several."""
    task, challenge = find_task(request.task), _challenge(request)
    configured = challenge.limits if challenge else None
    limits, protocol = _limits(request, configured), request.protocol or _protocol(configured)
    if request.kind != "image" and protocol == "batch":
        raise UsageFault("--protocol batch needs --image, and so does a challenge of batch programs")
    if protocol == "batch" and (request.resume or request.others):
        raise UsageFault("a batch program is run for one task, and answers all notes at once or none")
    notes, digest = read_notes(request.notes)
    shard = None if request.shard is None else shard_of(request.shard, len(notes))
    notes = notes if shard is None else notes_of(notes, shard)
    job = RunJob(
        task=task,
        annotator=Annotator(request.kind, request.reference, protocol),
        notes=notes,
        notes_sha256=digest,
        limits=limits,
        concurrency=request.concurrency or (configured and configured.concurrency) or _CONCURRENCY,
        check_determinism=request.check_determinism,
        check_robustness=request.check_robustness,
        engine=request.engine or (challenge.images.engine if challenge else None),
        others=request.others,
        folder=folder,
        resume=request.resume,
        shard=shard,
    )
    places = [task_folder(folder, one, job.tasks) for one in job.tasks]
    for place in places:
        if request.resume and (place / RECORD).exists() and (place / PREDICTIONS).exists():
            raise UsageFault(f"{place}: the run is finished, and there is nothing to resume")
    for place in places:
        clear(place, resume=request.resume)
    with following(len(notes) * len(job.tasks)) as step:
        finished = run_job(job, step)
    done = []
    for one, place, came in zip(job.tasks, places, (finished, *finished.others), strict=True):
        write_run(place, one, notes, came)
        failed = came.record.outcome is not Outcome.FINISHED
        end = tuple(last_lines(came.log)) if failed else ()
        done.append(RunFiles(came.record, place, cure=cure_of(came.record, came.log, came.refused), log_end=end))
    return replace(done[0], others=tuple(done[1:]))


def gather(folders: Sequence[str | Path], output: str | Path) -> RunFiles:
    """One run of the runs of all its shards, in the folder ``output``: the bytes that a run of all notes has.

    Of several tasks each has a folder in it, and all but the first are ``others``.
    """
    made = [RunFiles(record, place) for place, record in gather_shards([*map(Path, folders)], Path(output)).items()]
    return replace(made[0], others=tuple(made[1:]))


def _challenge(request: RunPlan) -> "Challenge | None":
    if request.challenge is None:
        return None
    return api.read_challenge(Path(request.challenge))


def _protocol(configured: "Limits | None") -> Protocol:
    if configured is None:
        return "service"
    from sandscore.queue.challenge_limits import protocol_of

    return protocol_of(configured)


def _limits(request: RunPlan, configured: "Limits | None") -> RunLimits:
    """The challenge's limits or the harness's own, and what was asked for otherwise."""
    if request.gpus is not None and request.kind != "image":
        raise UsageFault("only an image is handed graphics processors; what runs without one takes what it finds")
    changed: dict[str, object] = {
        "total_seconds": request.time_limit,
        "ready_seconds": request.ready_time,
        "note_seconds": request.note_time,
        "memory_bytes": request.memory,
        "image_bytes": request.image_size,
        "gpus": request.gpus,
    }
    given = {key: value for key, value in changed.items() if value is not None}
    if configured is None:
        return changed_limits(preset(request.hardening or "strict"), given)
    from sandscore.queue.challenge_limits import limits_of

    base = limits_of(configured)
    if request.hardening is not None:
        chosen = preset(request.hardening)
        given |= {"hardening": chosen.hardening, "user": chosen.user, "capabilities": chosen.capabilities}
    return changed_limits(base, given)


def changed_limits(base: RunLimits, given: Mapping[str, object]) -> RunLimits:
    """Limits with what was asked for otherwise."""
    try:
        return RunLimits(**base.model_dump() | dict(given))
    except ValueError:
        raise UsageFault("the memory must be at least 6m") from None
