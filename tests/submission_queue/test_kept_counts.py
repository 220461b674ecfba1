"""Counts that were kept and brought up to date are those of scoring again, in every number."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from sandscore.annotations.columns import Ints
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.kept_counts import RecountedNotes, kept_content, recounted
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import TASKS, Task, find_task

NOTES = "the notes' hash"


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class Submissions:
    """One set of notes and their gold, and predictions of several: parts of what one has, in another order."""

    def __init__(self, folder: Path, task: Task, count: int, notes: int = 6) -> None:
        self.folder, self.question = folder, Question(task, hipaa=load_hipaa_map(None))
        corpus = DrawnCorpus(task, seed=1, notes=notes)
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

    def kept(self) -> dict[str, Path]:
        """A file of counts for each, by its number."""
        made = {}
        for number, path in enumerate(self.predictions):
            loaded = self.loaded(path)
            content = kept_content(self.question, loaded, score(self.question, loaded), NOTES)
            assert content is not None
            made[str(number)] = path.with_suffix(".counts")
            made[str(number)].write_bytes(content)
        return made

    def recounted(self, kept: dict[str, Path], later: Path, notes: str = NOTES) -> list[RecountedNotes]:
        """With another gold."""
        before = self.loaded()
        return [*recounted(self.question, notes, self.loaded(gold=later), kept, {before.sha256["gold"]: before}.get)]

    def changed(self, *notes: int) -> Path:
        """Gold in which the first annotation of these notes is struck."""
        records = json.loads(self.gold.read_bytes())
        for note in notes:
            del records[note][self.question.task.array][0]
        return write(self.folder / "later.json", records)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_count_is_that_of_scoring_again(task: Task, tmp_path: Path) -> None:
    given = Submissions(tmp_path, task, count=8)
    gold = given.changed(1, 4)
    [found] = given.recounted(given.kept(), gold)
    assert found.notes == (1, 4)
    for number, path in enumerate(given.predictions):
        loaded = given.loaded(path, gold)
        card = score(given.question, loaded)
        assert found.predictions[str(number)] == loaded.sha256["predictions"]
        totals = {name: (one.tp, one.fp, one.fn) for name, one in card.measures.items()}
        assert dict(zip(found.measures, map(tuple, found.totals[number].tolist()), strict=True)) == totals
        for place, note in enumerate(found.notes):
            now = map(tuple, found.now[number, place].tolist())
            assert dict(zip(found.measures, now, strict=True)) == dict(card.per_note)[f"{note}-1"]


def _expected(given: Submissions, gold: Path) -> Ints:
    cards = [score(given.question, given.loaded(path, gold)) for path in given.predictions]
    return np.array([[(one.tp, one.fp, one.fn) for one in card.measures.values()] for card in cards])


@pytest.mark.slow
def test_ten_thousand_submissions(tmp_path: Path) -> None:
    """A hundred that are scored again, each in a hundred places: however many are counted at once, each has its own."""
    given = Submissions(tmp_path, find_task("address"), count=100)
    gold, kept = given.changed(2), given.kept()
    order = Random(5).sample(range(10_000), 10_000)
    [found] = given.recounted({f"{at}": kept[str(at % 100)] for at in order}, gold)
    assert [*found.predictions] == [*map(str, order)]
    expected = _expected(given, gold)
    assert len({row.tobytes() for row in expected}) > 50, "they differ"
    assert (found.totals == expected[np.array(order) % 100]).all()


def test_submissions_are_counted_in_as_many_goes_as_memory_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandscore.queue.kept_counts._TOGETHER", -1)
    given = Submissions(tmp_path, find_task("address"), count=5)
    gold = given.changed(3)
    found = given.recounted(given.kept(), gold)
    assert [len(one.predictions) for one in found] == [1] * 5
    assert (np.concatenate([one.totals for one in found]) == _expected(given, gold)).all()


def test_where_gold_says_the_same_nothing_changes(tmp_path: Path) -> None:
    given = Submissions(tmp_path, find_task("date"), count=3)
    same = write(tmp_path / "same.json", json.loads(given.gold.read_bytes())[::-1])
    [found] = given.recounted(given.kept(), same)
    assert found.notes == ()
    assert (found.totals == _expected(given, given.gold)).all()


def test_labels_of_their_own(tmp_path: Path) -> None:
    """Where labels are free each submission numbers its own: they are told apart by their names."""
    task = find_task("date")
    given = Submissions(tmp_path, task, count=4)
    for number, path in enumerate(given.predictions):
        records = json.loads(path.read_bytes())
        for row in (row for record in records for row in record[task.array][::2]):
            row[str(task.label)] = f"only {number}"
        write(path, records)
    gold = given.changed(0, 2)
    [found] = given.recounted(given.kept(), gold)
    assert (found.totals == _expected(given, gold)).all()


def test_no_damage_changes_a_count(tmp_path: Path) -> None:
    """Whichever byte is another one: what was read of the file is as it was written, or the submission is left out."""
    given = Submissions(tmp_path, find_task("date"), count=1, notes=20)
    [place], gold = given.kept().values(), given.changed(1)
    content, draw = place.read_bytes(), Random(3)
    [whole] = given.recounted({"0": place}, gold)
    damaged = [content[:at] for at in range(0, len(content), 97)]
    damaged += [
        content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
        for at in range(0, len(content), 3)
    ]
    kept = {str(number): tmp_path / f"{number}.damaged" for number in range(len(damaged))}
    for path, written in zip(kept.values(), damaged, strict=True):
        path.write_bytes(written)
    [found] = given.recounted(kept, gold)
    assert 0 < len(found.predictions) < len(damaged) * 2 // 3, "what stands in the first of three blocks, and the head"
    assert (found.totals == whole.totals).all()
    assert (found.now == whole.now).all()
    assert {*found.predictions.values()} == {*whole.predictions.values()}
    assert "0" not in found.predictions, "an empty file"


def test_a_block_belongs_to_its_head_and_its_place(tmp_path: Path) -> None:
    """Of two files cut in the middle and put together: what one says of the first note, or nothing."""
    given = Submissions(tmp_path, find_task("date"), count=2, notes=20)
    one, other = given.kept().values()
    contents, gold = (one.read_bytes(), other.read_bytes()), given.changed(1)
    [whole] = given.recounted({"0": one}, gold)
    outcomes = []
    for cut in range(64, min(map(len, contents)), 16):
        one.write_bytes(contents[0][:cut] + contents[1][cut:])
        found = given.recounted({"0": one}, gold)
        assert all((again.totals == whole.totals).all() and (again.now == whole.now).all() for again in found)
        outcomes.append(len(found))
    assert outcomes == sorted(outcomes)
    assert 0 < sum(outcomes) < len(outcomes)


def test_what_cannot_be_recounted_is_not(tmp_path: Path) -> None:
    """Measures that do not add up over notes, other notes, another question, and a damaged file."""
    given = Submissions(tmp_path, find_task("date"), count=1)
    kept, gold = given.kept(), given.changed(1)
    place, answered = kept["0"], given.question
    for measure in ("char_leak", "iou"):
        given.question = Question(given.question.task, (measure,))
        loaded = given.loaded(given.predictions[0])
        assert kept_content(given.question, loaded, score(given.question, loaded), NOTES) is None
        assert given.recounted(kept, gold) == []
    given.question = Question(answered.task, ("instance_strict",), answered.hipaa)
    assert given.recounted(kept, gold) == []
    given.question = answered
    assert given.recounted(kept, gold, "other notes") == []
    assert [*recounted(answered, NOTES, given.loaded(gold=gold), kept, lambda _: None)] == [], "its gold is gone"
    assert len(given.recounted(kept, gold)) == 1
    fewer = write(tmp_path / "fewer.json", json.loads(given.notes.read_bytes())[:-1])
    other = load_files(given.question.task, Inputs(notes=fewer, gold=write(tmp_path / "g.json", [])))
    assert [*recounted(answered, NOTES, other, kept, lambda _: given.loaded())] == []
    place.write_bytes(b"")
    assert given.recounted(kept | {"1": tmp_path / "none"}, gold) == []


def test_notes_that_share_a_block_and_many_blocks(tmp_path: Path) -> None:
    """2,100 notes are in 234 blocks of nine: the first and the last, two of one block, and one between."""
    given = Submissions(tmp_path, find_task("contact"), count=2, notes=2_100)
    gold = given.changed(0, 900, 1_000, 1_006, 2_099)
    [found] = given.recounted(given.kept(), gold)
    assert found.notes == (0, 900, 1_000, 1_006, 2_099)
    assert (found.totals == _expected(given, gold)).all()
