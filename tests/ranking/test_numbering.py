"""Exact order and its numbers."""

from fractions import Fraction

import pytest

from sandscore.optional_rules.joined_scores import mean_ranks
from sandscore.ranking.exact_order import f1_fraction, number, sort_key
from sandscore.records.ranking_rules import Numbering


@pytest.mark.parametrize(
    ("numbering", "expected"),
    [
        pytest.param("competition", [1, 2, 2, 4, 5, 5, 5], id="competition"),
        pytest.param("dense", [1, 2, 2, 3, 4, 4, 4], id="dense"),
        pytest.param("average", [1, 2.5, 2.5, 4, 6, 6, 6], id="average"),
    ],
)
def test_numbering(numbering: Numbering, expected: list[float]) -> None:
    assert number(["a", "b", "b", "c", "d", "d", "d"], numbering) == expected


def test_nobody_has_no_rank() -> None:
    assert number([], "competition") == []


def test_scores_that_are_one_float_are_still_told_apart() -> None:
    a, b = f1_fraction(10**9, 1, 0), f1_fraction(10**9 + 1, 1, 0)
    assert a is not None
    assert b is not None
    assert float(a) == float(b)
    assert sort_key((b,)) < sort_key((a,))


def test_equal_fractions_of_different_counts_are_equal() -> None:
    assert sort_key((f1_fraction(1, 1, 1),)) == sort_key((f1_fraction(500, 400, 600),))


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_undefined_comes_last_in_either_direction(higher_is_better: bool) -> None:
    scores = [None, (Fraction(0),), (Fraction(1),), None]
    ordered = sorted(scores, key=lambda score: sort_key(score, higher_is_better))
    assert ordered[2:] == [None, None]
    assert ordered[0] == (Fraction(1 if higher_is_better else 0),)
    keys = [sort_key(score, higher_is_better) for score in ordered]
    assert number(keys, "competition") == [1, 2, 3, 3]


def test_mean_ranks_share_ties() -> None:
    scores = [Fraction(1, 2), Fraction(3, 4), Fraction(1, 2), None]
    assert mean_ranks(scores) == [Fraction(5, 2), 1, Fraction(5, 2), None]
