"""Rank sets and tie groups, worked out by hand."""

import numpy as np
import pytest

from sandscore.ranking.pair_tests import PairTests, rank_sets, tie_groups
from sandscore.records.ranking_rules import TieRule

# Best first: a and b tied, c behind a only, d behind a and b and c.
ADJUSTED = {(0, 1): 0.6, (0, 2): 0.05, (0, 3): 0.01, (1, 2): 0.2, (1, 3): 0.03, (2, 3): 0.04}


def test_rank_sets() -> None:
    assert rank_sets([0, 1, 2, 3], PairTests({}, ADJUSTED)) == {0: (1, 2), 1: (1, 3), 2: (2, 3), 3: (4, 4)}


def test_rank_sets_do_not_depend_on_who_is_which_number() -> None:
    swapped = {(0, 1): 0.6, (1, 2): 0.05, (1, 3): 0.01, (0, 2): 0.2, (0, 3): 0.03, (2, 3): 0.04}
    assert rank_sets([1, 0, 2, 3], PairTests({}, swapped)) == {1: (1, 2), 0: (1, 3), 2: (2, 3), 3: (4, 4)}


def test_a_pair_that_was_not_tested_is_not_separated() -> None:
    assert rank_sets([0, 1], PairTests()) == {0: (1, 2), 1: (1, 2)}


WINS = np.array([[0.5, 0.7, 0.8, 0.99], [0.3, 0.5, 0.6, 0.9], [0.2, 0.4, 0.5, 0.7], [0.01, 0.1, 0.3, 0.5]])


@pytest.mark.parametrize(
    ("rule", "groups"),
    [
        pytest.param("holm", [1, 1, 2, 3], id="holm: c opens a group, d is separated from c"),
        pytest.param("dream_k3", [1, 1, 2, 2], id="K of a over c is 4, of c over d 2.3"),
        pytest.param("dream_k19", [1, 1, 1, 2], id="only d is beaten 19 to 1"),
    ],
)
def test_groups_are_opened_by_their_first_row(rule: TieRule, groups: list[int]) -> None:
    made = tie_groups([0, 1, 2, 3], [True] * 4, rule, PairTests({}, ADJUSTED), WINS, 10_000)
    assert [made[s] for s in range(4)] == groups


def test_rows_without_a_score_are_a_group_of_their_own() -> None:
    made = tie_groups([0, 1, 2], [True, False, False], "holm", PairTests(), np.full((3, 3), 0.5), 100)
    assert made == {0: 1, 1: 2, 2: 2}
