"""The worth of confidence: precision and recall over the predictions at least as sure as each confidence."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import overload

from msgspec import Struct, field

from sandscore.annotations.columns import distinct
from sandscore.base.arrays import Floats, HeldArrays, Ints, Values, np
from sandscore.base.column_files import Spool, forget
from sandscore.base.exact_sums import as_double, exact_total
from sandscore.base.removable_rooms import compiled
from sandscore.measures.aligned import Sides
from sandscore.measures.packed_keys import paired

CurveRow = tuple[float, float | None, float | None]
_LEVEL = [("confidence", "f8"), ("predictions", "i8"), ("right", "i8")]
HELD = 1 << 20
"""So many levels of the parts before the last are held in memory; sorted runs of more wait in a file."""
LISTED = 100_000
"""A longer curve lists its rows at even distances."""
_PIECES = 8
"""A piece of the whole is so much smaller than what is held: it goes through Python's own numbers."""
_CLOSE = 1 - 1e-9


class Levels(HeldArrays):
    """Distinct confidences in order, how many predictions carry each, and how many of those are right."""

    confidence: Floats
    predictions: Ints
    right: Ints

    def __len__(self) -> int:
        return len(self.held["confidence"])

    def __getitem__(self, rows: slice) -> "Levels":
        return Levels(*(column[rows] for column in self.held.values()))


def levels_of(sides: Sides) -> Levels:
    """Predictions, and those of them that are right, by confidence; of equal spans the surest are taken first."""
    sure = sides.predicted.confidence + 0.0
    if bool(np.isnan(sure).any()):
        return Levels(np.array([math.nan]), np.array([len(sure)]), np.array([0]))
    confidence, predictions = distinct(sure)
    right = np.zeros(len(confidence), np.int64)
    which, often = distinct(sure[_right(sides)])
    right[np.searchsorted(confidence, which)] = often
    return Levels(confidence, predictions, right)


def _right(sides: Sides) -> Ints:
    right = sides.plain.predicted[sides.plain.equal]
    if sides.crowd is None:
        return right
    keys, split = sides.crowd.spans.keys, sides.crowd.split
    order = np.lexsort((-sides.crowd.predicted.confidence, keys[split:]))
    surest = order[paired(np.sort(keys[:split]), keys[split:][order])]
    return np.concatenate((right, sides.crowd.predicted_rows[surest]))


class ConfidenceLedger:
    """Levels of many parts added up. ``shared``: by a process that is forked off and hands over what it holds."""

    def __init__(self, *, shared: bool = False) -> None:
        self._shared = shared
        self._spool = Spool() if shared else None
        self._held: list[Levels] = []
        self._size = 0
        self._runs: list[int] = []

    def add(self, levels: Levels) -> None:
        """Another part's. What the last part says stays in memory."""
        self._make_room()
        self._held.append(levels)
        self._size += len(levels)

    def _make_room(self) -> None:
        if self._size <= HELD:
            return
        merged = _merged(self._held)
        if 2 * len(merged) > HELD:
            self._spool = self._spool or Spool()
            self._spool.append(_written(merged))
            self._runs.append(len(merged))
            merged = merged[:0]
        self._held, self._size = [merged], len(merged)

    def handed_over(self) -> "Handed":
        """What the other process needs beside the file."""
        if self._shared:
            self._make_room()
        return _merged(self._held), self._runs

    def take(self, handed: "Handed") -> None:
        """What a process that shares the file has added up."""
        self._held, self._runs = [handed[0]], handed[1]

    def runs(self) -> list[Levels]:
        """Ascending levels, which together are all."""
        if self._spool is None:
            return [_merged(self._held)]
        written = np.frombuffer(self._spool.column("B"), _LEVEL)
        runs = np.split(written, np.cumsum(self._runs)[:-1])
        return [_merged(self._held), *(Levels(*(run[name] for name, _ in _LEVEL)) for run in runs)]


Handed = tuple[Levels, list[int]]


def _merged(parts: list[Levels]) -> Levels:
    if len(parts) == 1:
        return parts[0]
    every = [np.concatenate([np.zeros(0, kind), *(getattr(part, name) for part in parts)]) for name, kind in _LEVEL]
    values, _ = distinct(every[0])
    place = np.searchsorted(values, every[0])
    sums = (np.bincount(place, weights=one, minlength=len(values)).astype(np.int64) for one in every[1:])
    return Levels(values, *sums)


def _written(levels: Levels) -> Values:
    """Levels as they wait in a file."""
    rows = np.empty(len(levels), _LEVEL)
    for name, _ in _LEVEL:
        rows[name] = getattr(levels, name)
    return rows


def _descending(runs: list[Levels]) -> Iterator[Levels]:
    """All levels of ascending runs, from the highest on, piece by piece."""
    step = max(1, HELD // len(runs) // _PIECES)
    samples = []
    for run in runs:
        samples.append(run.confidence[::step].copy())
        forget(run.confidence)
    cuts, _ = distinct(np.concatenate(samples))
    below = [len(run) for run in runs]
    for cut in cuts[:: len(runs)][::-1].tolist():
        found = []
        for number, (run, sample) in enumerate(zip(runs, samples, strict=True)):
            first = _place(run, sample, step, cut)
            found.append(Levels(*(getattr(run, name)[first : below[number]].copy() for name, _ in _LEVEL)))
            below[number] = first
            forget(run.confidence)
        yield _merged(found)[::-1]


def _place(run: Levels, sample: Floats, step: int, cut: float) -> int:
    """Where the levels from ``cut`` on begin, found without looking all over the run."""
    near = max(0, int(np.searchsorted(sample, cut)) - 1) * step
    return bisect_left(run.confidence, cut, near, min(near + step, len(run)))


class _Walk(Struct):
    """Goes down the levels, remembering where F1 was best and the rows to list."""

    gold: int
    step: int
    last: int
    area: int = 0
    rows: list[tuple[Floats, ...]] = field(default_factory=list)
    best: tuple[int, int, float] | None = None
    tp: int = 0
    seen: int = 0
    rank: int = 0

    def take(self, levels: Levels) -> None:
        """Further levels; ``area`` is the area under the curve, times the number of gold annotations."""
        tp, seen = self.tp + np.cumsum(levels.right), self.seen + np.cumsum(levels.predictions)
        precision, recall = tp / seen, tp / self.gold
        sure = levels.confidence
        ranks = self.rank + np.arange(len(levels))
        kept = (ranks % self.step == 0) | (ranks == self.last)
        self.rows.append(tuple(column[kept] for column in (sure, precision, recall)))
        self._look(sure, tp, seen + self.gold)
        self.tp, self.seen, self.rank = int(tp[-1]), int(seen[-1]), self.rank + len(levels)
        self.area += exact_total(levels.right * precision)

    def _look(self, sure: Floats, tp: Ints, total: Ints) -> None:
        """F1 is compared in whole numbers where it is close; of equals the surest stays."""
        share = tp / total
        for i in np.flatnonzero(share >= share.max() * _CLOSE).tolist():
            if self.best is None or int(tp[i]) * self.best[1] > self.best[0] * int(total[i]):
                self.best = int(tp[i]), int(total[i]), float(sure[i])


class CurveRows(Sequence[CurveRow]):
    """A curve's rows in columns: each is made when somebody looks at it."""

    def __init__(self, *columns: Values) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, number: int) -> CurveRow: ...
    @overload
    def __getitem__(self, number: slice) -> list[CurveRow]: ...
    def __getitem__(self, number: int | slice) -> CurveRow | list[CurveRow]:
        if isinstance(number, slice):
            return [*CurveRows(*(column[number] for column in self.columns))]
        sure, precision, recall = (float(column[number]) for column in self.columns)
        return sure, precision, recall

    def __iter__(self) -> Iterator[CurveRow]:
        return zip(*(column.tolist() for column in self.columns), strict=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # as lists have none


class WeighedConfidence(Struct, frozen=True):
    """The area under the curve, the confidence from which on F1 is best, the listed rows; or why there is none."""

    average_precision: float | None
    best_threshold: float | None
    curve: Sequence[CurveRow] | None
    reason: str | None = None


def confidence_curve(ledgers: list[ConfidenceLedger], gold: int) -> WeighedConfidence:
    """Precision and recall of ``instance_strict`` over the predictions at least as sure as each confidence."""
    runs = [run for ledger in ledgers for run in ledger.runs() if len(run)]
    if any(math.isnan(run.held["confidence"][-1]) for run in runs):
        return _no_curve("not every prediction carries a confidence")
    if not gold:
        return _no_curve("there is no gold annotation")
    if not runs:
        return WeighedConfidence(0.0, None, [])
    total = sum(len(levels) for levels in _descending(runs)) if len(runs) > 1 else len(runs[0])
    step = -(-total // LISTED)
    if len(runs) == 1 and (known := compiled().curve(runs[0], gold, step)) is not None:
        return known
    walk = _Walk(gold, step, total - 1)
    for levels in _descending(runs):
        walk.take(levels)
    rows = CurveRows(*map(np.concatenate, zip(*walk.rows, strict=True)))
    return WeighedConfidence(as_double(walk.area) / gold, walk.best and walk.best[2], rows)


def _no_curve(reason: str) -> WeighedConfidence:
    return WeighedConfidence(None, None, None, reason)
