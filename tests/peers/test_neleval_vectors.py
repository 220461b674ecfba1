"""The profiles ``neleval`` and ``semeval`` against recorded runs of neleval 3.1.1 and nervaluate 1.2.1."""

import json
from pathlib import Path
from typing import Any

import pytest
from peers.mentions import evaluate
from peers.vectors import cases

from sandscore.profiles.neleval import neleval_profile
from sandscore.profiles.semeval import semeval_profile

CASES = cases("neleval")
GROUPS = {"expected_by_doc": "doc", "expected_by_type": "type"}


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    path: Path = request.param
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


def test_no_recorded_answer_goes_unread(case: dict[str, Any]) -> None:
    answers = {key for key in case if key.startswith("expected")}
    assert answers <= {"expected", "expected_tab", *GROUPS}
    assert answers or _runs(case)


def test_measures_and_table_are_nelevals(case: dict[str, Any]) -> None:
    result = evaluate(neleval_profile.NelevalScorer, case["gold"], case["prediction"])
    rows = result.details["rows"]
    expected, printed = case.get("expected", {}), case.get("expected_tab")
    assert {name: rows.get(name) for name in expected} == expected
    if printed is None:
        return
    if isinstance(printed, dict):
        assert (result.details["error"], result.table) == (printed["error"], "")
    else:
        assert _table(result.table, printed) == printed


def test_groups_and_their_averages_are_nelevals(case: dict[str, Any]) -> None:
    for key in GROUPS.keys() & case.keys():
        expected = case[key]
        result = evaluate(neleval_profile.NelevalScorer, case["gold"], case["prediction"], by=GROUPS[key])
        if "error" in expected:
            assert _unordered(result.details["error"]) == _unordered(expected["error"])
            assert result.table == ""
            continue
        asked = {name.partition(";")[0] for name in expected}
        rows = result.details["rows"]
        assert {k: row for k, row in rows.items() if k.partition(";")[0] in asked} == expected


def test_schemas_are_nervaluates(case: dict[str, Any]) -> None:
    for recorded in _runs(case):
        result = evaluate(
            semeval_profile.NervaluateScorer,
            case["gold"],
            case["prediction"],
            _documents(case, recorded.get("doc_order", "all")),
            min_overlap_percentage=recorded.get("min_overlap_percentage", 1.0),
        )
        if "error" in recorded:
            assert result.details["error"] == recorded["error"]
            continue
        assert sorted(result.details["entities"]) == sorted(recorded["tags"])
        ours = {
            "overall": _own(result.measures),
            "entities": result.details["entities"],
            "overall_indices": _listed(result.details["overall_indices"]),
        }
        assert {k: v for k, v in ours.items() if k in recorded} == {k: v for k, v in recorded.items() if k in ours}


def _runs(case: dict[str, Any]) -> list[dict[str, Any]]:
    return [answer for key, answer in case.items() if key.startswith("nervaluate")]


def _own(measures: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Without the counts that nervaluate does not have."""
    added = {"tp", "fp", "fn"}
    return {name: {k: v for k, v in row.items() if k not in added} for name, row in measures.items()}


def _listed(indices: dict[str, dict[str, list[tuple[int, int]]]]) -> dict[str, dict[str, list[list[int]]]]:
    """As JSON holds them."""
    return {
        schema: {kind: [list(place) for place in places] for kind, places in kinds.items()}
        for schema, kinds in indices.items()
    }


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
