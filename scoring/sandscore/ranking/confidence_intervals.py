"""Percentile intervals from replicates."""

import numpy as np

from sandscore.ranking.resampling import Floats

TAILS = (0.025, 0.975)
UNDEFINED_ALLOWED = 0.01
Interval = tuple[float, float] | None


def percentile_intervals(replicates: Floats) -> list[Interval]:
    """One interval a row of replicates; None where more than 1 % of them are undefined."""
    undefined = np.isnan(replicates).sum(axis=1)
    whole = undefined == 0
    out: list[Interval] = [None] * len(replicates)
    if whole.any():
        low, high = quantiles(replicates[whole], TAILS).T
        for at, a, b in zip(np.flatnonzero(whole), low, high, strict=True):
            out[at] = (float(a), float(b))
    for at in np.flatnonzero(~whole):
        out[at] = quantile_interval(replicates[at], TAILS)
    return out


def quantiles(values: Floats, shares: tuple[float, ...]) -> Floats:
    """Along the last axis, linear between neighbours: to the bit ``np.quantile``, which would import ``numpy.ma``."""
    ordered = np.sort(values, axis=-1)
    last = ordered.shape[-1] - 1
    place = last * np.array(shares)
    below = np.floor(place).astype(np.int64)
    low, high, between = ordered[..., below], ordered[..., np.minimum(below + 1, last)], place - below
    found: Floats = np.where(between < 0.5, low + (high - low) * between, high - (high - low) * (1 - between))
    return found


def quantile_interval(replicates: Floats, tails: tuple[float, float]) -> Interval:
    """The two quantiles of the defined replicates; None where too few are defined."""
    defined = replicates[~np.isnan(replicates)]
    if len(replicates) - len(defined) > UNDEFINED_ALLOWED * len(replicates):
        return None
    low, high = quantiles(defined, tails)
    return float(low), float(high)
