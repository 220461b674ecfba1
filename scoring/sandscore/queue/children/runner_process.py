"""The process that runs a participant's image. It is told where the notes are; of gold it knows nothing.

A rehearsal's folder holds everything of it: the notes, what the image answered, and all that is wrong with that.
"""

import hashlib
import tempfile
from pathlib import Path

import msgspec

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.whole_files import write_file
from sandscore.containers.annotation_run import FinishedRun, RunJob, predictions, run, write_run
from sandscore.containers.batch_protocol import notes_file
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.failure_cures import cure_of
from sandscore.containers.practice_notes import REHEARSAL_SECONDS, rehearsal_notes
from sandscore.containers.registries.image_pull import PullRules
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.queue.attempt_files import EARLY_LOG, NOTES, PROBLEMS
from sandscore.queue.children.child_answers import answer_once
from sandscore.queue.children.child_messages import (
    RUNNER_REQUESTS,
    RunAnswer,
    RunnerAnswer,
    RunnerRequest,
    SubmissionRunRequest,
    SweepAnswer,
    SweepRequest,
)
from sandscore.task_table.task import Task, find_task

_LISTED = 1000


def work(job: RunnerRequest) -> RunnerAnswer:
    """Run an image, or remove what dead runs have left."""
    if isinstance(job, SweepRequest):
        with connected(job.engine) as engine:
            return SweepAnswer(engine.remove_leftovers())
    task = job.own_task or find_task(job.task)
    notes, digest = read_notes(job.notes)
    if job.practice is None:
        begin, end = job.part or (0, len(notes))
        return _run(job, task, notes[begin:end], digest)
    return _rehearse(job, task, rehearsal_notes(read_notes(job.practice)[0], notes))


def _run(job: SubmissionRunRequest, task: Task, notes: list[SentNote], digest: str) -> RunAnswer:
    finished = _finished(job, task, notes, digest)
    write_run(Path(job.folder), task, notes, finished, {EARLY_LOG: finished.early.encode()})
    return _answer(finished, masked=job.masked)


def _rehearse(job: SubmissionRunRequest, task: Task, notes: list[SentNote]) -> RunAnswer:
    written = notes_file(notes)
    total = min(job.limits.total_seconds, REHEARSAL_SECONDS)
    limited = msgspec.structs.replace(job, limits=job.limits.model_copy(update={"total_seconds": total}), masked=False)
    finished = _finished(limited, task, notes, hashlib.sha256(written).hexdigest())
    found = _problems(task, notes, finished)
    told = {
        "problems": found.problems[:_LISTED],
        "counts": dict(sorted(found.counts.items())),
        "diagnosis": found.diagnosis,
    }
    write_run(Path(job.folder), task, notes, finished, {NOTES: written, PROBLEMS: msgspec.json.encode(told)})
    return _answer(finished, masked=False)


def _finished(job: SubmissionRunRequest, task: Task, notes: list[SentNote], digest: str) -> FinishedRun:
    return run(
        RunJob(
            task=task,
            annotator=Annotator("image", job.image, job.protocol),
            notes=notes,
            notes_sha256=digest,
            limits=job.limits,
            concurrency=job.concurrency,
            pinned=True,
            pull=PullRules(job.registries, job.registry_failed),
            masked=job.masked,
            engine=job.engine,
        )
    )


def _problems(task: Task, notes: list[SentNote], finished: FinishedRun) -> ProblemCollector:
    """All that is wrong with the answers, or with the one that ended the run."""
    if finished.answers is not None:
        answers = b"".join(predictions(task, notes, finished.answers))
    elif finished.refused is not None and finished.refused_note is not None and finished.record.code is not None:
        answers, notes = finished.refused, [finished.refused_note]
    else:
        return ProblemCollector("")
    with tempfile.TemporaryDirectory(prefix="sandscore-rehearsal-") as scratch:
        given, about = Path(scratch) / "predictions.json", Path(scratch) / "notes.json"
        write_file(given, answers)
        write_file(about, notes_file(notes))
        inputs = Inputs(predictions=given, notes=about)
        return load_files(task, inputs, want_tokens=False, want_hashes=False).findings["predictions"]


def _answer(finished: FinishedRun, *, masked: bool) -> RunAnswer:
    """With the cure, which is made of the log, where whoever gets the log may see the notes."""
    record = finished.record
    cure = None if masked else cure_of(record, finished.log, finished.refused)
    reason = f"{record.reason}; {cure}" if cure else record.reason
    return RunAnswer(record.outcome, reason, record.stage, record.code)


if __name__ == "__main__":
    answer_once(work, RUNNER_REQUESTS)
