"""Simultaneous intervals: bounds that hold for all groups of a family at once, by the largest error in each draw.

Patients are drawn again, all groups on the same draws. In each draw the group whose error is largest against its own
spread sets the pace; 95 % of these maxima are the width of everybody (max-t). Errors of shares are taken on the scale
asin(√y), on which they are as wide everywhere, and so are differences, but for paired ones; all are widened as
Student's t is, by how many patients the rarer outcome rests on.
"""

from statistics import NormalDist

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Ints
from sandscore.base.beta_distribution import t_quantile
from sandscore.ranking.chosen_rows import NOTHING, effective_patients
from sandscore.ranking.confidence_intervals import UNDEFINED_ALLOWED, Interval, quantiles
from sandscore.ranking.resampling import Floats, exact_dtype, rows_for, weights
from sandscore.records.interval_rules import FEW_LEAKING

LEVEL = 0.95
RESAMPLES = 4_000
_ROWS = 512
_FURTHEST = 1 - 1e-9
"""The tail up to which Student's quantile is asked for."""


class GroupInterval(Struct, frozen=True):
    """A share with its interval, and how far it lies above its reference, with the interval of that."""

    value: float | None
    ci: Interval
    gap: float | None
    gap_ci: Interval


def share_replicates(n: Ints, of: Ints, seed: int, resamples: int = RESAMPLES) -> Floats:
    """(groups, draws): n/of of ``n`` and ``of`` (groups, patients); NaN where a draw has nothing to divide by."""
    groups, patients = n.shape
    both = np.concatenate((n, of)).T
    dtype = exact_dtype(patients, int(both.max(initial=0)))
    columns = np.ascontiguousarray(both, dtype)
    out = np.empty((groups, resamples))
    for where, drawn in weights(seed, (patients,), resamples, dtype, rows_for(patients, _ROWS)):
        sums = (drawn @ columns).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            out[:, where] = (sums[:, :groups] / sums[:, groups:]).T
    return out


def group_intervals(n: Ints, of: Ints, seed: int, *, paired: bool = False) -> list[GroupInterval]:
    """Of each group beside the reference, which is the last row of ``n`` and ``of`` (rows, patients).

    ``paired``: groups are the reference's own notes once more, and differ from it patient by patient.
    """
    groups = len(n) - 1
    values = shares(n, of)
    told = np.array([has_enough(n[row], of[row]) for row in range(groups + 1)])
    differing = np.array([_differing(n, of, row) for row in range(groups)]) if paired else told[:-1] & told[-1]
    drawn = share_replicates(n, of, seed)
    seen = np.array([_effective(row) for row in np.minimum(n, of - n)[:-1]])
    changed = np.array(
        [_effective(np.abs(row * of[-1] - n[-1] * whole)) for row, whole in zip(n[:-1], of[:-1], strict=True)]
    )
    x, rep = np.arcsin(np.sqrt(values)), np.arcsin(np.sqrt(drawn))
    own = _max_t(x[:-1, None] - rep[:-1], told[:-1], seen)
    on, drawn_on = (values, drawn) if paired else (x, rep)
    errors = (on[:-1] - on[-1])[:, None] - (drawn_on[:-1] - drawn_on[-1])
    apart = _max_t(errors, differing, changed if paired else seen)
    return [
        GroupInterval(
            value=_number(values[row]),
            ci=_share_interval(x[row], own[row]),
            gap=_number(values[row] - values[-1]),
            gap_ci=_paired_interval(values[row] - values[-1], apart[row])
            if paired
            else _gap_interval(x[row], x[-1], apart[row]),
        )
        for row in range(groups)
    ]


def shares(n: Ints, of: Ints) -> Floats:
    """Row by row n of; NaN where there is nothing to divide by."""
    above, below = n.sum(axis=1), of.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = above / below
    return found


def has_enough(n: Ints, of: Ints) -> bool:
    """Whether enough patients have something right, and enough something wrong, for draws to tell anything."""
    return int(np.count_nonzero(n)) >= FEW_LEAKING <= int(np.count_nonzero(of - n))


def _differing(n: Ints, of: Ints, row: int) -> bool:
    """Whether enough patients differ between a row and the reference."""
    return int(np.count_nonzero((n[row] != n[-1]) | (of[row] != of[-1]))) >= FEW_LEAKING


def _effective(numbers: Ints) -> float:
    """How many patients the rarer outcome, or what differs, rests on: so sure is its spread."""
    return effective_patients(numbers.tolist()) or 2.0


def _max_t(errors: Floats, told: NDArray[np.bool_], effective: Floats) -> Floats:
    """How far the interval of each row reaches to either side; NaN of a row that has none."""
    defined = ~np.isnan(errors)
    usable = told & (defined.mean(axis=1) >= 1 - UNDEFINED_ALLOWED)
    reach = np.full(len(errors), np.nan)
    kept = np.flatnonzero(usable)
    if not len(kept):
        return reach
    some = errors[kept][:, defined[kept].all(axis=0)]
    spread = some.std(axis=1, ddof=1)
    moving = spread > NOTHING
    if not moving.any():
        return reach
    largest = np.max(np.abs(some[moving]) / spread[moving, None], axis=0)
    pace = float(quantiles(largest, (LEVEL,))[0])
    tail = min(NormalDist().cdf(pace), _FURTHEST)
    wider = np.array([t_quantile(tail, freedom) for freedom in effective[kept[moving]]]) / NormalDist().inv_cdf(tail)
    reach[kept[moving]] = pace * wider * spread[moving]
    return reach


def _share_interval(x: float, reach: float) -> Interval:
    if np.isnan(reach):
        return None
    low, high = (float(np.sin(np.clip(end, 0, np.pi / 2)) ** 2) for end in (x - reach, x + reach))
    return low, high


def _gap_interval(x: float, reference: float, reach: float) -> Interval:
    """From the scale asin(√y) back: both ends against the reference as it is."""
    ends = _share_interval(x, reach)
    whole = float(np.sin(reference) ** 2)
    return None if ends is None else (ends[0] - whole, ends[1] - whole)


def _paired_interval(difference: float, reach: float) -> Interval:
    return None if np.isnan(reach) else (max(-1.0, float(difference - reach)), min(1.0, float(difference + reach)))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
