"""One card over the gold of all tasks of the same notes: a patient leaks through whatever is open.

Labels say which task they are of: ``person-name`` where it has none, ``address/city``. Masks of all tasks are one set.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Columns, Small
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Inputs, Loaded, ReadingWatch, load_files
from sandscore.annotations.label_codes import LabelCodes
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.leaks.identifier_classes import classes_of, of_several
from sandscore.scoring.card_building import Question, score
from sandscore.scoring.scoring_flow import InvalidPredictions, Scored
from sandscore.task_table.task import ALL_TASKS, TASKS, Task

OWN = (
    "patient_leak(class=direct)",
    "patient_leak",
    "char_leak",
    "mention_leak",
    "note_leak",
    "over_mask",
    "over_mask_words",
    "char_precision",
    "char_f",
    "clean_notes_touched",
)
"""What a card over all tasks holds, beside entities: by their ids where gold has them, else by their text."""


class TaskFiles(Struct, frozen=True):
    """One task with its gold and its predictions."""

    task: Task
    gold: Path
    predictions: Path


def task_files(gold: Path, predictions: Path, own: Mapping[str, Task]) -> list[TaskFiles]:
    """The tasks that a folder of gold has files of, in the order of our table; a submission has one of each."""
    for folder in (gold, predictions):
        if not folder.is_dir():
            raise UsageFault(f"{folder} is not a folder; 'all' takes folders with one file for each task, as date.json")
    known = TASKS | dict(own)
    files = ((task, gold / f"{name}.json") for name, task in known.items())
    found = [TaskFiles(task, file, predictions / file.name) for task, file in files if file.is_file()]
    if not found:
        raise UsageFault(f"{gold} has no file that is called as a task is; the tasks are {', '.join(known)}")
    return found


def score_all(question: Question, files: Sequence[TaskFiles], notes: Path | None, watch: ReadingWatch) -> Scored:
    """The card of all these files together."""
    if notes is None:
        raise UsageFault("'all' needs --notes: the notes say which annotations of different tasks are of one patient")
    parts: list[tuple[Task, Loaded]] = []
    for one in files:
        inputs = Inputs(one.gold, one.predictions, notes)
        with watch.reading(inputs.given.values()) as progress:
            loaded = load_files(one.task, inputs, want_tokens=False, progress=progress)
        watch.problems(loaded.findings.values())
        if loaded.faulty("gold", "notes"):
            raise OrganiserFault(f"gold of the task {one.task.id} or the notes are not valid; nothing was scored")
        if loaded.faulty("predictions"):
            said = f"the predictions of the task {one.task.id} are not valid; nothing was scored"
            raise InvalidPredictions(said, loaded.findings["predictions"])
        parts.append((one.task, loaded))
    whole = _together(parts)
    rules = of_several([classes_of(task, question.classes, question.hipaa) for task, _ in parts])
    entities = "entity_leak" if whole.columns["gold"].entity is not None else "entity_leak(by=text)"
    measures = tuple(dict.fromkeys((*OWN, entities, *question.measures)))
    asked = replace(question, task=ALL_TASKS, measures=measures, rules=rules)
    card = score(asked, whole).model_copy(update={"confidence": None})
    return Scored(card, whole, question=asked, notes=notes)


def _together(parts: Sequence[tuple[Task, Loaded]]) -> Loaded:
    labels, entities = LabelCodes(None), dict[str | None, int]()
    first = parts[0][1].dataset
    sides: dict[str, list[Columns]] = {"gold": [], "predictions": []}
    for task, loaded in parts:
        for role, columns in sides.items():
            columns.append(_renamed(task, loaded.columns[role], loaded.dataset, labels, entities))
    dataset = replace(first, vocabulary=labels, entities=entities)
    found = ProblemCollector("predictions", ALL_TASKS.array)
    for _, loaded in parts:
        for code, count in loaded.findings["predictions"].counts.items():
            found.add_counted(code, count)
    hashes = {role: _hash([(task, loaded.sha256[role]) for task, loaded in parts]) for role in sides}
    return Loaded(dataset, {role: _joined(columns) for role, columns in sides.items()}, {"predictions": found}, hashes)


def _renamed(
    task: Task, columns: Columns, dataset: DataSet, labels: LabelCodes, entities: dict[str | None, int]
) -> Columns:
    """Labels and entities numbered as they are in all tasks together."""
    names = [task.id, *(f"{task.id}/{name}" for name in dataset.vocabulary.names)]
    used = columns.labels()
    codes = [labels[name] if at - 1 in used or at == 0 else -1 for at, name in enumerate(names)]
    entity = columns.entity
    if entity is not None:
        known = [entities.setdefault(name, len(entities)) for name in dataset.entities if name is not None]
        entity = np.array([-1, *known], np.int32)[entity + 1]
    return columns.replace(label=np.array(codes, np.int32)[columns.label + 1], entity=entity, text=None, tokens=None)


def _joined(columns: Sequence[Columns]) -> Columns:
    entity = None if all(one.entity is None for one in columns) else np.concatenate([*map(_entities, columns)])
    fields = ("note", "start", "length", "label", "confidence")
    note, start, length, label, confidence = (
        np.concatenate([getattr(one, name) for one in columns]) for name in fields
    )
    return Columns(note, start, length, label, confidence, entity=entity)


def _entities(columns: Columns) -> Small:
    return np.full(len(columns), -1, np.int32) if columns.entity is None else columns.entity


def _hash(files: Sequence[tuple[Task, str]]) -> str:
    return sha256("\n".join(f"{task.id}:{digest}" for task, digest in files).encode()).hexdigest()
