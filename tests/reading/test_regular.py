"""Blocks taken as columns at once say exactly what the decoder says of them, be they right, odd or damaged."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import labels_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandscore.reading.files import Inputs, Loaded, load_files
from sandscore.reading.regular import numbers, reading
from sandscore.reading.regular.rows import RowReader, Rows
from sandscore.reading.regular.words import words_of
from sandscore.tasks import TASKS, Task

PLAIN, ODD = "abcdefgh  ,.?:;", '{}[]\n\t"\\/é“😀\u3000\u00a0?'
OFTEN = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FORMS: dict[str, Callable[[list[Any], bool], str]] = {
    "compact": lambda rows, pure: json.dumps(rows, separators=(",", ":"), ensure_ascii=pure),
    "spaced": lambda rows, pure: json.dumps(rows, ensure_ascii=pure),
    "indented": lambda rows, pure: json.dumps(rows, ensure_ascii=pure, indent=1) + "\n",
    "lines": lambda rows, pure: "".join(json.dumps(row, ensure_ascii=pure) + "\n" for row in rows),
}


def corpus(task: Task, seed: int) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Notes and what is said of them: members in any one order, mostly right, some of it wrong or odd."""
    r = random.Random(seed)
    odd = r.choice((0, 0, 0.002, 0.02))
    members = ["start", "length", "text", "confidence", *filter(None, (task.label, task.second_label))]
    r.shuffle(members)
    if members.index("length") > members.index("text") and r.random() < 0.9:
        members.sort(key="text".__eq__)
    if not task.confidence_required and r.random() < 0.3:
        members.remove("confidence")
    notes, records = [], []
    for number in range(r.randint(1, 12)):
        text = "".join(r.choice(ODD if r.random() < odd else PLAIN) for _ in range(r.randint(1, 120)))
        notes.append({"identifier": f"n{number}", "text": text})
        rows = [annotation(task, r, text, odd) for _ in range(r.choice((0, 1, 2, 9, 30)))]
        source = {"resourceSource": {"name": f"a/Note/n{number}" if r.random() > odd else "a/Note/other"}}
        records.append(
            {"annotationSource": source, task.array: [{name: row[name] for name in members} for row in rows]}
        )
    return notes, records


def annotation(task: Task, r: random.Random, note: str, odd: float) -> dict[str, Any]:
    start = r.randrange(len(note))
    length = r.choice((17, 30, 70)) if r.random() < odd else r.randint(1, min(30, len(note) - start))
    text = note[start : start + length] if r.random() > odd else "other"
    sure = r.choice((0.1 + 0.2, 1e-7, 1e2) if r.random() < odd else (7, 100, 99.5, 50.0, 12.345678, 0))
    row = {"start": start, "length": length if r.random() > odd else 3, "text": text, "confidence": sure}
    if task.label:
        row[task.label] = r.choice(labels_of(task)[:4])
    return row | ({task.second_label: "positive"} if task.second_label else {})


@contextmanager
def regular_from(size: int) -> Iterator[list[int]]:
    """Blocks of fewer bytes are left to the decoder; the sizes of those that were taken."""
    taken: list[int] = []
    read = RowReader.read

    def spied(self: RowReader, words: Any, form: Any) -> Rows:
        rows = read(self, words, form)
        taken.append(len(rows))
        return rows

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "SMALLEST", size)
        patch.setattr(RowReader, "read", spied)
        yield taken


def both_ways(folder: Path, task: Task, notes: list[Any], written: bytes) -> tuple[Loaded, Loaded, list[int]]:
    """A file read at once, and decoded."""
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "found.json").write_bytes(written)
    inputs = Inputs(predictions=folder / "found.json", notes=folder / "notes.json")
    with regular_from(0) as taken:
        quick = load_files(task, inputs)
    with regular_from(1 << 60):
        return quick, load_files(task, inputs), taken


def must_agree(one: Loaded, other: Loaded) -> None:
    assert one.findings["predictions"].problems == other.findings["predictions"].problems
    assert one.findings["predictions"].counts == other.findings["predictions"].counts
    quick, slow = one.columns["predictions"], other.columns["predictions"]
    for name in ("note", "start", "length", "confidence"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name), name)
    names = [[*loaded.dataset.vocabulary.names, None] for loaded in (one, other)]
    assert [names[0][code] for code in quick.label] == [names[1][code] for code in slow.label]
    assert quick.tokens is not None
    assert slow.tokens is not None
    for name in ("words", "begin", "size"):
        np.testing.assert_array_equal(getattr(quick.tokens, name), getattr(slow.tokens, name), name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@settings(OFTEN, max_examples=40)
@given(seed=st.integers(0, 1 << 40), pure=st.booleans())
def test_as_the_decoder(task: Task, form: str, seed: int, pure: bool, tmp_path_factory: Any) -> None:
    notes, records = corpus(task, seed)
    folder = tmp_path_factory.mktemp("one", numbered=True)
    one, other, _ = both_ways(folder, task, notes, FORMS[form](records, pure).encode())
    must_agree(one, other)


@pytest.mark.parametrize("form", FORMS)
@OFTEN
@given(seed=st.integers(0, 1 << 40), damage=st.data())
def test_a_damaged_byte(form: str, seed: int, damage: st.DataObject, tmp_path_factory: Any) -> None:
    task = TASKS["address"]
    notes, records = corpus(task, seed)
    written = bytearray(FORMS[form](records, False).encode())
    at = damage.draw(st.integers(0, len(written) - 1))
    kind = damage.draw(st.integers(0, 2))
    put = damage.draw(st.sampled_from([*b'0123456789"\\,:{}[] \n\t.e-anul', 0, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]))
    written[at : at + (kind > 0)] = bytes([put]) * (kind < 2)
    one, other, _ = both_ways(tmp_path_factory.mktemp("one", numbered=True), task, notes, bytes(written))
    must_agree(one, other)


def test_most_of_it_is_regular(tmp_path: Path) -> None:
    """Else the comparisons would compare the decoder with itself."""
    tasks, forms = [*TASKS.values()], [*FORMS.values()]
    took = 0
    for seed in range(64):
        task = tasks[seed % 8]
        notes, records = corpus(task, seed)
        took += bool(both_ways(tmp_path, task, notes, forms[seed % 4](records, False).encode())[2])
    assert took > 32


@pytest.mark.parametrize("form", FORMS)
def test_what_is_regular_is_taken(form: str, tmp_path: Path) -> None:
    """Counted by hand: sixteen annotations, one of them twice in each of two lists."""
    task = TASKS["address"]
    text = "Anna lives in Zürich, 8001 Switzerland"
    notes = [{"identifier": f"n{i}", "text": text} for i in range(3)]
    rows = [
        {"start": start, "length": 4, "text": text[start : start + 4], "addressType": "other", "confidence": sure}
        for start, sure in ((0, 100), (14, 99.25), (5, 3), (22, 0.5), (22, 0.5), (30, 7), (24, 8), (25, 9), (9, 1))
    ]
    records = [
        {"annotationSource": {"resourceSource": {"name": f"n{i}"}}, task.array: found}
        for i, found in enumerate((rows, [], rows[2:]))
    ]
    one, other, taken = both_ways(tmp_path, task, notes, FORMS[form](records, False).encode())
    must_agree(one, other)
    assert taken == [16]
    assert one.findings["predictions"].counts["duplicate"] == 2


def test_long_notes(tmp_path: Path) -> None:
    """Notes that are compared alone, beside some that are compared together; one text is wrong in each."""
    task = TASKS["person-name"]
    notes = [{"identifier": f"n{i}", "text": "ab cd " * size} for i, size in enumerate((3, 200_000, 5, 100_000, 4))]
    places = [[0, 6, 12, 9], [0, 600_000, 1_199_994, 9], [0, 6, 9], [0, 599_994, 9], [0, 6, 9]]
    records = [
        {
            "annotationSource": {"resourceSource": {"name": note["identifier"]}},
            task.array: [{"start": start, "length": 5, "text": "ab cd"} for start in starts],
        }
        for note, starts in zip(notes, places, strict=True)
    ]
    one, other, taken = both_ways(tmp_path, task, notes, json.dumps(records).encode())
    must_agree(one, other)
    assert taken == [17]
    assert one.findings["predictions"].counts["text-mismatch"] == 5


@OFTEN
@given(st.lists(st.one_of(st.integers(0, 10**9), st.floats(0, 1e6), st.decimals(0, 9999, places=4)), min_size=1))
def test_numbers_are_what_python_makes_of_them(values: list[Any]) -> None:
    written = [str(value) for value in values]
    places = np.cumsum([0, *(len(one) + 1 for one in written[:-1])])
    words = words_of(",".join([*written, ""]).encode())
    found, sizes, right = numbers.decimal(words, places)
    for value, one, size, fits in zip(found.tolist(), written, sizes.tolist(), right.tolist(), strict=True):
        if fits and size == len(one):
            assert value == float(one)
    short = [i for i, one in enumerate(written) if one.isdigit() and len(one) < 8]
    assert right[short].all()


@pytest.mark.parametrize(
    ("written", "fits"),
    [("0", True), ("00", False), ("01", False), ("", False), ("12345678", False), ("1234567", True), ("-1", False)],
)
def test_whole_numbers_of_json(written: str, fits: bool) -> None:
    _, sizes, right = numbers.whole(words_of(f"{written},".encode()), np.array([0]))
    assert bool(right[0] and sizes[0] == len(written)) is fits


def test_a_record_over_two_lines_is_no_line(tmp_path: Path) -> None:
    """Wherever white space may stand in JSON, a line feed ends a line."""
    task = TASKS["address"]
    notes, records = next(made for seed in range(99) if len((made := corpus(task, seed))[1][0][task.array]) > 20)
    written = FORMS["lines"](records, False).encode()
    comma = written.index(b",", written.rindex(b"{", 0, written.index(b"\n")))
    one, other, _ = both_ways(tmp_path, task, notes, written[:comma] + b",\n" + written[comma + 1 :])
    assert other.findings["predictions"].counts["json"]
    must_agree(one, other)
