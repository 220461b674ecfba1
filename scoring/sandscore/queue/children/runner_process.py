"""The process that runs a participant's image. It is told where the notes are; of gold it knows nothing."""

from pathlib import Path

from sandscore.containers.annotation_run import RunJob, run, write_run
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.registries.image_pull import PullRules
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.children.child_answers import answer_once
from sandscore.queue.children.child_messages import (
    RUNNER_REQUESTS,
    RunAnswer,
    RunnerAnswer,
    RunnerRequest,
    SweepAnswer,
    SweepRequest,
)
from sandscore.task_table.task import find_task


def work(job: RunnerRequest) -> RunnerAnswer:
    """Run an image, or remove what dead runs have left."""
    if isinstance(job, SweepRequest):
        with connected() as engine:
            return SweepAnswer(engine.remove_leftovers())
    task = job.own_task or find_task(job.task)
    notes, digest = read_notes(job.notes)
    begin, end = job.part or (0, len(notes))
    notes = notes[begin:end]
    finished = run(
        RunJob(
            task=task,
            annotator=Annotator("image", job.image, job.protocol),
            notes=notes,
            notes_sha256=digest,
            limits=job.limits,
            concurrency=job.concurrency,
            pinned=True,
            pull=PullRules(job.registries, job.registry_failed),
        )
    )
    write_run(Path(job.folder), task, notes, finished)
    return RunAnswer(finished.record.outcome, finished.record.reason)


if __name__ == "__main__":
    answer_once(work, RUNNER_REQUESTS)
