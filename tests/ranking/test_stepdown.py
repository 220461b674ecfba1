"""The stepdown against plain loops over the same coins, against all coins there are, and what it promises."""

import itertools
import resource
import time

import numpy as np
import pytest
import slow_board
from ranking_cards import drawn_rows
from scipy import stats

from sandscore.base.errors import UsageFault
from sandscore.ranking.stepdown import MOST_SUMS, stepdown

Rows = list[tuple[int, int, int]]


def all_pairs(systems: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(systems), 2))


def sides(counts: np.ndarray, blocks: list[slice]) -> list[list[tuple[list[int], list[int]]]]:
    return [[((2 * rows[:, 0]).tolist(), (rows @ [2, 1, 1]).tolist()) for rows in counts[:, block]] for block in blocks]


@pytest.mark.parametrize("cut", [(), (30,), (10, 47)], ids=["one site", "two sites", "three sites"])
@pytest.mark.parametrize(("systems", "spread"), [(2, 0.05), (5, 0.0), (6, 0.06)])
def test_as_the_slow_one(cut: tuple[int, ...], systems: int, spread: float) -> None:
    counts = np.array([drawn_rows(0.8 - spread * i, 70, i) for i in range(systems)])
    if systems == 6:
        counts[5] = counts[4]
    blocks = [slice(a, b) for a, b in itertools.pairwise((0, *cut, 70))]
    made = stepdown(counts, blocks, all_pairs(systems), seed=9, draws=199)
    p, adjusted = slow_board.stepdown(sides(counts, blocks), 9, 199)
    assert made.p == p
    assert made.adjusted == adjusted
    assert all(made.p[pair] <= made.adjusted[pair] <= 1 for pair in p)


def test_a_site_without_anything_is_not_tested() -> None:
    counts = np.array([drawn_rows(0.8, 40, i) for i in range(3)])
    counts[1, :10] = 0
    blocks = [slice(0, 10), slice(10, 40)]
    made = stepdown(counts, blocks, all_pairs(3), seed=1, draws=99)
    assert set(made.p) == set(made.adjusted) == {(0, 2)}
    assert slow_board.stepdown(sides(counts, blocks), 1, 99) == (made.p, made.adjusted)


@pytest.mark.parametrize("seed", range(3))
def test_one_pair_against_all_coins_there_are(seed: int) -> None:
    """Ten patients have 1,024 ways to fall; the share of those that reach what was seen is p, but for chance."""
    counts = np.array([drawn_rows(0.9, 10, seed), drawn_rows(0.6, 10, seed + 50)])
    up, down = 2 * counts[..., 0], counts @ [2, 1, 1]
    share = up.sum() / down.sum()
    lead = up[0] - up[1] - share * (down[0] - down[1])
    reached = [abs(np.dot(ways, lead)) >= abs(lead.sum()) - 1e-9 for ways in itertools.product((-1, 1), repeat=10)]
    truth, draws = float(np.mean(reached)), 99_999
    made = stepdown(counts, [slice(0, 10)], [(0, 1)], seed, draws)
    assert made.p == made.adjusted
    assert made.p[0, 1] == pytest.approx(truth, abs=5 * np.sqrt(truth * (1 - truth) / draws) + 2 / draws)


def test_by_hand() -> None:
    """Four patients, one annotation each; a finds all, b none, c all but the last.

    a and b: up differs by 2, down by 1 in every patient; together they score 8/12, so a patient weighs 2 − 2/3. Only
    two of sixteen ways to fall put all four on one side: p is 1/8. a and c differ in one patient alone, which is always
    on one side: p is 1. b and c differ in three: two of eight, p is 1/4, and weigh as much as a and b do less a
    quarter. In their own units all three reach their largest value, 1: whatever way the coins fall, a and c reach it,
    and so every adjusted p is 1.
    """
    hit, miss = (1, 0, 0), (0, 0, 1)
    counts = np.array([[hit] * 4, [miss] * 4, [hit] * 3 + [miss]])
    made = stepdown(counts, [slice(0, 4)], all_pairs(3), 5, 99_999)
    assert made.p == {(0, 1): pytest.approx(1 / 8, abs=0.01), (0, 2): 1.0, (1, 2): pytest.approx(1 / 4, abs=0.01)}
    assert made.adjusted == {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}
    alone = stepdown(counts[:2], [slice(0, 4)], [(0, 1)], 5, 99_999)
    assert alone.adjusted == {(0, 1): made.p[0, 1]}


def test_copies_are_never_told_apart_and_cost_nobody_anything() -> None:
    """A pair of copies has no unit; a third system is told from them as if there were one."""
    counts = np.array([drawn_rows(0.9, 60, 1), drawn_rows(0.9, 60, 1), drawn_rows(0.7, 60, 2)])
    made = stepdown(counts, [slice(0, 60)], all_pairs(3), 3, 999)
    assert (made.p[0, 1], made.adjusted[0, 1]) == (1.0, 1.0)
    one = stepdown(counts[1:], [slice(0, 60)], [(0, 1)], 3, 999)
    assert made.adjusted[0, 2] == made.adjusted[1, 2] == one.adjusted[0, 1]


def test_the_order_of_systems_changes_nothing() -> None:
    counts = np.array([drawn_rows(0.85 - 0.03 * i, 64, i) for i in range(6)])
    order = np.random.default_rng(4).permutation(6)
    made, turned = (stepdown(of, [slice(0, 64)], all_pairs(6), 7, 499) for of in (counts, counts[order]))
    for (a, b), value in turned.adjusted.items():
        key = (min(order[a], order[b]), max(order[a], order[b]))
        assert (value, turned.p[a, b]) == (made.adjusted[key], made.p[key])


def test_a_rate_of_errors_is_tested_as_the_share_of_what_is_right() -> None:
    """n of m and m − n of m: the difference only changes its sign."""
    stream = np.random.default_rng(8)
    whole = stream.integers(1, 9, 50)
    right = stream.binomial(whole, [[0.9], [0.8], [0.85], [0.6]])
    boards = [np.stack([n, whole - n, whole - n], axis=-1) for n in (right, whole - right)]
    made, mirrored = (stepdown(of, [slice(0, 50)], all_pairs(4), 2, 999) for of in boards)
    assert made == mirrored


def test_whole_numbers_beyond_single_precision() -> None:
    counts = np.array([drawn_rows(0.8, 40, i) for i in (1, 2, 3)])
    small, large = (stepdown(counts * by, [slice(0, 40)], all_pairs(3), 5, 999) for by in (1, 1_000_003))
    assert small == large


def test_few_boards_of_equals_separate_anybody() -> None:
    """Of 100 boards of eight equals at most ten separate anybody, at 5 % each, in 98 of 100 tries."""
    stream, wrong = np.random.default_rng(2026), 0
    pairs = all_pairs(8)
    for board in range(100):
        gold = stream.poisson(6, 80)
        tp = stream.binomial(gold, 0.8, (8, 80))
        counts = np.stack([tp, stream.poisson(0.8, tp.shape), gold - tp], axis=-1)
        wrong += min(stepdown(counts, [slice(0, 80)], pairs, board, 999).adjusted.values()) <= 0.05
    assert wrong <= stats.binom.ppf(0.98, 100, 0.05) == 10


def test_what_does_not_fit_is_said() -> None:
    counts = np.ones((2, 3, 3), np.int64)
    with pytest.raises(UsageFault, match="do not fit; tie_rule = 'holm' can"):
        stepdown(counts, [slice(0, 3)], [(0, 1)], 1, MOST_SUMS)


@pytest.mark.slow
def test_a_hundred_systems_on_five_hundred_patients() -> None:
    """In 3 seconds of CPU and 300 MB: a second pass over the draws instead of 4,950 × 9,999 numbers (400 MB)."""
    stream = np.random.default_rng(1)
    gold = stream.poisson(6, 500)
    tp = stream.binomial(gold, 0.8, (100, 500))
    counts = np.stack([tp, stream.poisson(0.8, tp.shape), gold - tp], axis=-1)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    made = stepdown(counts, [slice(0, 500)], all_pairs(100), 1)
    took, grown = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(made.adjusted) == 4_950
    assert grown < 200 << 10
    assert took < 6, "twice what it takes where nobody else works"
