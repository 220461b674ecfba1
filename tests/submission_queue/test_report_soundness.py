"""Whether a report can be: the kernel says the same of every one as numpy, which is its twin."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from kernel_corpus import corpus
from msgspec.structs import replace
from numpy.typing import NDArray

from sandscore.annotations.columns import Columns, Tokens
from sandscore.annotations.data_set import DataSet, NoteRoll
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.label_codes import vocabulary
from sandscore.base.removable_rooms import compiled
from sandscore.queue.cell import cell_report
from sandscore.queue.cell.cell_report import DoubtfulReport
from sandscore.task_table.task import Task, find_task

CHANGED = 600
ODD = (-(1 << 31), -2, -1, 0, 0, 1, 1, 2, 3, 9, 100, (1 << 31) - 1)
ODD_SURE = (float("nan"), float("inf"), -float("inf"), -0.0, 0.0, -5e-324, 100.0, 100.00000000000001, 50.0)
ROWS, TOKENS = ("note", "start", "length", "label", "confidence", "words"), ("begin", "size")
Held = dict[str, NDArray[np.generic]]


def twin_says(held: Held, task: Task, dataset: DataSet, labels: int) -> bool:
    columns, tokens = as_columns(held)
    try:
        cell_report._refuse_odd_rows(columns, tokens, task, dataset, labels)
    except DoubtfulReport:
        return False
    return True


def as_columns(held: Held) -> tuple[Columns, Tokens]:
    tokens = Tokens(held["words"], held["begin"], held["size"])
    return Columns(**{name: held[name] for name in ROWS[:-1]}, tokens=tokens), tokens


def right_ones(task: Task, folder: Path) -> Iterator[Loaded]:
    for seed in range(40):
        notes, records = corpus(task, seed)
        for name, content in (("notes", notes), ("given", records)):
            (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        loaded = load_files(task, Inputs(predictions=folder / "given.json", notes=folder / "notes.json"))
        if not loaded.findings["predictions"].errors and len(loaded.columns["predictions"]):
            yield loaded


def changed(r: random.Random, held: Held) -> Held:
    """Up to three values are others, moved by little, or those of another row."""
    after = {name: array.copy() for name, array in held.items()}
    for _ in range(r.choice((1, 1, 2, 3))):
        array = after[r.choice([name for name in after if len(after[name])])]
        at, kind = r.randrange(len(array)), r.randrange(4)
        if kind == 0:
            array[at] = array[r.randrange(len(array))]
        elif kind == 1 and -(1 << 31) < array[at] < (1 << 31) - 1:
            array[at] += r.choice((-1, 1))
        else:
            array[at] = r.choice(ODD_SURE if array.dtype.kind == "f" else ODD)
    return after


@pytest.mark.parametrize("name", ["date", "address", "covid-symptom"])
def test_the_kernel_says_what_numpy_says(name: str, tmp_path: Path) -> None:
    task, said = find_task(name), [0, 0]
    for number, loaded in enumerate(right_ones(task, tmp_path)):
        r, columns, labels = random.Random(number), loaded.columns["predictions"], len(loaded.dataset.vocabulary.names)
        assert columns.tokens is not None
        held: Held = {one: getattr(columns, one) for one in ROWS[:-1]}
        held |= {one: getattr(columns.tokens, one) for one in ("words", *TOKENS)}
        assert twin_says(held, task, loaded.dataset, labels)
        for _ in range(CHANGED):
            odd = changed(r, held)
            expected = twin_says(odd, task, loaded.dataset, labels)
            assert compiled().is_sound(as_columns(odd)[0], task, loaded.dataset, labels) == expected, odd
            said[expected] += 1
    assert min(said) > CHANGED // 2, "some are sound all the same, and some are not"


def annotated(notes: list[int]) -> Held:
    """One annotation of one token in each of these notes."""
    count = len(notes)
    held: Held = {one: np.full(count, 1, np.int32) for one in ("start", "length", "words", "size")}
    held |= {"note": np.array(notes, np.int32), "label": np.full(count, -1, np.int32)}
    return held | {"begin": np.zeros(count, np.int32), "confidence": np.full(count, np.nan)}


def test_a_report_of_very_many_notes_is_sound() -> None:
    """What is noted of each note is memory of its own for as long as the kernel looks."""
    task = find_task("date")
    dataset = DataSet(vocabulary(task, None), roll=NoteRoll(map(str, range(300_000))))
    for _ in range(3):
        assert compiled().is_sound(as_columns(annotated([0, 299_999, 7]))[0], task, dataset, 0)
    assert not compiled().is_sound(as_columns(annotated([0, 7, 0]))[0], task, dataset, 0)
    assert not compiled().is_sound(as_columns(annotated([300_000]))[0], task, dataset, 0)


@pytest.mark.parametrize(("required", "sound"), [(True, False), (False, True)])
def test_a_confidence_that_must_be_there(required: bool, sound: bool) -> None:
    task = replace(find_task("date"), confidence_required=required)
    dataset = DataSet(vocabulary(task, None), roll=NoteRoll(["a"]))
    assert compiled().is_sound(as_columns(annotated([0]))[0], task, dataset, 0) == sound
    assert twin_says(annotated([0]), task, dataset, 0) == sound
