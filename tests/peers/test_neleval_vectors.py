"""The profiles ``neleval`` and ``semeval`` against recorded runs of neleval 3.1.1 and nervaluate 1.2.1."""

import json
from pathlib import Path
from typing import Any

import pytest
from peers.mentions import evaluate
from peers.vectors import cases

from sandscore.measuring.profiles import neleval, semeval

CASES = cases("neleval")
RUNS = ("nervaluate", "nervaluate_min_overlap_50")
CHECKED = {"expected", "expected_tab", "expected_by_doc", "expected_by_type", *RUNS}
INPUT = {"name", "note", "gold", "prediction", "peers"}


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    path: Path = request.param
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_nothing_recorded_goes_unchecked(case: dict[str, Any]) -> None:
    assert case.keys() - INPUT <= CHECKED
    assert case.keys() & CHECKED


def test_measures_and_table_are_nelevals(case: dict[str, Any]) -> None:
    result = evaluate(neleval, case["gold"], case["prediction"])
    rows = result.details["rows"]
    assert {name: rows.get(name) for name in case["expected"]} == case["expected"]
    printed = case["expected_tab"]
    if isinstance(printed, dict):
        assert (result.details["error"], result.table) == (printed["error"], "")
    else:
        assert _table(result.table, printed) == printed


@pytest.mark.parametrize("by", ["doc", "type"])
def test_groups_and_their_averages_are_nelevals(case: dict[str, Any], by: str) -> None:
    expected = case[f"expected_by_{by}"]
    result = evaluate(neleval, case["gold"], case["prediction"], by=by)
    if "error" in expected:
        assert _unordered(result.details["error"]) == _unordered(expected["error"])
        assert result.table == ""
        return
    asked = {name.partition(";")[0] for name in expected}
    rows = {k: row for k, row in result.details["rows"].items() if k.partition(";")[0] in asked}
    assert rows == expected


@pytest.mark.parametrize("run", RUNS)
def test_schemas_are_nervaluates(case: dict[str, Any], run: str) -> None:
    recorded = case[run]
    result = evaluate(
        semeval,
        case["gold"],
        case["prediction"],
        _documents(case, recorded["doc_order"]),
        min_overlap_percentage=recorded["min_overlap_percentage"],
    )
    own = {"tp", "fp", "fn"}
    overall = {k: {c: v for c, v in row.items() if c not in own} for k, row in result.measures.items()}
    assert overall == recorded["overall"]
    assert sorted(result.details["entities"]) == recorded["tags"]
    indices = {
        schema: {kind: [list(place) for place in places] for kind, places in kinds.items()}
        for schema, kinds in result.details["overall_indices"].items()
    }
    for key, ours in (("entities", result.details["entities"]), ("overall_indices", indices)):
        if key in recorded:
            assert ours == recorded[key]


def _table(table: str, printed: list[str]) -> list[str]:
    """The header and the recorded measures' lines; a recording may have asked for fewer than there are."""
    asked = {line.rpartition("\t")[2] for line in printed}
    return [line for line in table.split("\n") if line.rpartition("\t")[2] in asked]


def _unordered(message: str) -> list[str]:
    """The words of an error; which of two values that cannot be compared it names first is chance there."""
    return sorted(message.split())


def _documents(case: dict[str, Any], order: list[str] | str) -> list[str]:
    """The recorded order, or all ids sorted where the recording says just that."""
    if isinstance(order, list):
        return order
    return sorted({mention["doc"] for side in ("gold", "prediction") for mention in case[side]})
