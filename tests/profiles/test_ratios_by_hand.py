"""Ratios of other people's scorers from counts written down here."""

import pytest

from sandscore.profiles.neleval.neleval_rows import _macro
from sandscore.profiles.semeval.semeval_profile import metrics

COUNTS = {"correct": 3, "incorrect": 1, "partial": 2, "missed": 4, "spurious": 0}


@pytest.mark.parametrize(("schema", "credit"), [("partial", 4), ("ent_type", 4), ("strict", 3), ("exact", 3)])
def test_half_a_credit_for_a_partial_one(schema: str, credit: int) -> None:
    found = metrics(COUNTS, schema)
    assert (found["actual"], found["possible"]) == (6, 10)
    assert (found["precision"], found["recall"]) == (credit / 6, credit / 10)
    assert found["f1"] == pytest.approx(2 * credit / 16)


def test_over_nothing_stands_a_plain_zero() -> None:
    found = metrics(dict.fromkeys(COUNTS, 0), "strict")
    assert (found["precision"], found["recall"], found["f1"]) == (0, 0, 0)
    one = metrics(dict.fromkeys(COUNTS, 0) | {"spurious": 1}, "strict")
    assert (one["precision"], one["recall"], one["actual"], one["possible"]) == (0, 0, 1, 0)


def test_a_single_right_one_is_perfect() -> None:
    found = metrics(dict.fromkeys(COUNTS, 0) | {"correct": 1}, "strict")
    assert (found["precision"], found["recall"], found["f1"]) == (1, 1, 1)


def test_means_of_rows() -> None:
    rows = [dict.fromkeys(_macro([]), value) for value in (0.25, 0.75)]
    assert set(_macro(rows).values()) == {0.5}
    assert set(_macro([]).values()) == {None}
