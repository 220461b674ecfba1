"""Annotations that differ between the gold a submission was scored with and the gold of today, and who had them.

Done in the process that sees gold; what comes out names notes, places and labels, but no text.
"""

from collections import Counter
from pathlib import Path

from sandscore.annotations.columns import Columns
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.queue.attempt_files import PREDICTIONS
from sandscore.queue.children.child_messages import GoldAnswer, GoldChange, GoldRequest
from sandscore.queue.workspace import Workspace
from sandscore.task_table.task import Task

Place = tuple[str, int, int, str | None]
"""Note, start, length, label."""


def changes(workspace: Workspace, job: GoldRequest) -> GoldAnswer:
    """What changed in gold since ``before`` (12 hex), and which of it each of the folders' predictions holds."""
    task, phase = workspace.task(job.task), job.phase
    old = workspace.gold_seen / f"{task.id}.{job.before}.json"
    if not old.exists():
        return GoldAnswer(None)
    notes, gold = workspace.notes(phase), workspace.gold(task.id, phase)
    then, now = (_places(task, path, notes) for path in (old, gold))
    found = [("removed", place) for place in (then - now).elements()]
    found += [("added", place) for place in (now - then).elements()]
    found.sort(key=lambda one: (one[1][:3], one[0], one[1][3] or ""))
    records = tuple(GoldChange(change, *place) for change, place in found)
    holders = {
        submission: tuple(i for i, (_, place) in enumerate(found) if place in held)
        for submission, folder in job.folders.items()
        for held in [_places(task, Path(folder) / PREDICTIONS, notes)]
    }
    return GoldAnswer(records, holders)


def _places(task: Task, path: Path, notes: Path) -> Counter[Place]:
    loaded = load_files(task, Inputs(gold=path, notes=notes), want_tokens=False, want_hashes=False)
    return Counter(_named(loaded.columns["gold"], loaded.dataset))


def _named(columns: Columns, dataset: DataSet) -> list[Place]:
    names = dataset.vocabulary.names
    rows = zip(
        columns.note.tolist(), columns.start.tolist(), columns.length.tolist(), columns.label.tolist(), strict=True
    )
    return [
        (dataset.ids[note], start, length, names[label] if label >= 0 else None)
        for note, start, length, label in rows
        if note >= 0
    ]
