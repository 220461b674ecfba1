"""Intervals and expectations that allow for how a row was chosen, from the replicates that a board already has.

The row that comes first was chosen for coming first, and so its score is too high on average: its interval reaches
further down by what the best of its equals would reach. ``scores`` (k,) are those of the rows, higher is better;
``replicates`` (k, draws) are the same on resampled patients. Errors are taken on the scale asin(√y), on which they are
as wide everywhere; where scores are not between 0 and 1, on their own. A row without a score has no part in it.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.beta_distribution import t_quantile
from sandscore.ranking.confidence_intervals import TAILS, UNDEFINED_ALLOWED, Interval, quantiles
from sandscore.ranking.resampling import Floats

NOTHING = 1e-12
"""A standard deviation up to this is none at all."""
NORMAL = 1.95996
NEAR, NEAR_NEXT = 0.95, 0.995
DIGITS = 12
"""So many digits are the same on every machine, whatever its arc sine is."""
FEW_EFFECTIVE = 20
ALIKE = 1e-3
"""A difference that varies less than this share of its two rows is looked at itself: sums keep too few digits."""
_DRAWS = 256
"""Draws worked on at a time; the results do not depend on it."""
Places = NDArray[np.intp]
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


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
    """Rising scores on the scale of their errors, errors of the draws there (rows × draws), these over their spread."""

    y: Floats
    x: Floats
    e: Floats
    sd: Floats
    unit: Floats
    lowest: Floats
    highest: Floats
    bounded: bool

    @classmethod
    def of(cls, y: Floats, replicates: Floats, bounded: bool) -> "_Errors":
        x, drawn = (np.arcsin(np.sqrt(values)) if bounded else values for values in (y, replicates))
        e = x[:, None] - drawn
        sd = _spread(e)
        unit = np.divide(e, sd[:, None], out=np.zeros_like(e), where=sd[:, None] > 0)
        return cls(y, x, e, sd, unit, e.min(axis=1), e.max(axis=1), bounded)

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
        first, last = (int(np.searchsorted(self.y, self.y[row], side)) for side in SIDES)
        down = self.reach(self._furthest(row, slice(0, last), apart, 1))
        up = self.reach(self._furthest(row, slice(first, len(self.y)), apart, -1))
        own = float(self.sd[row])
        widths = (pooled if last > 1 else own, pooled if len(self.y) - first > 1 else own)
        return self.interval(row, down, up, factor, widths)

    def _furthest(self, row: int, others: slice, apart: Floats, sign: int) -> Floats:
        """In each draw the largest error among those who could have stood here; −∞ where it is none of the largest.

        No draw exceeds the largest error of all who could in any draw: after a few draws most others are out of it.
        """
        room = self.highest - self.lowest[row] if sign > 0 else self.highest[row] - self.lowest
        able = np.flatnonzero(apart[others] <= room[others] + NOTHING) + others.start
        some = slice(int(able[0]), int(able[-1]) + 1)
        ceiling = self.unit[some].max(axis=0) if sign > 0 else -self.unit[some].min(axis=0)
        wanted = len(ceiling) - int(TAILS[1] * (len(ceiling) - 1))
        first = np.argpartition(ceiling, -min(2 * wanted, len(ceiling)))[-2 * wanted :]
        enough = np.partition(self._reached(row, some, first, apart, sign), -wanted)[-wanted]
        draws = np.flatnonzero(ceiling >= enough)
        out = np.full(len(ceiling), -np.inf)
        out[draws] = self._reached(row, some, draws, apart, sign)
        return out

    def _reached(self, row: int, others: slice, draws: Places, apart: Floats, sign: int) -> Floats:
        out = np.empty(len(draws))
        for start in range(0, len(draws), _DRAWS):
            here = draws[start : start + _DRAWS]
            lead = sign * (self.e[others].take(here, axis=1) - self.e[row, here])
            could = lead >= apart[others, None] - NOTHING
            out[start : start + _DRAWS] = np.where(could, sign * self.unit[others].take(here, axis=1), -np.inf).max(
                axis=0
            )
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
    if len(kept) == 1:
        out[kept[0]] = float(y[0])
        return out
    field, covariance, alike = _Field.of(errors), _covariance(errors), dict[bytes, list[int]]()
    near = _apart(y, errors, NEAR_NEXT) == 0
    for row, close in enumerate(near):
        alike.setdefault(close.tobytes(), []).append(row)
    for rows in alike.values():
        first, last = (len(y) - np.searchsorted(y, y[rows], side) for side in reversed(SIDES))
        luck = field.luck(_world(y, np.flatnonzero(near[rows[0]]), covariance), int(first.min()), int(last.max()))
        for row, start, stop in zip(rows, first - first.min(), last - first.min(), strict=True):
            out[kept[row]] = round(float(y[row] - np.median(luck[:, start:stop])), DIGITS)
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


class _Field(Struct, frozen=True, eq=False):
    """Errors (draws × rows) of those who may change places, and how far each of them goes."""

    by_draw: Floats
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, errors: Floats) -> "_Field":
        return cls(np.ascontiguousarray(errors.T), errors.min(axis=1), errors.max(axis=1))

    def luck(self, world: Floats, first: int, last: int) -> Floats:
        """(draws, places): the errors of whoever stands at the places from the first up to the last.

        Who is always ahead of them or always behind them need not be put in order.
        """
        least, most, rows = world + self.lowest, world + self.highest, len(world)
        floor, roof = (
            np.partition(least, rows - last)[rows - last],
            np.partition(most, rows - 1 - first)[rows - 1 - first],
        )
        inside = np.flatnonzero((most >= floor) & (least <= roof))
        some = slice(int(inside[0]), int(inside[-1]) + 1)
        ahead = int(np.count_nonzero(least > roof) - np.count_nonzero(least[some] > roof))
        places = some.stop - some.start - 1 + ahead - np.arange(first, last)
        out = np.empty((len(self.by_draw), last - first))
        for start in range(0, len(out), 4 * _DRAWS):
            errors = self.by_draw[start : start + 4 * _DRAWS, some]
            out[start : start + 4 * _DRAWS] = _standing(world[some] + errors, errors, places)
        return out


def _standing(drawn: Floats, errors: Floats, places: Places) -> Floats:
    """In each draw the errors of whoever stands at these places from below; among equals the luckier stands higher."""
    around = np.flatnonzero(np.bincount(np.clip([places - 1, places, places + 1], 0, drawn.shape[1] - 1).ravel()))
    order = drawn.argsort(axis=1)
    draws = np.arange(len(drawn))[:, None]
    found: Floats = errors[draws, order[:, places]]
    beside = drawn[draws, order[:, around]]
    equal = np.any(beside[:, 1:] == beside[:, :-1], axis=1)
    if equal.any():
        found[equal] = np.sort(drawn[equal] + 1j * errors[equal], axis=1)[:, places].imag
    return found


def _usable(scores: Floats, replicates: Floats) -> tuple[Places, Floats]:
    """The rows that take part, the worst first, and their draws without those that are undefined for one of them."""
    undefined = np.isnan(replicates)
    most = UNDEFINED_ALLOWED * replicates.shape[1]
    kept = np.flatnonzero(~np.isnan(scores) & (np.count_nonzero(undefined, axis=1) <= most))
    whole: NDArray[np.bool_] = ~np.any(undefined[kept], axis=0)
    if len(whole) - np.count_nonzero(whole) > most:
        return kept[:0], replicates[:0]
    kept = kept[np.argsort(scores[kept], kind="stable")]
    return kept, replicates[kept] if whole.all() else replicates[np.ix_(kept, whole)]


def _apart(x: Floats, errors: Floats, level: float) -> Floats:
    """(rows, rows): how far each two lie apart beyond what chance does; 0 where it may all be chance."""
    spread, reach = _pair_spreads(errors), np.zeros_like(errors)
    per = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    for start in range(0, errors.shape[1], 2 * _DRAWS):
        here = slice(start, start + 2 * _DRAWS)
        reach[:, here] = _reaches(np.ascontiguousarray(errors[:, here]), per)
    furthest = quantiles(reach, (level,))
    distance: Floats = np.maximum(np.abs(x[:, None] - x) - furthest * spread, 0)
    return distance


def _reaches(errors: Floats, per: Floats) -> Floats:
    """In each draw the largest difference of each row's error from another's, in units of that difference's spread."""
    reach, ratio = np.zeros_like(errors), np.empty_like(errors)
    for row in range(len(errors) - 1):
        lead = np.subtract(errors[row + 1 :], errors[row], out=ratio[row + 1 :])
        lead *= per[row, row + 1 :, None]
        np.abs(lead, out=lead)
        np.maximum(reach[row], lead.max(axis=0), out=reach[row])
        np.maximum(reach[row + 1 :], lead, out=reach[row + 1 :])
    return reach


def _pair_spreads(errors: Floats) -> Floats:
    """(rows, rows): of their differences."""
    covariance = _covariance(errors)
    own = np.diagonal(covariance)
    whole = own[:, None] + own
    squares = whole - 2 * covariance
    for row, other in np.argwhere(np.triu(squares <= ALIKE * whole)):
        squares[row, other] = squares[other, row] = _spread(errors[[row]] - errors[other])[0] ** 2
    spread: Floats = np.sqrt(squares)
    return np.where(spread <= NOTHING, 0.0, spread)


def _spread(errors: Floats) -> Floats:
    centred = errors - errors.mean(axis=1, keepdims=True)
    spread: Floats = np.sqrt((centred * centred).sum(axis=1) / max(1, errors.shape[1] - 1))
    return np.where(spread <= NOTHING, 0.0, spread)


def _covariance(errors: Floats) -> Floats:
    centred = errors - errors.mean(axis=1, keepdims=True)
    covariance: Floats = centred @ centred.T / max(1, errors.shape[1] - 1)
    return covariance
