"""Agreement of resamples with the published order, against scipy and against counting by hand."""

import numpy as np
import pytest
from scipy import stats

from sandscore.ranking.rank_agreement import agreement, band_of, bayes_factor

SCORES = np.random.default_rng(3).integers(0, 6, (7, 60)) / 10
PLACES = [1, 2, 2, 4, 5, 6, 7]


def test_tau_b_of_every_replicate_is_scipys() -> None:
    made = agreement(SCORES, PLACES).tau
    expected = [stats.kendalltau(-np.asarray(PLACES), replicate).statistic for replicate in SCORES.T]
    assert made == pytest.approx(expected)


def test_tau_is_undefined_where_everybody_ties() -> None:
    assert np.isnan(agreement(np.ones((3, 2)), [1, 2, 3]).tau).all()


def test_top_shares_ties_evenly() -> None:
    """First replicate: a alone, b and c share place 2-3. Second: all three share."""
    scores = np.array([[0.9, 0.5], [0.8, 0.5], [0.8, 0.5]])
    top = agreement(scores, [1, 2, 3], tops=(1, 2, 3)).top
    assert top[1] == pytest.approx([(1 + 1 / 3) / 2, 1 / 6, 1 / 6])
    assert top[2] == pytest.approx([(1 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2])
    assert top[3] == pytest.approx([1, 1, 1])


def test_an_undefined_replicate_comes_last() -> None:
    scores = np.array([[np.nan, 0.2], [0.0, np.nan]])
    assert agreement(scores, [1, 2]).wins.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert agreement(scores, [1, 2]).top[1] == pytest.approx([0.5, 0.5])


def test_wins_count_ties_half() -> None:
    scores = np.array([[0.3, 0.2, 0.1, 0.4], [0.2, 0.2, 0.2, 0.3]])
    assert agreement(scores, [1, 2]).wins[0, 1] == 2.5 / 4


@pytest.mark.parametrize(
    ("wins", "k"), [(0.5, 1.0), (0.75, 75.5 / 25.5), (1.0, 100.5 / 0.5), (0.0, 0.5 / 100.5)], ids=str
)
def test_bayes_factor_adds_half_to_both(wins: float, k: float) -> None:
    assert bayes_factor(wins, 100) == pytest.approx(k)


@pytest.mark.parametrize(("k", "band"), [(0.2, "tied"), (3.0, "tied"), (3.1, "3–5"), (19.0, "5–20"), (21.0, "> 20")])
def test_bands(k: float, band: str) -> None:
    assert band_of(k) == band
