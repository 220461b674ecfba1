"""Simultaneous intervals against a plain computation, and what they find and do not find where it is known."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, t

from sandscore.ranking.resampling import weights
from sandscore.slices.simultaneous import RESAMPLES, group_intervals

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
from slice_simulations import found_by_slice, found_on_copies, simulated

Counts = NDArray[np.int64]


def drawn_groups(seed: int, groups: int = 3, patients: int = 40) -> tuple[Counts, Counts]:
    draw = np.random.default_rng(seed)
    of = draw.integers(1, 12, (groups, patients))
    n = draw.binomial(of, np.linspace(0.6, 0.9, groups)[:, None])
    return np.vstack((n, n.sum(axis=0))), np.vstack((of, of.sum(axis=0)))


@pytest.mark.parametrize("seed", range(3))
def test_against_the_definition(seed: int) -> None:
    """Patient by patient in plain loops; quantiles by NumPy, Student's by SciPy."""
    n, of = drawn_groups(seed)
    times = np.concatenate([drawn for _, drawn in weights(seed, (40,), RESAMPLES, np.float64, 500)])
    rep = np.array([[(w * n[g]).sum() / (w * of[g]).sum() for w in times] for g in range(4)])
    y = n.sum(axis=1) / of.sum(axis=1)
    x, drawn = np.arcsin(np.sqrt(y)), np.arcsin(np.sqrt(rep))
    rare = np.minimum(n, of - n)[:3]
    freedom = np.maximum(2, rare.sum(axis=1) ** 2 / (rare**2).sum(axis=1) - 1)
    told = group_intervals(n, of, seed)
    for errors, lows_and_highs, base in (
        (x[:3, None] - drawn[:3], [one.ci for one in told], np.zeros(3)),
        ((x[:3] - x[3])[:, None] - (drawn[:3] - drawn[3]), [one.gap_ci for one in told], np.full(3, y[3])),
    ):
        spread = errors.std(axis=1, ddof=1)
        pace = np.quantile(np.abs(errors / spread[:, None]).max(axis=0), 0.95)
        reach = t.ppf(norm.cdf(pace), freedom) / pace * pace * spread
        for group, ends in enumerate(lows_and_highs):
            assert ends is not None
            expected = np.sin(np.array([x[group] - reach[group], x[group] + reach[group]])) ** 2 - base[group]
            assert ends == pytest.approx(tuple(expected), abs=1e-6)


def test_wider_than_one_at_a_time() -> None:
    """The same group beside others has a wider interval than alone."""
    n, of = drawn_groups(7)
    together = group_intervals(n, of, 7)[0].ci
    alone = group_intervals(n[[0, 3]], of[[0, 3]], 7)[0].ci
    assert together is not None
    assert alone is not None
    assert together[0] < alone[0] < alone[1] < together[1]


def test_no_interval_where_next_to_nothing_was_seen() -> None:
    n, of = drawn_groups(2)
    n[0] = of[0]
    n[1] = of[1]
    n[1, :4] -= 1
    told = group_intervals(n, of, 2)
    assert [(one.ci is None, one.gap_ci is None) for one in told] == [(True, True), (True, True), (False, False)]
    assert told[0].value == 1


def test_a_copy_that_differs_nowhere_has_no_interval() -> None:
    n, of = drawn_groups(3)
    told = group_intervals(np.stack((n[3], n[3])), np.stack((of[3], of[3])), 3, paired=True)
    assert (told[0].gap, told[0].gap_ci) == (0, None)


@pytest.mark.slow
def test_planted_gaps_are_found_and_absent_ones_are_not() -> None:
    """2,000 data sets give .92 and .04 (benchmarks/slice_simulations.json); 120 give these within four deviations."""
    assert simulated(found_on_copies, 0.05, 120, 5)["found"] >= 0.8
    assert simulated(found_on_copies, 0.0, 120, 6)["any"] <= 0.12
    assert simulated(found_by_slice, 0.0, 120, 7)["any"] <= 0.12
    assert simulated(found_by_slice, 0.08, 120, 8)["found"] >= 0.8
