"""Counts that were kept and brought up to date are those of scoring again, in every number."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.kept_counts import KeptCounts, kept_content, kept_counts, recounted
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import TASKS, Task, find_task

NOTES = "the notes' hash"


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class Submissions:
    """One set of notes and their gold, and predictions of several: parts of what one has, in another order."""

    def __init__(self, folder: Path, task: Task, count: int) -> None:
        self.folder, self.question = folder, Question(task, hipaa=load_hipaa_map(None))
        corpus = DrawnCorpus(task, seed=1)
        files = corpus.files(folder)
        self.notes, self.gold = Path(str(files.notes)), Path(str(files.gold))
        self.predictions, draw = [], Random(7)
        for number in range(count):
            records = json.loads(json.dumps(corpus.written()["predictions"]))
            for record in records:
                rows = record[task.array]
                record[task.array] = draw.sample(rows, draw.randint(0, len(rows)))
            draw.shuffle(records)
            self.predictions.append(write(folder / f"p{number}.json", records))

    def loaded(self, predictions: Path | None = None, gold: Path | None = None) -> Loaded:
        return load_files(self.question.task, Inputs(gold or self.gold, predictions, self.notes))

    def kept(self) -> list[KeptCounts]:
        made = []
        for path in self.predictions:
            loaded = self.loaded(path)
            content = kept_content(self.question, loaded, score(self.question, loaded), NOTES)
            assert content is not None
            place = path.with_suffix(".counts")
            place.write_bytes(content)
            found = kept_counts(place, self.question, NOTES)
            assert found is not None
            made.append(found)
        return made

    def changed(self, *notes: int) -> Path:
        """Gold in which the first annotation of these notes is struck."""
        records = json.loads(self.gold.read_bytes())
        for note in notes:
            del records[note][self.question.task.array][0]
        return write(self.folder / "later.json", records)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_count_is_that_of_scoring_again(task: Task, tmp_path: Path) -> None:
    given = Submissions(tmp_path, task, count=8)
    kept, gold = given.kept(), given.changed(1, 4)
    found = recounted(given.question, given.loaded(), given.loaded(gold=gold), kept)
    assert found is not None
    assert found.notes == (1, 4)
    for number, path in enumerate(given.predictions):
        card = score(given.question, given.loaded(path, gold))
        totals = {name: (one.tp, one.fp, one.fn) for name, one in card.measures.items()}
        assert dict(zip(kept[number].head.measures, map(tuple, found.totals[number].tolist()), strict=True)) == totals
        for place, note in enumerate(found.notes):
            now = map(tuple, found.now[number, place].tolist())
            assert dict(zip(kept[number].head.measures, now, strict=True)) == dict(card.per_note)[f"{note}-1"]


@pytest.mark.slow
def test_ten_thousand_submissions(tmp_path: Path) -> None:
    """A hundred that are scored again, each in a hundred places: however many are counted at once, each has its own."""
    given = Submissions(tmp_path, find_task("address"), count=100)
    gold = given.changed(2)
    kept = given.kept()
    order = Random(5).sample(range(10_000), 10_000)
    found = recounted(given.question, given.loaded(), given.loaded(gold=gold), [kept[at % 100] for at in order])
    assert found is not None
    cards = [score(given.question, given.loaded(path, gold)) for path in given.predictions]
    expected = np.array([[(one.tp, one.fp, one.fn) for one in card.measures.values()] for card in cards])
    assert len({row.tobytes() for row in expected}) > 50, "they differ"
    assert (found.totals == expected[np.array(order) % 100]).all()


def test_where_gold_says_the_same_nothing_changes(tmp_path: Path) -> None:
    given = Submissions(tmp_path, find_task("date"), count=3)
    same = write(tmp_path / "same.json", json.loads(given.gold.read_bytes())[::-1])
    found = recounted(given.question, given.loaded(), given.loaded(gold=same), kept := given.kept())
    assert found is not None
    assert found.notes == ()
    assert (found.totals == np.stack([one.table.sum(axis=0) for one in kept])).all()


def test_what_cannot_be_recounted_is_not(tmp_path: Path) -> None:
    """Measures that do not add up over notes, other notes, another question, and a damaged file."""
    given = Submissions(tmp_path, find_task("date"), count=1)
    [kept] = given.kept()
    place = given.predictions[0].with_suffix(".counts")
    for measure in ("char_leak", "iou"):
        question = Question(given.question.task, (measure,))
        loaded = given.loaded(given.predictions[0])
        assert kept_content(question, loaded, score(question, loaded), NOTES) is None
        assert kept_counts(place, question, NOTES) is None
    assert kept_counts(place, given.question, "other notes") is None
    content = bytearray(place.read_bytes())
    content[100] ^= 1
    place.write_bytes(content)
    assert kept_counts(place, given.question, NOTES) is None
    assert kept_counts(tmp_path / "none", given.question, NOTES) is None
    fewer = write(tmp_path / "fewer.json", json.loads(given.notes.read_bytes())[:-1])
    other = load_files(given.question.task, Inputs(notes=fewer, gold=write(tmp_path / "g.json", [])))
    assert recounted(given.question, given.loaded(), other, [kept]) is None
