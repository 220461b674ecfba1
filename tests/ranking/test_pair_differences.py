"""Differences of pairs: numpy's quantiles of the resampled differences, and patients counted by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_cards import drawn_rows, entry

from sandscore.ranking.analysis import replicate_scores
from sandscore.ranking.board_building import rank
from sandscore.ranking.score_table import tabulate
from sandscore.records.board import Board
from sandscore.records.ranking_rules import BoardRules

RULES = BoardRules(resamples=137, randomisations=199)


def test_the_interval_holds_the_middle_of_the_resampled_differences() -> None:
    entries = [entry(f"s{at}", drawn_rows(0.6 + 0.07 * at, 25, at)) for at in range(4)]
    board, table = rank(entries, RULES), tabulate(entries)
    drawn = replicate_scores(table, RULES, int(board.seed, 16))
    for pair in board.pairwise:
        ahead = drawn[table.systems.index(pair.a)] - drawn[table.systems.index(pair.b)]
        assert pair.delta_ci == pytest.approx(np.quantile(ahead, [0.025, 0.975], method="linear"), abs=1e-15)


def test_patients_by_hand() -> None:
    """Patient 1: 2/3 against 1/2. 2: both find nothing. 3: b marks what is not there, a rightly nothing. 4: 4/5 both,
    by other counts. 5: neither has anything to say. 6: only b finds it."""
    a = [(1, 1, 0), (0, 1, 1), (0, 0, 0), (2, 1, 0), (0, 0, 0), (0, 0, 1)]
    b = [(1, 1, 1), (0, 0, 3), (0, 1, 0), (4, 1, 1), (0, 0, 0), (1, 0, 0)]
    board = rank([entry("a", a), entry("b", b)], RULES)
    (pair,) = board.pairwise
    assert (pair.a, pair.patients) == ("b", (1, 3, 2))


def test_patients_may_have_several_notes() -> None:
    """Together 2/3 against 2/4, though b is better in one of the two notes."""
    a, b = [(1, 0, 0), (0, 1, 0)], [(0, 0, 1), (1, 1, 0)]
    board = rank([entry(name, rows, patients=["p", "p"]) for name, rows in (("a", a), ("b", b))], RULES)
    assert [(pair.a, pair.patients) for pair in board.pairwise] == [("a", (1, 0, 0))]


ROWS = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3))] * 2), min_size=1, max_size=8
)


@given(ROWS)
def test_patients_are_compared_as_fractions(drawn: list[tuple[tuple[int, int, int], tuple[int, int, int]]]) -> None:
    def score(tp: int, fp: int, fn: int) -> Fraction:
        return Fraction(2 * tp, 2 * tp + fp + fn) if tp or fp or fn else Fraction(1)

    sides = {name: [row[at] for row in drawn] for at, name in enumerate("ab")}
    board = rank([entry(name, rows) for name, rows in sides.items()], RULES.model_copy(update={"resamples": 100}))
    (pair,) = board.pairwise
    scores = [(score(*a), score(*b)) for a, b in zip(sides[pair.a], sides[pair.b], strict=True)]
    won, lost = sum(a > b for a, b in scores), sum(a < b for a, b in scores)
    assert pair.patients == ((won, len(scores) - won - lost, lost) if pair.delta is not None else None)


def both(**rules: object) -> Board:
    entries = [
        entry(f"s{at}", {name: drawn_rows(0.6 + 0.1 * at, 25, at + more) for more, name in enumerate(("x", "y"))})
        for at in range(3)
    ]
    return rank(entries, RULES.model_copy(update={"headline": "x", **rules}))


def test_what_is_made_of_ranks_or_of_several_measures_is_of_no_patient() -> None:
    borda = both(aggregation="borda", measures={"x": 1, "y": 1}).pairwise
    assert all(pair.patients is None and pair.delta_ci is not None for pair in borda)
    ordered = both(aggregation="lexicographic", measures={"x": 1, "y": 1}).pairwise
    assert all(pair.patients is None and pair.delta_ci is None for pair in ordered)


def test_a_row_without_a_score_has_no_differences() -> None:
    entries = [entry("a", drawn_rows(0.8, 10, 1)), entry("b", drawn_rows(0.7, 10, 2)), entry("c", [(0, 0, 0)] * 10)]
    board = rank(entries, RULES)
    known = {(pair.a, pair.b): pair.delta_ci is not None for pair in board.pairwise}
    assert known == {(pair.a, pair.b): pair.patients is not None for pair in board.pairwise}
    assert known == {("a", "b"): True, ("a", "c"): False, ("b", "c"): False}
