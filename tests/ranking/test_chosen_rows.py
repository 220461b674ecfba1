"""What a chosen row promises: against plain loops, by hand, and as properties."""

import math
import time
from itertools import pairwise

import numpy as np
import pytest
import slow_board
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sandscore.base.beta_distribution import beta_quantile, beta_share, t_quantile
from sandscore.ranking.chosen_rows import (
    chosen_intervals,
    effective_patients,
    expected_scores,
    studentised_intervals,
)
from sandscore.ranking.resampling import Floats


def drawn(seed: int, rows: int, patients: int = 30, draws: int = 240, spread: float = 0.1) -> tuple[Floats, Floats]:
    """Scores of systems on patients, and on resampled ones."""
    stream = np.random.default_rng(seed)
    den = stream.integers(2, 9, patients)
    skill = np.clip(0.7 + spread * stream.normal(size=rows), 0.05, 0.99)
    num = stream.binomial(den, skill[:, None], (rows, patients))
    weights = stream.multinomial(patients, np.full(patients, 1 / patients), draws)
    return num.sum(axis=1) / den.sum(), (weights @ num.T / (weights @ den)[:, None]).T


CASES = {f"{k} systems, spread {spread}, {seed}": (seed, k, spread) for seed, (k, spread) in enumerate(
    [(1, 0.1), (2, 0.0), (2, 0.1), (3, 0.02), (7, 0.0), (7, 0.05), (7, 0.3), (12, 0.02), (12, 0.1), (25, 0.15)]
)}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bounded", [True, False])
def test_as_the_slow_one(case: str, bounded: bool) -> None:
    seed, rows, spread = CASES[case]
    y, rep = drawn(seed, rows, spread=spread)
    nu = 3.0 + 11 * seed
    for made, slow in (
        (chosen_intervals(y, rep, nu, bounded), slow_board.chosen(y.tolist(), rep.tolist(), nu, bounded)),
        (studentised_intervals(y, rep, nu, bounded), slow_board.chosen(y.tolist(), rep.tolist(), nu, bounded, True)),
    ):
        for one, other in zip(made, slow, strict=True):
            assert one == pytest.approx(other, abs=1e-10)
    assert expected_scores(y, rep) == pytest.approx(slow_board.expected(y.tolist(), rep.tolist()), abs=1e-10)


def test_copies_among_others_as_the_slow_one() -> None:
    """Copies stand at each other's places in every draw, in a field of which some are out of reach."""
    y, rep = drawn(13, 9, spread=0.1)
    for copy, of in ((3, 5), (6, 0), (7, 0)):
        y[copy], rep[copy] = y[of], rep[of]
    for one, other in zip(
        chosen_intervals(y, rep, 40.0), slow_board.chosen(y.tolist(), rep.tolist(), 40.0), strict=True
    ):
        assert one == pytest.approx(other, abs=1e-10)
    assert expected_scores(y, rep) == pytest.approx(slow_board.expected(y.tolist(), rep.tolist()), abs=1e-10)


def test_undefined_draws_as_the_slow_one() -> None:
    """One row is undefined too often and leaves, one has no score, another is undefined in two draws."""
    y, rep = drawn(5, 6)
    y[2], rep[2] = np.nan, np.nan
    rep[4, :3] = np.nan
    rep[1, 7:9] = np.nan
    made = chosen_intervals(y, rep, 25.0)
    assert [span is None for span in made] == [False, False, True, False, True, False]
    slow = slow_board.chosen(y.tolist(), rep.tolist(), 25.0)
    for one, other in zip(made, slow, strict=True):
        assert one == (other and pytest.approx(other, abs=1e-10))
    assert expected_scores(y, rep) == pytest.approx(slow_board.expected(y.tolist(), rep.tolist()), abs=1e-10)


def test_no_interval_where_too_few_draws_are_whole() -> None:
    """Three rows undefined in 2 of 240 draws each, at different places: 6 are lost, and 2.4 is the most."""
    y, rep = drawn(6, 4)
    for row in range(3):
        rep[row, 2 * row : 2 * row + 2] = np.nan
    assert chosen_intervals(y, rep, 25.0) == [None] * 4
    assert expected_scores(y, rep) == [None] * 4
    assert None not in studentised_intervals(y, rep, 25.0)


def test_one_row_by_hand() -> None:
    """Four draws on a scale without bounds: errors 0.3, 0.1, −0.1, −0.3, of which numpy's 97.5 % quantile is 0.285."""
    y, rep = np.array([5.0]), np.array([[4.7, 4.9, 5.1, 5.3]])
    g = float(stats.t.ppf(0.975, 7)) / 1.95996
    wanted = (5 - 0.285 * g, 5 + 0.285 * g)
    assert chosen_intervals(y, rep, 7.0, bounded=False) == [pytest.approx(wanted, abs=1e-11)]
    assert studentised_intervals(y, rep, 7.0, bounded=False) == [pytest.approx(wanted, abs=1e-11)]
    assert expected_scores(y, rep) == [5.0]


def test_two_equals_by_hand() -> None:
    """Two systems with the same score and opposite luck, 0.2 in two draws and 0.1 in the others.

    Whoever stands first was lucky by that much, whoever stands second unlucky by as much; both share both places, and
    the median of all eight is 0: each is expected where it is. The bound below asks in every draw for the larger error
    of the two, 0.2, 0.1, 0.1, 0.2, whose 97.5 % quantile is 0.2; their spreads are the same and drop out.
    """
    y, rep = np.array([0.5, 0.5]), np.array([[0.7, 0.6, 0.4, 0.3], [0.3, 0.4, 0.6, 0.7]])
    assert expected_scores(y, rep) == [0.5, 0.5]
    g = float(stats.t.ppf(0.975, 50)) / 1.95996
    for span in chosen_intervals(y, rep, 50.0, bounded=False):
        assert span == pytest.approx((0.5 - 0.2 * g, 0.5 + 0.2 * g), abs=1e-11)


def test_rows_that_never_move_have_no_error() -> None:
    y, rep = np.array([1.0, 0.0, 0.6]), np.array([[1.0] * 50, [0.0] * 50, np.linspace(0.5, 0.7, 50)])
    first, last, other = chosen_intervals(y, rep, 30.0)
    assert (first, last) == ((1.0, 1.0), (0.0, 0.0))
    assert other is not None
    assert other[0] < 0.6 < other[1]
    assert studentised_intervals(y, rep, 30.0)[:2] == [(1.0, 1.0), (0.0, 0.0)]


def test_copies_of_one_system_stand_where_it_stands() -> None:
    """Errors that never differ say nothing about who was chosen: ten copies read as one."""
    y, rep = drawn(8, 1)
    many = chosen_intervals(np.repeat(y, 10), np.repeat(rep, 10, axis=0), 40.0)
    assert many == chosen_intervals(y, rep, 40.0) * 10


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_systems_changes_nothing(seed: int) -> None:
    y, rep = drawn(seed, 9, spread=0.02)
    y[3], rep[3] = y[5], rep[5]
    order = np.random.default_rng(seed).permutation(9)
    spans, next_time = chosen_intervals(y, rep, 28.0), expected_scores(y, rep)
    assert chosen_intervals(y[order], rep[order], 28.0) == [spans[i] for i in order]
    assert expected_scores(y[order], rep[order]) == [next_time[i] for i in order]


@pytest.mark.parametrize("seed", range(4))
def test_a_rate_of_errors_is_the_same_board_turned_round(seed: int) -> None:
    """Upside down (1 − y), the worst row is the best one: the interval of 1 − y is the interval of y, mirrored."""
    y, rep = drawn(seed, 6, spread=0.05)
    for one, other in zip(chosen_intervals(y, rep, 28.0), chosen_intervals(1 - y, 1 - rep, 28.0), strict=True):
        assert one is not None
        assert other is not None
        assert one == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-10)


def test_the_leader_of_equals_is_expected_lower_and_the_last_higher() -> None:
    y, rep = drawn(11, 20, patients=60, draws=1_000, spread=0.0)
    next_time = expected_scores(y, rep)
    best, worst = int(y.argmax()), int(y.argmin())
    assert next_time[best] < y[best]
    assert next_time[worst] > y[worst]
    spans, own = chosen_intervals(y, rep, 59.0), studentised_intervals(y, rep, 59.0)
    assert spans[best][0] < own[best][0]  # type: ignore[index]
    assert spans[worst][1] > own[worst][1]  # type: ignore[index]


def test_somebody_far_away_changes_nothing() -> None:
    """Nobody could have stood in the place of a row that is far from all others, nor it in theirs."""
    y, rep = drawn(12, 1, patients=200)
    together = chosen_intervals(np.array([y[0], y[0] / 5]), np.vstack([rep, rep[:, ::-1] / 5]), 100.0)
    assert together[0] == chosen_intervals(y, rep, 100.0)[0]


@pytest.mark.slow
def test_a_hundred_systems() -> None:
    """Both together in two seconds of CPU where nobody else works; twice that here."""
    y, rep = drawn(14, 100, patients=500, draws=10_000, spread=0.05)
    started = time.process_time()
    spans, next_time = chosen_intervals(y, rep, 400.0), expected_scores(y, rep)
    assert time.process_time() - started < 4
    assert None not in spans
    assert None not in next_time


def test_effective_patients_by_hand() -> None:
    assert effective_patients([4] * 10) == 9
    assert effective_patients([50, *[1] * 50]) == 100 * 100 / (2500 + 50) - 1
    assert effective_patients([9, 0, 0]) == 2
    assert effective_patients([0, 0]) is None


@pytest.mark.parametrize("freedom", [2, 2.5, 5, 19.3, 117, 1_000, 20_000])
def test_student_as_scipy_has_it(freedom: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(float(stats.t.ppf(0.975, freedom)), rel=1e-10)


@pytest.mark.parametrize(("a", "b"), [(1, 18), (3, 116), (0.5, 58.5), (119, 1), (2.5, 0.3)])
def test_beta_as_scipy_has_it(a: float, b: float) -> None:
    shares = (0.01, 0.05, 0.5, 0.95, 0.975)
    found = [beta_quantile(share, a, b) for share in shares]
    assert found == pytest.approx([float(stats.beta.ppf(share, a, b)) for share in shares], rel=1e-9)
    assert all(low < high for low, high in pairwise(found))
    assert [beta_share(x, a, b) for x in found] == pytest.approx(shares, rel=1e-9)
    assert [beta_share(x, a, b) for x in (-1.0, 0.0, 1.0, 2.0)] == [0, 0, 1, 1]
    assert math.isclose(beta_share(0.3, a, b) + beta_share(0.7, b, a), 1)


def halved(share: float, a: float, b: float) -> float:
    """The quantile, every halving looked at."""
    low, high = 0.0, 1.0
    while (middle := math.sqrt(low * high) if low > 0 and high < 0.5 else (low + high) / 2) not in {low, high}:
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return high


@given(st.floats(0.001, 0.999), st.floats(0.4, 5000), st.floats(0.4, 5000))
def test_quantiles_are_those_of_plain_halving_to_the_bit(share: float, a: float, b: float) -> None:
    assert beta_quantile(share, a, b) == halved(share, a, b)


@pytest.mark.parametrize("freedom", [2.0, 2.5, 16.91232884046526, 71.0, 1e3, 123_456.7])
def test_those_of_students_t_too(freedom: float) -> None:
    assert beta_quantile(0.95, 0.5, freedom / 2) == halved(0.95, 0.5, freedom / 2)
