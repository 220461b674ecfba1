"""Approximate randomisation against exact p over all 2^n swaps, in fractions."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from ranking_cards import drawn_rows

from sandscore.optional_rules.pair_p_values import paired_bootstrap_p, randomisation_p
from sandscore.ranking.pair_tests import draws_for

Rows = list[tuple[int, int, int]]


def f1(rows: Rows) -> Fraction | None:
    tp, fp, fn = (sum(column) for column in zip(*rows, strict=True))
    return Fraction(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else None


def exact_p(a: Rows, b: Rows, blocks: list[slice]) -> float:
    """The share of swaps whose mean difference over the blocks is at least the observed one."""

    def difference(a: Rows, b: Rows) -> Fraction | None:
        parts = [(f1(a[block]), f1(b[block])) for block in blocks]
        if any(one is None or two is None for one, two in parts):
            return None
        return abs(sum((one - two for one, two in parts if one is not None and two is not None), Fraction(0)))

    observed = difference(a, b)
    assert observed is not None
    reached = 0
    for swaps in itertools.product((False, True), repeat=len(a)):
        pairs = [(y, x) if swap else (x, y) for swap, x, y in zip(swaps, a, b, strict=True)]
        shuffled = difference([x for x, _ in pairs], [y for _, y in pairs])
        reached += shuffled is None or shuffled >= observed
    return float(reached / 2 ** len(a))


SURE: Rows = [(5, 0, 0), (4, 1, 0), (3, 0, 1), (6, 0, 0), (2, 0, 0)]
POOR: Rows = [(3, 1, 2), (2, 1, 2), (2, 2, 2), (4, 2, 2), (2, 1, 0)]
HIT, MISS = (1, 0, 0), (0, 0, 1)
CASES: dict[str, tuple[Rows, Rows]] = {
    "clear": (SURE, POOR),
    "close": ([(5, 0, 1), (4, 1, 0), (3, 0, 1), (6, 0, 0)], [(5, 1, 1), (3, 1, 1), (4, 0, 0), (6, 1, 0)]),
    "ties among swaps": ([HIT, HIT, MISS, HIT, MISS], [MISS, HIT, HIT, MISS, MISS]),
    "sometimes undefined": ([HIT, (0, 0, 0), (0, 0, 0)], [(0, 1, 0), (0, 0, 0), (0, 1, 1)]),
    "one never predicts": ([(0, 0, 2), (0, 0, 1), (0, 0, 3)], [(2, 0, 0), (1, 0, 0), (1, 0, 2)]),
    "nine units": (drawn_rows(0.9, 9, 1), drawn_rows(0.7, 9, 2)),
}


@pytest.mark.parametrize("blocks", [1, 2], ids=["pooled", "mean of two data sets"])
@pytest.mark.parametrize("case", CASES)
def test_agrees_with_all_swaps(case: str, blocks: int) -> None:
    a, b = CASES[case]
    cut = [0, len(a)] if blocks == 1 else [0, len(a) - 2, len(a)]
    where = [slice(x, y) for x, y in itertools.pairwise(cut)]
    if any(f1(side[block]) is None for side in (a, b) for block in where):
        where = [slice(0, len(a))]
    draws = 99_999
    made = randomisation_p(np.array([a, b]), where, [(0, 1)], seed=3, draws=draws)[0, 1]
    truth = exact_p(a, b, where)
    assert made == pytest.approx(truth, abs=5 * np.sqrt(truth * (1 - truth) / draws) + 2 / draws)


def test_many_pairs_share_the_coins() -> None:
    """A pair's p does not depend on who else is on the board."""
    counts = np.array([drawn_rows(0.75 + 0.02 * i, 70, i) for i in range(5)])
    pairs = list(itertools.combinations(range(5), 2))
    together = randomisation_p(counts, [slice(0, 70)], pairs, 8, 3_000)
    for pair in pairs:
        alone = randomisation_p(counts[list(pair)], [slice(0, 70)], [(0, 1)], 8, 3_000)
        assert alone[0, 1] == together[pair]


def test_exact_in_double_precision() -> None:
    """Counts beyond single precision's whole numbers: scaling every count leaves every F1, and so p."""
    counts = np.array([drawn_rows(0.8, 40, i) for i in (1, 2)])
    small, large = (randomisation_p(counts * by, [slice(0, 40)], [(0, 1)], 5, 2_000) for by in (1, 1_000_003))
    assert small == large


def test_never_zero_and_one_for_equals() -> None:
    far = np.array([[(9, 0, 0)] * 60, [(0, 9, 9)] * 60, [(9, 0, 0)] * 60])
    p = randomisation_p(far, [slice(0, 60)], [(0, 1), (0, 2)], 1, 999)
    assert p == {(0, 1): 1 / 1_000, (0, 2): 1.0}


@pytest.mark.parametrize(("pairs", "draws"), [(1, 9_999), (45, 9_999), (50, 9_999), (51, 10_199), (1_225, 244_999)])
def test_draws_let_holm_separate(pairs: int, draws: int) -> None:
    assert draws_for(pairs) == draws
    assert pairs / (draws + 1) <= 0.005


def test_paired_bootstrap_by_hand() -> None:
    """Observed 0.1; shifted to the null the replicates lie 0.1, 0, 0.1, undefined away: 3 of 4 reach it."""
    replicates = np.array([[0.7, 0.6, 0.5, np.nan], [0.5, 0.5, 0.5, 0.5]])
    assert paired_bootstrap_p(replicates, np.array([0.6, 0.5]), [(0, 1)]) == {(0, 1): pytest.approx(4 / 5)}
