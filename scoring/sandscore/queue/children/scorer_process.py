"""The process that sees gold. It reads no byte that a team handed in: cells do.

It also tells how gold differs from the gold that a submission was scored with: notes, places and labels, but no text.
"""

import gc
import sys
from collections import Counter
from pathlib import Path

from sandscore.annotations.columns import Columns
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.label_codes import LabelCodes
from sandscore.base.whole_files import Drafts
from sandscore.queue.attempt_scoring import Scorer
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.children.child_answers import answered, refused, serve
from sandscore.queue.children.child_messages import (
    BATCH_REQUESTS,
    BatchAnswer,
    BatchRequest,
    GoldAnswer,
    GoldChange,
    GoldRequest,
    RecountAnswer,
    RecountedSubmission,
    RecountRequest,
    ScorerAnswer,
    ScorerRequest,
    SubmissionScoreRequest,
)
from sandscore.queue.kept_counts import recounted
from sandscore.queue.workspace import Workspace, asked_workspace
from sandscore.scoring.card_building import signature
from sandscore.task_table.task import Task

Place = tuple[str, int, int, str | None]
"""Note, start, length, label."""


def changes(workspace: Workspace, scorer: Scorer, job: GoldRequest) -> GoldAnswer:
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
        for held in [_predicted(scorer, task, phase, Path(folder))]
    }
    return GoldAnswer(records, holders)


def _places(task: Task, path: Path, notes: Path) -> Counter[Place]:
    loaded = load_files(task, Inputs(gold=path, notes=notes), want_tokens=False, want_hashes=False)
    return Counter(_named(loaded.columns["gold"], loaded.dataset, loaded.dataset.vocabulary))


def _predicted(scorer: Scorer, task: Task, phase: str | None, folder: Path) -> Counter[Place]:
    reference, read = scorer.read(task, phase, folder)
    return Counter(_named(read.columns, reference.loaded.dataset, read.vocabulary))


def _named(columns: Columns, dataset: DataSet, labels: LabelCodes) -> list[Place]:
    names = labels.names
    rows = zip(
        columns.note.tolist(), columns.start.tolist(), columns.length.tolist(), columns.label.tolist(), strict=True
    )
    return [
        (dataset.roll.ids[note], start, length, names[label] if label >= 0 else None)
        for note, start, length, label in rows
        if note >= 0
    ]


def recounted_answer(workspace: Workspace, scorer: Scorer, job: RecountRequest) -> RecountAnswer:
    """From what was kept of each submission, by the gold that it was counted with."""
    task, phase = workspace.task(job.task), job.phase
    question, now, notes = scorer.question_of(task, phase)
    found: dict[str, RecountedSubmission] = {}
    if now.faulty("gold", "notes"):
        return RecountAnswer(found)

    def gold_of(sha256: str) -> Loaded | None:
        if sha256 == now.sha256["gold"]:
            return now
        copy = workspace.gold_seen / f"{task.id}.{sha256[:12]}.json"
        before = load_files(task, Inputs(gold=copy, notes=workspace.notes(phase))) if copy.exists() else None
        return before if before is not None and before.sha256["gold"] == sha256 else None

    kept = {name: workspace.counts(name) for name in job.submissions}
    hipaa = question.hipaa if task.hipaa else None
    for counted in recounted(question, notes, now, kept, gold_of):
        rows = zip(counted.predictions.items(), counted.totals.tolist(), counted.now.tolist(), strict=True)
        for (name, predictions), totals, changed in rows:
            changes = zip(counted.notes, changed, strict=True)
            found[name] = RecountedSubmission(
                signature(task, "challenge", {"gold": now.sha256["gold"], "predictions": predictions}, hipaa),
                dict(zip(counted.measures, map(tuple, totals), strict=True)),
                {
                    now.dataset.roll.ids[at]: dict(zip(counted.measures, map(tuple, of), strict=True))
                    for at, of in changes
                },
            )
    return RecountAnswer(found)


_LEVELS = 3
"""An attempt's folder, and those it was made in."""


class Desk:
    """Takes several jobs at once, of either kind: predictions to score, or two golds to compare."""

    def __init__(self, root: Path, cells: ReadingCells) -> None:
        self._root, self._cells = root, cells
        self._challenge: str | None = None
        self._opened: tuple[Workspace, Scorer] | None = None

    def work(self, asked: BatchRequest) -> BatchAnswer:
        """Each job's own answer; what was made for it is on disk when it comes."""
        drafts = Drafts()
        answers = [answered(lambda job: self._one(job, asked.challenge, drafts), job) for job in asked.jobs]
        faults = drafts.settle(_LEVELS)
        for number, job in enumerate(asked.jobs):
            if isinstance(job, SubmissionScoreRequest) and (fault := faults.get(Path(job.folder))) is not None:
                answers[number] = refused(fault)
        return BatchAnswer(tuple(answers))

    def _one(self, job: ScorerRequest, challenge: str | None, drafts: Drafts) -> ScorerAnswer:
        workspace, scorer = self._under(challenge)
        if isinstance(job, SubmissionScoreRequest):
            return scorer.score(job, drafts)
        if isinstance(job, RecountRequest):
            return recounted_answer(workspace, scorer, job)
        return changes(workspace, scorer, job)

    def _under(self, challenge: str | None) -> tuple[Workspace, Scorer]:
        """Rules and policy of that challenge."""
        if self._opened is None or challenge != self._challenge:
            workspace = asked_workspace(self._root, challenge)
            self._challenge, self._opened = challenge, (workspace, Scorer(workspace, self._cells))
        return self._opened


if __name__ == "__main__":
    without_gold = ReadingCells()
    gc.freeze()  # what was imported stays: nobody need look through it after every hundred submissions
    try:
        serve(Desk(Path(sys.argv[1]), without_gold).work, BATCH_REQUESTS)
    finally:
        without_gold.hang_up()
