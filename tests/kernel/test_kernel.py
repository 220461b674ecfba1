"""Blocks that the kernel reads say exactly what the decoder says of them, be they right, odd or damaged."""

import json
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_comparison import both_ways, must_agree
from kernel_corpus import FORMS, corpus

from sandscore.kernel.kernel_library import kernel
from sandscore.task_table.task import TASKS, Task

OFTEN = settings(max_examples=up_to(120), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@settings(OFTEN, max_examples=up_to(40))
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
    written = damaged(FORMS[form](records, False).encode(), damage)
    one, other, _ = both_ways(tmp_path_factory.mktemp("one", numbered=True), task, notes, written)
    must_agree(one, other)


@pytest.mark.parametrize("form", FORMS)
@OFTEN
@given(seed=st.integers(0, 1 << 40), damage=st.data())
def test_a_damaged_byte_of_the_notes(form: str, seed: int, damage: st.DataObject, tmp_path_factory: Any) -> None:
    task = TASKS["date"]
    notes, records = corpus(task, seed)
    said, found = FORMS[form](notes, False).encode(), FORMS[form](records, True).encode()
    one, other, _ = both_ways(tmp_path_factory.mktemp("one", numbered=True), task, damaged(said, damage), found)
    must_agree(one, other)


def damaged(written: bytes, damage: st.DataObject) -> bytes:
    """A byte replaced, put in or left out."""
    at = damage.draw(st.integers(0, len(written) - 1))
    kind = damage.draw(st.integers(0, 2))
    put = damage.draw(st.sampled_from([*b'0123456789"\\,:{}[] \n\t.eu-anul', 0, 0x1F, 0x7F, 0x80, 0xC3, 0xED, 0xFF]))
    return written[:at] + bytes([put]) * (kind < 2) + written[at + (kind > 0) :]


def test_the_kernel_is_here() -> None:
    """Where tests run there is a compiler; else the comparisons would compare the decoder with itself."""
    assert kernel() is not None


def test_most_of_it_is_taken(tmp_path: Path) -> None:
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


def test_a_record_over_two_lines_is_no_line(tmp_path: Path) -> None:
    """Wherever white space may stand in JSON, a line feed ends a line."""
    task = TASKS["address"]
    notes, records = next(made for seed in range(99) if len((made := corpus(task, seed))[1][0][task.array]) > 20)
    written = FORMS["lines"](records, False).encode()
    comma = written.index(b",", written.rindex(b"{", 0, written.index(b"\n")))
    one, other, _ = both_ways(tmp_path, task, notes, written[:comma] + b",\n" + written[comma + 1 :])
    assert other.findings["predictions"].counts["json"]
    must_agree(one, other)


def near_half(mantissa: int, power: int, places: int, beside: int) -> Decimal:
    """The decimal that is nearest to the middle between two doubles, or one beside it."""
    with localcontext(prec=100):
        unit = Decimal(1).scaleb(-places)
        return (Decimal(2 * mantissa + 1) / (1 << power)).quantize(unit) + beside * unit


HALVES = st.builds(
    near_half, st.integers(1 << 52, (1 << 53) - 1), st.integers(48, 56), st.integers(12, 17), st.integers(-1, 1)
)


@pytest.mark.parametrize(
    "numbers", [st.floats(0, 100), HALVES, *(st.decimals(0, 100, places=places) for places in (9, 15, 18, 19, 22, 40))]
)
@OFTEN
@given(data=st.data())
def test_decimals_are_what_python_makes_of_them(numbers: Any, data: st.DataObject, tmp_path_factory: Any) -> None:
    """Python reads decimals to the nearest double, half to even."""
    task = TASKS["date"]
    written = [str(number) for number in data.draw(st.lists(numbers, min_size=1, max_size=50))]
    rows = ",".join(f'{{"start":{i},"length":1,"text":"a","confidence":{one}}}' for i, one in enumerate(written))
    record = f'{{"annotationSource":{{"resourceSource":{{"name":"n"}}}},"{task.array}":[{rows}]}}'
    folder = tmp_path_factory.mktemp("one", numbered=True)
    one, _, taken = both_ways(folder, task, [{"identifier": "n", "text": "a" * 50}], f"[{record}]".encode())
    assert one.columns["predictions"].confidence.tolist() == [*map(float, written)]
    assert taken == [len(written)]


@pytest.mark.parametrize(
    "written", ["00", "01", "", "2147483648", "99999999999", "-1", "-0", "1.0", "1e0", "+1", "0x1"]
)
def test_what_is_no_whole_number_of_ours_is_refused(written: str, tmp_path: Path) -> None:
    must_take(written, 0, tmp_path)


@pytest.mark.parametrize("written", ["0", " 1 ", "2147483647"])
def test_whole_numbers_are_taken(written: str, tmp_path: Path) -> None:
    must_take(written, 1, tmp_path)


def must_take(written: str, taken: int, tmp_path: Path) -> None:
    task = TASKS["date"]
    row = f'{{"start":{written},"length":1,"text":"a"}}'
    record = f'[{{"annotationSource":{{"resourceSource":{{"name":"n"}}}},"{task.array}":[{row}]}}]'
    one, other, found = both_ways(tmp_path, task, [{"identifier": "n", "text": "a"}], record.encode())
    must_agree(one, other)
    assert found == [1] * taken


@pytest.mark.parametrize("words", range(9))
def test_words_of_short_texts(words: int, tmp_path: Path) -> None:
    """Whether few or more of them than are taken at once; blanks in front, behind, and two together too."""
    task, text = TASKS["date"], " ".join("abcdefgh"[:words])
    texts = [f" {text}", f"{text} ", text.replace("c", " c") or "a", f"{text} and so on, for longer than one look"]
    starts = [sum(len(one) + 1 for one in texts[:number]) for number in range(len(texts))]
    rows = [{"start": at, "length": len(one), "text": one} for at, one in zip(starts, texts, strict=True)]
    said = [{"annotationSource": {"resourceSource": {"name": "n"}}, task.array: rows}]
    notes = [{"identifier": "n", "text": "|".join(texts)}]
    one, other, taken = both_ways(tmp_path, task, notes, json.dumps(said).encode())
    must_agree(one, other)
    assert taken == [len(rows)]
    tokens = one.columns["predictions"].tokens
    assert tokens is not None
    assert tokens.words.tolist() == [len(text.split()) for text in texts]


@pytest.mark.parametrize("written", ["7", "0", "100", "100.0", "1e2", "1E1", "0.5", "0e0", "99.9999999999999"])
def test_confidences_however_they_are_written(written: str, tmp_path: Path) -> None:
    assert confidences(written, tmp_path) == [float(written)]


@pytest.mark.parametrize("written", ["07", "00", "101", "1.", "1e", "9999999", "12345678", "-1", "+1", "1x"])
def test_what_is_no_confidence_is_refused(written: str, tmp_path: Path) -> None:
    assert confidences(written, tmp_path) == []


def confidences(written: str, tmp_path: Path) -> list[float]:
    """What the kernel takes."""
    task = TASKS["date"]
    row = f'{{"start":0,"length":1,"text":"a","confidence":{written}}}'
    record = f'[{{"annotationSource":{{"resourceSource":{{"name":"n"}}}},"{task.array}":[{row}]}}]'
    one, other, taken = both_ways(tmp_path, task, [{"identifier": "n", "text": "a"}], record.encode())
    must_agree(one, other)
    found: list[float] = one.columns["predictions"].confidence.tolist()
    return found if taken else []


def test_half_a_surrogate_is_left_to_the_decoder(tmp_path: Path) -> None:
    task = TASKS["person-name"]
    notes = [{"identifier": "n", "text": "a\ud800b"}]
    rows = [{"start": start, "length": 2, "text": text} for start, text in enumerate(("a\ud800", "\ud800b", "xx"))]
    records = [{"annotationSource": {"resourceSource": {"name": "n"}}, task.array: rows}]
    one, other, taken = both_ways(tmp_path, task, notes, json.dumps(records).encode())
    must_agree(one, other)
    assert not taken


@pytest.mark.parametrize("between", ['"', '" ', '"\n', '""', '":"', '"::"', '"textDateAnnotations"'])
def test_a_name_without_its_value_is_refused(between: str, tmp_path: Path) -> None:
    task = TASKS["date"]
    rows = f'{task.array}":[{{"start":0,"length":1,"text":"a"}}]'
    record = f'[{{"annotationSource{between}{rows},"annotationSource":{{"resourceSource":{{"name":"n"}}}}}}]'
    one, other, taken = both_ways(tmp_path, task, [{"identifier": "n", "text": "a"}], record.encode())
    assert one.findings["predictions"].counts["json"] + one.findings["predictions"].counts["schema"]
    must_agree(one, other)
    assert not taken


@pytest.mark.parametrize(("first", "taken"), [(0, [20_000]), (19_970, [])])
def test_a_block_is_not_read_again_and_again(first: int, taken: list[int], tmp_path: Path) -> None:
    """Thirty labels that nobody knows have it read so often; where they all stand at its end it is decoded instead."""
    task = TASKS["date"]
    rows = [{"start": i, "length": 1, "text": "a", "dateFormat": "Y"} for i in range(20_000)]
    for i, row in enumerate(rows[first : first + 30]):
        row["dateFormat"] = f"Y{i}"
    records = [{"annotationSource": {"resourceSource": {"name": "n"}}, task.array: rows}]
    written = json.dumps(records).encode()
    one, other, found = both_ways(tmp_path, task, [{"identifier": "n", "text": "a" * 20_000}], written)
    must_agree(one, other)
    assert found == taken
