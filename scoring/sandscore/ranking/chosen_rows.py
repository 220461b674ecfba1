"""Intervals and expectations that allow for how a row was chosen, from the replicates that a board already has.

The row that comes first was chosen for coming first, and so its score is too high on average: its interval reaches
further down by what the best of its equals would reach. ``scores`` (k,) are those of the rows, higher is better;
``replicates`` (k, draws) are the same on resampled patients. Errors are taken on the scale asin(√y), on which they are
as wide everywhere; where scores are not between 0 and 1, on their own. A row without a score has no part in it.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.ranking.beta_distribution import t_quantile
from sandscore.ranking.confidence_intervals import TAILS, UNDEFINED_ALLOWED, Interval, quantiles
from sandscore.ranking.resampling import Floats

NOTHING = 1e-12
"""A standard deviation up to this is none at all."""
NORMAL = 1.95996
NEAR, NEAR_NEXT = 0.95, 0.995
DIGITS = 12
"""So many digits are the same on every machine, whatever its arc sine is."""
FEW_EFFECTIVE = 20
_DRAWS = 1_000
"""Draws worked on at a time; the results do not depend on it."""
Places = NDArray[np.intp]


def effective_patients(annotations: Sequence[int]) -> float | None:
    """How many patients with equally many annotations would say as much, less one; at least 2."""
    whole, squares = sum(annotations), sum(number * number for number in annotations)
    return max(2.0, whole * whole / squares - 1) if squares else None


def widening(effective: float) -> float:
    """How much wider than for endless patients an interval has to be: Student's t over the normal."""
    return t_quantile(TAILS[1], effective) / NORMAL


def studentised_intervals(scores: Floats, replicates: Floats, effective: float, bounded: bool = True) -> list[Interval]:
    """Each row's own interval, as if nobody had chosen; None where more than 1 % of its draws are undefined."""
    out: list[Interval] = []
    factor = widening(effective)
    for score, drawn in zip(scores, replicates, strict=True):
        defined = drawn[~np.isnan(drawn)]
        if np.isnan(score) or len(drawn) - len(defined) > UNDEFINED_ALLOWED * len(drawn):
            out.append(None)
            continue
        errors = _Errors.of(np.array([score]), defined[None], bounded)
        down, up = (errors.reach(side) for side in errors.z)
        out.append(errors.interval(0, down, up, factor))
    return out


def chosen_intervals(scores: Floats, replicates: Floats, effective: float, bounded: bool = True) -> list[Interval]:
    """Each row's interval, allowing for its place having been chosen among the rows by their scores."""
    out: list[Interval] = [None] * len(scores)
    kept, drawn = _usable(scores, replicates)
    if not len(kept):
        return out
    errors, factor = _Errors.of(scores[kept], drawn, bounded), widening(effective)
    apart = _apart(errors.x, errors.e, NEAR)
    for at, row in enumerate(kept):
        out[row] = errors.chosen(at, apart[at], factor)
    return out


class _Errors(Struct, frozen=True, eq=False):
    """Scores on the scale of their errors, errors of the draws there (rows × draws), and these over their spread."""

    y: Floats
    x: Floats
    e: Floats
    sd: Floats
    unit: Floats
    bounded: bool

    @classmethod
    def of(cls, y: Floats, replicates: Floats, bounded: bool) -> "_Errors":
        x, drawn = (np.arcsin(np.sqrt(values)) if bounded else values for values in (y, replicates))
        e = x[:, None] - drawn
        sd = _spread(e)
        unit = np.divide(e, sd[:, None], out=np.zeros_like(e), where=sd[:, None] > 0)
        return cls(y, x, e, sd, unit, bounded)

    @property
    def z(self) -> tuple[Floats, Floats]:
        """Of the first row: how far the draws lie below it and above it."""
        return self.unit[0], -self.unit[0]

    @staticmethod
    def reach(values: Floats) -> float:
        return float(quantiles(values, (TAILS[1],))[0])

    def chosen(self, row: int, apart: Floats, factor: float) -> Interval:
        """``apart``: how far each row lies from this one beyond what chance does."""
        near = np.flatnonzero(apart == 0)
        pooled = float(np.sqrt(np.mean(self.sd[near] ** 2)))
        below, above = np.flatnonzero(self.y <= self.y[row]), np.flatnonzero(self.y >= self.y[row])
        down, up = (self.reach(self._furthest(row, others, apart, sign)) for others, sign in ((below, 1), (above, -1)))
        own = float(self.sd[row])
        widths = (pooled if len(below) > 1 else own, pooled if len(above) > 1 else own)
        return self.interval(row, down, up, factor, widths)

    def _furthest(self, row: int, others: Places, apart: Floats, sign: int) -> Floats:
        """In each draw the largest error among those who could have stood here."""
        out = np.empty(self.e.shape[1])
        for start in range(0, len(out), _DRAWS):
            draws = slice(start, start + _DRAWS)
            lead = self.e[others, draws] - self.e[row, draws]
            reached = sign * lead >= apart[others, None] - NOTHING
            out[draws] = np.where(reached, sign * self.unit[others, draws], -np.inf).max(axis=0)
        return out

    def interval(
        self, row: int, down: float, up: float, factor: float, widths: tuple[float, float] | None = None
    ) -> Interval:
        if self.sd[row] == 0:
            return float(self.y[row]), float(self.y[row])
        below, above = widths or (float(self.sd[row]), float(self.sd[row]))
        ends = np.array([self.x[row] - factor * down * below, self.x[row] + factor * up * above])
        if self.bounded:
            ends = np.sin(np.clip(ends, 0, np.pi / 2)) ** 2
        low, high = (round(float(end), DIGITS) for end in ends)
        return low, high


def expected_scores(scores: Floats, replicates: Floats) -> list[float | None]:
    """What each row will score on new patients, as often more as less; of a row that leads by luck, less."""
    out: list[float | None] = [None] * len(scores)
    kept, drawn = _usable(scores, replicates)
    if not len(kept):
        return out
    y, errors = scores[kept], drawn.mean(axis=1, keepdims=True) - drawn
    apart = _apart(y, errors, NEAR_NEXT)
    by_draw, covariance = np.ascontiguousarray(errors.T), _covariance(errors)
    for at, row in enumerate(kept):
        if len(kept) == 1:
            out[row] = float(y[at])
            continue
        world = _world(y, np.flatnonzero(apart[at] == 0), covariance)
        first = int(np.count_nonzero(y > y[at]))
        places = range(first, first + int(np.count_nonzero(y == y[at])))
        out[row] = round(float(y[at] - np.median(_luck(world, by_draw, places))), DIGITS)
    return out


def _world(y: Floats, near: Places, covariance: Floats) -> Floats:
    """The scores as they may truly be: those that chance cannot tell apart lie closer than they were seen."""
    n, close = len(near), y[near]
    if n == 1:
        return y
    among = covariance[np.ix_(near, near)]
    noise, seen = float(np.trace(among) - n * among.mean()) / (n - 1), float(close.var(ddof=1))
    keep = max(0.0, 1 - noise / seen) ** 0.5 if seen else 0.0
    world: Floats = y.copy()
    world[near] = close.mean() + keep * (close - close.mean())
    return world


def _luck(world: Floats, by_draw: Floats, places: range) -> Floats:
    """The errors of whoever stands at these places, in every draw; among equals the luckier comes first."""
    drawn = world + by_draw
    ordered = np.partition(drawn, [drawn.shape[1] - 1 - place for place in places], axis=1)
    found = []
    for place in places:
        there = drawn == ordered[:, [drawn.shape[1] - 1 - place]]
        alone = np.count_nonzero(there, axis=1) == 1
        found.append(by_draw[alone][there[alone]])
        if not alone.all():
            some = drawn[~alone] + 1j * by_draw[~alone]
            found.append(-np.sort(-some, axis=1)[:, place].imag)
    return np.concatenate(found)


def _usable(scores: Floats, replicates: Floats) -> tuple[Places, Floats]:
    """The rows that take part, and their draws without those that are undefined for one of them."""
    undefined = np.isnan(replicates)
    most = UNDEFINED_ALLOWED * replicates.shape[1]
    kept = np.flatnonzero(~np.isnan(scores) & (np.count_nonzero(undefined, axis=1) <= most))
    whole: NDArray[np.bool_] = ~np.any(undefined[kept], axis=0)
    if len(whole) - np.count_nonzero(whole) > most:
        return kept[:0], replicates[:0]
    return kept, replicates[kept] if whole.all() else replicates[np.ix_(kept, whole)]


def _apart(x: Floats, errors: Floats, level: float) -> Floats:
    """(rows, rows): how far each two lie apart beyond what chance does; 0 where it may all be chance."""
    spread, reach = np.zeros((len(x), len(x))), np.zeros_like(errors)
    centred = errors - errors.mean(axis=1, keepdims=True)
    for row in range(len(x) - 1):
        spread[row, row + 1 :] = spread[row + 1 :, row] = _pair_spread(centred, row)
    for start in range(0, errors.shape[1], _DRAWS):
        draws = slice(start, start + _DRAWS)
        for row in range(len(x) - 1):
            _lengthen(reach[:, draws], errors[:, draws], spread[row], row)
    furthest = quantiles(reach, (level,))
    distance: Floats = np.maximum(np.abs(x[:, None] - x) - furthest * spread, 0)
    return distance


def _pair_spread(centred: Floats, row: int) -> Floats:
    """Of the differences to the rows that follow."""
    others, squares = centred[row + 1 :], np.zeros(len(centred) - row - 1)
    for start in range(0, centred.shape[1], _DRAWS):
        lead = others[:, start : start + _DRAWS] - centred[row, start : start + _DRAWS]
        squares += np.einsum("ij,ij->i", lead, lead)
    spread: Floats = np.sqrt(squares / max(1, centred.shape[1] - 1))
    return np.where(spread <= NOTHING, 0.0, spread)


def _lengthen(reach: Floats, errors: Floats, spread: Floats, row: int) -> None:
    """The row's pairs with those that follow, in units of their spread, for the larger of either row's."""
    ratio = np.abs(errors[row + 1 :] - errors[row])
    ratio *= np.divide(1.0, spread[row + 1 :], out=np.zeros(len(ratio)), where=spread[row + 1 :] > 0)[:, None]
    np.maximum(reach[row], ratio.max(axis=0), out=reach[row])
    np.maximum(reach[row + 1 :], ratio, out=reach[row + 1 :])


def _spread(errors: Floats) -> Floats:
    centred = errors - errors.mean(axis=1, keepdims=True)
    spread: Floats = np.sqrt((centred * centred).sum(axis=1) / max(1, errors.shape[1] - 1))
    return np.where(spread <= NOTHING, 0.0, spread)


def _covariance(errors: Floats) -> Floats:
    centred = errors - errors.mean(axis=1, keepdims=True)
    covariance: Floats = centred @ centred.T / max(1, errors.shape[1] - 1)
    return covariance
