"""The process that runs a participant's image. It is told where the notes are; of gold it knows nothing."""

from pathlib import Path
from typing import Any

from sandscore.queueing.children.answering import Reply, answer_once
from sandscore.records.run import Limits
from sandscore.running.engine import engine
from sandscore.running.leftovers import remove_leftovers
from sandscore.running.notes import read_notes
from sandscore.running.results import write_run
from sandscore.running.running import Job, run
from sandscore.running.setting import Annotator
from sandscore.tasks import find_task


def work(job: dict[str, Any]) -> Reply:
    """Run an image over the notes, or a ``part`` of them; or (``sweep``) remove what dead runs have left."""
    if job.get("sweep"):
        with engine() as client:
            return {"end": "swept", "removed": remove_leftovers(client)}
    task = find_task(job["task"])
    notes, digest = read_notes(job["notes"])
    begin, end = job.get("part") or (0, len(notes))
    notes = notes[begin:end]
    finished = run(
        Job(
            task=task,
            annotator=Annotator("image", job["image"], job["protocol"]),
            notes=notes,
            notes_sha256=digest,
            limits=Limits.model_validate(job["limits"]),
            concurrency=job["concurrency"],
            pinned=True,
        )
    )
    write_run(Path(job["folder"]), task, notes, finished)
    return {"end": str(finished.record.outcome), "reason": finished.record.reason}


if __name__ == "__main__":
    answer_once(work)
