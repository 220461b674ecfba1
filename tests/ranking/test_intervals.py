"""Quantiles against numpy, BCa against scipy."""

import numpy as np
import pytest
from ranking_cards import drawn_rows, entry
from scipy import stats

from sandscore.optional_rules.bca_intervals import acceleration_of, bca_interval, bca_intervals, jackknife_f1
from sandscore.ranking.confidence_intervals import percentile_intervals, quantiles
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import tabulate


def test_percentiles_are_numpy_linear_quantiles() -> None:
    values = np.random.default_rng(1).random((3, 1_001))
    expected = [tuple(np.quantile(row, [0.025, 0.975], method="linear").tolist()) for row in values]
    assert percentile_intervals(values) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 40, 41, 10_000])
def test_quantiles_are_those_of_numpy_to_the_bit(count: int) -> None:
    random = np.random.default_rng(count)
    values, shares = random.random((3, count)), (0.0, 0.025, 0.5, *random.random(40).tolist(), 0.975, 1.0)
    expected = np.quantile(values, shares, axis=1, method="linear")
    assert quantiles(values, shares).tobytes() == np.ascontiguousarray(expected.T).tobytes()


@pytest.mark.parametrize(("undefined", "shown"), [(0, True), (10, True), (11, False), (1_000, False)])
def test_no_interval_where_more_than_one_percent_is_undefined(undefined: int, shown: bool) -> None:
    values = np.random.default_rng(1).random((1, 1_000))
    values[0, :undefined] = np.nan
    (interval,) = percentile_intervals(values)
    assert (interval is not None) == shown
    if interval and undefined:
        assert interval == tuple(np.quantile(values[0, undefined:], [0.025, 0.975]).tolist())


def test_bca_agrees_with_scipy() -> None:
    rows = drawn_rows(0.93, 60, 3)
    table = tabulate([entry("a", rows)])
    replicates = f1_replicates(table, [0], seed=11, resamples=20_000)[:, 0]
    (made,) = bca_intervals(table, 0, replicates)

    def f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray, axis: int = -1) -> np.ndarray:
        hits = 2 * tp.sum(axis=axis)
        return np.asarray(hits / (hits + fp.sum(axis=axis) + fn.sum(axis=axis)))

    columns = tuple(np.array(rows, float).T)
    found = stats.bootstrap(columns, f1, paired=True, n_resamples=20_000, method="BCa", rng=5).confidence_interval
    assert made == pytest.approx((found.low, found.high), abs=0.002)
    (plain,) = percentile_intervals(replicates)
    assert made != pytest.approx(plain, abs=1e-5)


def test_acceleration_is_a_sixth_of_the_skewness() -> None:
    left_out = jackknife_f1(tabulate([entry("a", drawn_rows(0.9, 40, 2))]), 0)[0]
    expected = stats.skew(left_out.mean() - left_out) / (6 * np.sqrt(len(left_out)))
    assert acceleration_of(left_out) == pytest.approx(expected)


def test_bca_of_a_perfect_system_is_a_point() -> None:
    table = tabulate([entry("a", [(3, 0, 0)] * 20)])
    assert bca_intervals(table, 0, f1_replicates(table, [0], 1, 200)[:, 0]) == [(1.0, 1.0)]


def test_the_bias_pushes_to_the_side_where_the_estimate_lies() -> None:
    """Without skewness the tails are those of 2 b + z; three quarters of the replicates are below 0.75."""
    replicates = np.linspace(0, 1, 1_001)
    bias = stats.norm.ppf(750.5 / 1_001)
    expected = np.quantile(replicates, stats.norm.cdf(2 * bias + stats.norm.ppf([0.025, 0.975])))
    assert bca_interval(replicates, 0.75, np.zeros(10)) == pytest.approx(expected.tolist())
