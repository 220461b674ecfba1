"""Whatever way a file is read, it is accepted exactly when it is strict JSON that the published schema accepts."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from corpora import corpora, record
from example_numbers import up_to
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.task_table.task import TASKS, Task
from sandscore.task_table.task_schema import schema_of

ODD = st.sampled_from(
    ["1.0", "-0", "-1", "0", "1e2", "1e400", "2147483647", "2147483648", "9223372036854775808", "true", "null",
     "NaN", "-Infinity", '"a"', '""', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u0000"', '" City "', '"LOCATION-OTHER"',
     '"\u017ftreet"', '"\\u001dzip"', "[]", "{}", '{"a":1,"a":1}', "[" * 101 + "]" * 101, "100.0", "100.00001", "0.5"]
)  # fmt: skip
SLOWLY = settings(max_examples=up_to(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def strictly(text: str) -> Any:
    """An independent reading of strict JSON; ValueError where it is not."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise ValueError("duplicate key")
        return dict(pairs)

    def number(written: str) -> float:
        if math.isinf(float(written)):
            raise ValueError("infinite")
        return float(written)

    def never(word: str) -> float:
        raise ValueError(word)

    value = json.loads(text, object_pairs_hook=unique, parse_float=number, parse_constant=never)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    if depth(value) > 100:
        raise ValueError("deep")
    return value


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


def expected(task: Task, text: str) -> str | None:
    try:
        value = strictly(text)
    except (ValueError, RecursionError):
        return "json"
    return None if Draft202012Validator(schema_of(task)).is_valid(value) else "schema"


def read(tmp: Path, task: Task, text: str) -> ProblemCollector:
    path = tmp / "predictions.json"
    path.write_text(text, encoding="utf-8")
    return load_files(task, Inputs(predictions=path)).findings["predictions"]


@st.composite
def nearly_right(draw: st.DrawFn, task: Task) -> str:
    """A right file in which some value, key or member was made odd."""
    notes = draw(corpora(task, most_notes=3))
    text = json.dumps([record(task, n["id"], n["gold"]) for n in notes])
    for _ in range(draw(st.integers(0, 2))):
        places = [i for i, c in enumerate(text) if c == ":"]
        at = draw(st.sampled_from(places)) + 1 if places else 0
        text = draw(st.sampled_from([swap_value, add_member, swap_key]))(text, at, draw(ODD))
    return text


def swap_value(text: str, at: int, odd: str) -> str:
    try:
        end = at + 1 + json.JSONDecoder().raw_decode(text[at + 1 :])[1]
    except ValueError:
        return text
    return text[:at] + odd + text[end:]


def add_member(text: str, at: int, odd: str) -> str:
    start = text.rfind("{", 0, at)
    names = ["start", "st\\u0061rt", "text", "confidence", "annotationSource", "name", "extra", "dateFormat"]
    return text[: start + 1] + f'"{names[at % len(names)]}": {odd}, ' + text[start + 1 :]


def swap_key(text: str, at: int, odd: str) -> str:
    start = text.rfind('"', 0, at - 2)
    return text[: start + 1] + f"k{len(odd)}" + text[at - 2 :]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_accepts_what_the_schema_accepts(task: Task, data: st.DataObject, tmp_path_factory: Any) -> None:
    text = data.draw(nearly_right(task))
    found = read(tmp_path_factory.mktemp("one", numbered=True), task, text).counts
    wrong = expected(task, text)
    if wrong is None:
        assert not found["json"]
        assert not found["schema"]
    else:
        assert found[wrong]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_a_damaged_byte(task: Task, data: st.DataObject, tmp_path_factory: Any) -> None:
    text = data.draw(nearly_right(task))
    raw = bytearray(text.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("one", numbered=True) / "p.json"
    path.write_bytes(raw)
    found = load_files(task, Inputs(predictions=path)).findings["predictions"].counts
    try:
        wrong = expected(task, raw.decode())
    except UnicodeDecodeError:
        wrong = "json"
    assert bool(found["json"] or found["schema"]) == (wrong is not None)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_both_paths_give_the_same_columns(task: Task, data: st.DataObject, tmp_path_factory: Any) -> None:
    """An unknown property sends every record the long way round; nothing else may change."""
    notes = data.draw(corpora(task))
    records = [record(task, n["id"], n["gold"]) for n in notes]
    assume(any(n["gold"] for n in notes))
    columns = []
    for extra in ({}, {"comment": 1}):
        path = tmp_path_factory.mktemp("one", numbered=True) / "p.json"
        path.write_text(json.dumps([r | extra for r in records]), encoding="utf-8")
        columns.append(load_files(task, Inputs(predictions=path)).columns["predictions"])
    for name in ("note", "start", "length", "label", "confidence"):
        assert getattr(columns[0], name).tolist() == getattr(columns[1], name).tolist()
    first = [[c.text.tolist().index(t) for t in c.text.tolist()] for c in columns if c.text is not None]
    assert first[0] == first[1], "equal texts, equal numbers"
