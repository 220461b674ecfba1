"""The process that runs a participant's image. It is told where the notes are; of gold it knows nothing."""

from pathlib import Path
from typing import Any

from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.cleanup import remove_leftovers
from sandscore.containers.docker_engine import engine
from sandscore.containers.run_context import Annotator
from sandscore.containers.run_folder import write_run
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.children.child_answers import Reply, answer_once
from sandscore.records.run_record import RunLimits
from sandscore.task_table.own_tasks import told_task


def work(job: dict[str, Any]) -> Reply:
    """Run an image over the notes, or a ``part`` of them; or (``sweep``) remove what dead runs have left."""
    if job.get("sweep"):
        with engine() as client:
            return {"end": "swept", "removed": remove_leftovers(client)}
    task = told_task(job["task"], job.get("definition"))
    notes, digest = read_notes(job["notes"])
    begin, end = job.get("part") or (0, len(notes))
    notes = notes[begin:end]
    finished = run(
        RunJob(
            task=task,
            annotator=Annotator("image", job["image"], job["protocol"]),
            notes=notes,
            notes_sha256=digest,
            limits=RunLimits.model_validate(job["limits"]),
            concurrency=job["concurrency"],
            pinned=True,
        )
    )
    write_run(Path(job["folder"]), task, notes, finished)
    return {"end": str(finished.record.outcome), "reason": finished.record.reason}


if __name__ == "__main__":
    answer_once(work)
