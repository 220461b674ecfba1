"""nervaluate's rules and bugs on the smallest inputs; all numbers as nervaluate 1.2.1 gives them."""

from typing import Any

import pytest
from peers.mentions import evaluate, spans

from sandscore.profiles.semeval import semeval_profile

KINDS = ("correct", "incorrect", "partial", "missed", "spurious")


@pytest.mark.parametrize(
    ("gold", "predictions", "schema", "expected"),
    [
        pytest.param([(1, 10)], [(8, 20), (1, 10)], "strict", (0, 1, 0, 0, 1), id="robbed by an earlier one"),
        pytest.param([(1, 10)], [(1, 10), (8, 20)], "strict", (1, 0, 0, 0, 1), id="not by a later one"),
        pytest.param([(0, 9), (11, 20)], [(5, 15), (0, 9)], "strict", (0, 1, 0, 1, 1), id="gold ascending"),
        pytest.param([(11, 20), (0, 9)], [(5, 15), (0, 9)], "strict", (1, 1, 0, 0, 0), id="gold descending"),
        pytest.param([(0, 9), (11, 20)], [(5, 15), (0, 9)], "ent_type", (1, 0, 0, 1, 1), id="type ascending"),
        pytest.param([(0, 100)], [(100, 150)], "partial", (0, 0, 0, 1, 1), id="less than one percent"),
        pytest.param([(0, 99)], [(99, 150)], "partial", (0, 0, 1, 0, 0), id="one percent"),
        pytest.param([(1, 10, "A")], [(1, 10, "B")], "exact", (1, 0, 0, 0, 0), id="exact ignores labels"),
        pytest.param([(1, 5), (6, 10)], [(1, 10)], "ent_type", (1, 0, 0, 1, 0), id="one for two is one"),
        pytest.param([(1, 5)], [(5, 9)], "partial", (0, 0, 1, 0, 0), id="inclusive ends meet"),
        pytest.param([(1, 5)], [(6, 9)], "partial", (0, 0, 0, 1, 1), id="neighbours do not"),
    ],
)
def test_counts(gold: list[Any], predictions: list[Any], schema: str, expected: tuple[int, ...]) -> None:
    row = evaluate(semeval_profile.NervaluateScorer, spans(*gold), spans(*predictions)).measures[schema]
    assert tuple(row[kind] for kind in KINDS) == expected


def test_half_credit_survives_a_second_document() -> None:
    gold = [*spans((1, 10), doc="a"), *spans((1, 10), doc="b")]
    found = [*spans((1, 9), doc="a"), *spans((1, 10), doc="b")]
    row = evaluate(semeval_profile.NervaluateScorer, gold, found).measures["partial"]
    assert (row["precision"], row["recall"], row["f1"]) == (0.75, 0.75, 0.75)


def test_a_note_wide_prediction_passes_any_threshold() -> None:
    result = evaluate(semeval_profile.NervaluateScorer, spans((5, 6)), spans((1, 100)), min_overlap_percentage=100.0)
    assert result.measures["ent_type"]["correct"] == 1


def test_types_do_not_add_up_to_the_whole() -> None:
    result = evaluate(semeval_profile.NervaluateScorer, spans((1, 10, "A")), spans((1, 10, "B")))
    assert result.measures["strict"]["incorrect"] == 1
    assert result.details["entities"]["A"]["strict"]["missed"] == 1
    assert result.details["entities"]["B"]["strict"]["spurious"] == 1


def test_without_documents_there_is_no_schema() -> None:
    result = evaluate(semeval_profile.NervaluateScorer, [], [])
    assert result.measures == {}
    assert result.table.startswith("Scenario: all\n")
    assert any("no document" in warning for warning in result.warnings)


def test_a_note_without_annotations_is_a_document() -> None:
    assert evaluate(semeval_profile.NervaluateScorer, [], [], ["d"]).measures["strict"]["actual"] == 0


def test_counts_that_rank_add_up_over_notes() -> None:
    gold = [*spans((1, 10), (20, 25), doc="a"), *spans((1, 10), doc="b")]
    found = [*spans((1, 9), (20, 25), doc="a"), *spans((30, 40), doc="b")]
    result = evaluate(semeval_profile.NervaluateScorer, gold, found)
    assert result.per_note["a"]["strict"] == (1, 1, 1)
    assert result.per_note["b"]["strict"] == (0, 1, 1)
    assert "partial" not in result.per_note["a"]
    row = result.measures["strict"]
    assert (row["tp"], row["fp"], row["fn"]) == (1, 2, 2)


@pytest.mark.parametrize(
    ("gold", "predictions", "said"),
    [
        pytest.param(spans((1, 10)), spans((8, 20), (1, 10)), "another order", id="contested"),
        pytest.param([{"doc": "d", "start": 1, "end_inclusive": 2, "type": None}], [], "labelled NONE", id="no label"),
    ],
)
def test_what_misleads_is_said(gold: list[Any], predictions: list[Any], said: str) -> None:
    assert any(said in warning for warning in evaluate(semeval_profile.NervaluateScorer, gold, predictions).warnings)


def test_an_ordinary_input_has_no_warning() -> None:
    assert evaluate(semeval_profile.NervaluateScorer, spans((1, 10), (12, 14)), spans((1, 9), (12, 14))).warnings == ()


@pytest.mark.parametrize("length", [3, 60])
def test_a_chain_in_which_each_waits_for_the_one_before(length: int) -> None:
    """Prediction k meets gold k and k + 1 and takes the one listed first, of which k - 1 could have taken it too."""
    gold = spans(*[(10 * k, 10 * k + 9) for k in range(length + 1)])
    found = spans(*[(10 * k + 5, 10 * k + 14) for k in range(length)])
    row = evaluate(semeval_profile.NervaluateScorer, gold, found)
    assert tuple(row.measures["partial"][kind] for kind in KINDS) == (0, 0, length, 1, 0)
    assert row.details["overall_indices"]["partial"]["missed_indices"] == [(0, length)]
