"""BCa intervals from replicates (Efron 1987)."""

import numpy as np
from numpy.typing import NDArray

from sandscore.ranking.confidence_intervals import TAILS, Interval, quantile_interval
from sandscore.ranking.resampling import Floats, f1_of_sums
from sandscore.ranking.score_table import ScoreTable


def bca_interval(replicates: Floats, estimate: float, jackknife: Floats) -> Interval:
    """Bias-corrected and accelerated; the percentile interval where all replicates lie on one side."""
    from statistics import NormalDist

    normal = NormalDist()
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return None
    below = (np.count_nonzero(defined < estimate) + np.count_nonzero(defined == estimate) / 2) / len(defined)
    if not 0 < below < 1:
        return quantile_interval(replicates, TAILS)
    bias = normal.inv_cdf(below)
    acceleration = acceleration_of(jackknife)
    tails = []
    for tail in TAILS:
        shifted = bias + normal.inv_cdf(tail)
        tails.append(normal.cdf(bias + shifted / (1 - acceleration * shifted)))
    return quantile_interval(replicates, (tails[0], tails[1]))


def acceleration_of(jackknife: Floats) -> float:
    """A sixth of the skewness of the leave-one-out estimates."""
    pull = jackknife[~np.isnan(jackknife)]
    pull = pull.mean() - pull if len(pull) else pull
    spread = float((pull**2).sum()) ** 1.5
    return float((pull**3).sum()) / (6 * spread) if spread else 0.0


def jackknife_f1(table: ScoreTable, measure: int) -> Floats:
    """(systems, units): pooled F1 with one unit left out."""
    counts = table.counts[:, :, measure].astype(np.float64)
    pair = np.stack([counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]])
    return f1_of_sums(pair.sum(axis=2, keepdims=True) - pair)


def bca_intervals(table: ScoreTable, measure: int, replicates: NDArray[np.float64]) -> list[Interval]:
    """BCa intervals of the pooled F1 of every system."""
    left_out = jackknife_f1(table, measure)
    counts = table.counts[:, :, measure].sum(axis=1)
    out: list[Interval] = []
    for system, row in enumerate(replicates):
        tp, fp, fn = (int(number) for number in counts[system])
        whole = 2 * tp + fp + fn
        out.append(bca_interval(row, 2 * tp / whole, left_out[system]) if whole else None)
    return out
