"""Gold and notes that are kept must give, for every file of predictions, what reading everything anew gives."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from queue_samples import GOLD, HALF, TEXTS, annotations

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.attempt_scoring import read_beside
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.gold_reference import Reference
from sandscore.scoring.card_building import Question, dumped, score
from sandscore.task_table.task import find_task

EXAMPLES = sorted(submissions().glob("*/predictions.json"))
BAD = {
    "not JSON": b"[",
    "unknown note": annotations({"n9": [(0, "x")]}),
    "wrong place": annotations({"n1": [(9, "10/26/2020")]}),
    "a note twice": b"[" + annotations({"n1": []})[1:-1] + b"," + annotations({"n1": []})[1:-1] + b"]",
    "nothing": b"",
}


cells = cache(ReadingCells)
"""Made by the first test, and not by every process that collects them."""


@pytest.fixture(scope="module", autouse=True)
def closed_in_the_end() -> Iterator[None]:
    yield
    if cells.cache_info().currsize:
        cells().close()


def read(reference: Reference, predictions: Path, *, complete: bool = False) -> Loaded:
    """As the queue does: predictions are read in a cell."""

    def find(*, whole_names: bool = False) -> Reference:
        return (
            Reference(reference.task, reference.gold, reference.notes, whole_names=True) if whole_names else reference
        )

    found, predicted = read_beside(find, cells(), predictions, complete=complete)
    return found.beside(predicted)


def facts(loaded: Loaded) -> object:
    found = loaded.findings["predictions"]
    return found.problems, found.counts, found.errors, loaded.sha256, loaded.dataset.roll.ids


def task_of(path: Path) -> str:
    named: str = json.loads((path.parent / "submission.json").read_bytes())["task"]
    return named


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.parent.name for path in EXAMPLES])
def test_cards_are_the_same_however_often(path: Path) -> None:
    task = find_task(task_of(path))
    gold, notes = example_gold() / f"{task.id}.json", example_gold() / "notes.json"
    question = Question(task, hipaa=load_hipaa_map(None))
    alone = dumped(score(question, load_files(task, Inputs(gold, path, notes))))
    reference = Reference(task, gold, notes)
    others = [other for other in EXAMPLES if task_of(other) == task.id]
    for given in (path, *others, path):
        card = dumped(score(question, read(reference, given)))
        assert (card == alone) == (given.read_bytes() == path.read_bytes())


def sample(folder: Path) -> tuple[Path, Path]:
    notes = [{"identifier": name, "text": text} for name, text in TEXTS.items()]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "date.json").write_bytes(annotations(GOLD))
    return folder / "date.json", folder / "notes.json"


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_faults_are_the_same(tmp_path: Path, content: bytes, complete: bool) -> None:
    gold, notes = sample(tmp_path)
    given, task = tmp_path / "predictions.json", find_task("date")
    given.write_bytes(content)
    anew = load_files(task, Inputs(gold, given, notes), complete=complete)
    assert facts(read(Reference(task, gold, notes), given, complete=complete)) == facts(anew)


def test_labels_of_one_team_do_not_reach_the_next(tmp_path: Path) -> None:
    gold, notes = sample(tmp_path)
    reference = Reference(find_task("date"), gold, notes)
    labelled = json.loads(annotations(HALF))
    labelled[0]["textDateAnnotations"][0]["dateFormat"] = "a label of its own"
    given = tmp_path / "predictions.json"
    given.write_text(json.dumps(labelled), encoding="utf-8")
    assert read(reference, given).dataset.vocabulary.names == ["a label of its own"]
    given.write_bytes(annotations(HALF))
    assert read(reference, given).dataset.vocabulary.names == []


def test_predictions_whose_names_end_alike_are_joined_on_whole_names(tmp_path: Path) -> None:
    gold, notes = sample(tmp_path)
    given, task = tmp_path / "predictions.json", find_task("date")
    given.write_bytes(annotations({"a/n1": [], "b/n1": []}))
    anew = load_files(task, Inputs(gold, given, notes))
    assert anew.findings["predictions"].counts["unknown-note"]
    assert facts(read(Reference(task, gold, notes), given)) == facts(anew)
