"""Scores joined again, on replicates: the same rules in floating point, many replicates at a time.

Axes are (replicates, systems) or (replicates, systems, measures); NaN is undefined, higher is better.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sandscore.optional_rules.joined_scores import weights_of
from sandscore.ranking.analysis import pooled_f1
from sandscore.ranking.resampling import Floats, Sums, f1_of_sums
from sandscore.records.ranking_rules import MissingRule, RankingRules

SAME = 12
"""Means of sites that are equal as fractions differ in later digits than this."""
Flags = NDArray[np.bool_]


def joined_replicates(sums: Sums, scored: Flags, rules: RankingRules) -> Floats:
    """(replicates, systems) from (2, replicates, data sets, systems, measures)."""
    joined = SITES[rules.sites](sums, scored, rules.missing)
    if rules.aggregation == "headline":
        return joined[:, :, 0]
    joined = np.round(joined, SAME)
    if rules.aggregation == "lexicographic":
        return _in_order(joined)
    weights = np.asarray(weights_of(rules))
    ranks = _mean_rank(np.moveaxis(joined, 2, 1), weights, rules.missing)
    return ranks if rules.aggregation == "mean_rank" else weights.sum() * (joined.shape[1] + ranks)


def _macro(sums: Sums, scored: Flags, missing: MissingRule) -> Floats:
    cells = np.where(scored, f1_of_sums(sums), np.nan)
    there = ~np.isnan(cells)
    count = there.sum(axis=1)
    enough = count == cells.shape[1] if missing == "strict" else count > 0
    mean = np.where(there, cells, 0).sum(axis=1) / np.maximum(count, 1)
    joined: Floats = np.where(enough, mean, np.nan)
    return joined


def _mean_rank_of_sites(sums: Sums, scored: Flags, missing: MissingRule) -> Floats:
    cells = np.where(scored, f1_of_sums(sums), np.nan)
    even = np.ones(cells.shape[1])
    per_measure = [_mean_rank(cells[..., m], even, missing) for m in range(cells.shape[3])]
    return np.stack(per_measure, axis=2)


SITES: dict[str, Callable[[Sums, Flags, MissingRule], Floats]] = {
    "pooled": pooled_f1,
    "macro": _macro,
    "mean_rank": _mean_rank_of_sites,
}


def _mean_rank(cells: Floats, weights: Floats, missing: MissingRule) -> Floats:
    """(replicates, systems): minus the weighted mean rank over the middle axis."""
    undefined = np.isnan(cells)
    ranks = average_ranks(cells)
    if missing == "strict":
        ranks = np.where(undefined, cells.shape[2], ranks)
        undefined = np.broadcast_to(undefined.all(axis=1, keepdims=True), undefined.shape)
    heavy = np.where(undefined, 0, weights[:, None])
    with np.errstate(invalid="ignore"):
        mean: Floats = -(np.where(undefined, 0, ranks) * heavy).sum(axis=1) / heavy.sum(axis=1)
    return mean


def average_ranks(cells: Floats) -> Floats:
    """Ranks along the last axis, best (highest) first, undefined last, ties sharing their average."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(-np.where(np.isnan(cells), -np.inf, cells), axis=-1)
    return ranks


def _in_order(scores: Floats) -> Floats:
    """Minus the place among the systems, later measures deciding where earlier ones tie."""
    better = np.zeros((len(scores), scores.shape[1], scores.shape[1]), np.bool_)
    equal = np.ones_like(better)
    for measure in np.moveaxis(np.where(np.isnan(scores), -np.inf, scores), 2, 0):
        better |= equal & (measure[:, :, None] < measure[:, None, :])
        equal &= measure[:, :, None] == measure[:, None, :]
    place = better.sum(axis=2) + (equal.sum(axis=2) - 1) / 2
    ordered: Floats = np.where(np.isnan(scores[:, :, 0]), np.nan, -place - 1)
    return ordered
