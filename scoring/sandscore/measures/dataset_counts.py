"""Counts of a whole data set: those of its parts, added up.

A data set in parts of some notes each: every count adds up over notes, and a part fits the processor's cache.
"""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.annotations.note_runs import borders, runs_of
from sandscore.base.arrays import np
from sandscore.base.forked_work import beside
from sandscore.base.removable_rooms import compiled
from sandscore.measures import error_kinds
from sandscore.measures.aligned import Sides, side_of
from sandscore.measures.challenge_measures import Counted, added, count_all, totals
from sandscore.measures.confidence import (
    ConfidenceLedger,
    Handed,
    Levels,
    WeighedConfidence,
    confidence_curve,
    levels_of,
)
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_syntax import Named
from sandscore.task_table.task import Task

PART = 1 << 16
_ALL = 1 << 62


class Chunks:
    """Gold and predictions of as many notes as have about ``size`` annotations; at least one part."""

    def __init__(self, loaded: Loaded, size: int = PART) -> None:
        notes = len(loaded.dataset.roll)
        self._dataset = loaded.dataset
        self._notes = notes
        self.files = [runs_of(loaded.columns[role]) for role in ("gold", "predictions")]
        self.cut(size)

    def cut(self, size: int) -> None:
        """Into parts of another size."""
        self.borders = [(0, self._notes)]
        if sum(len(file.columns) for file in self.files) > size:
            gold, predicted = (file.per_note(self._notes) for file in self.files)
            self.borders = list(pairwise(borders(gold + predicted, size)))

    def __len__(self) -> int:
        return len(self.borders)

    def __getitem__(self, part: int) -> Sides:
        first, last = self.borders[part]
        gold, predicted = (side_of(file.take(first, last), first) for file in self.files)
        return Sides(gold, predicted, last - first, first, self._dataset)

    def forget(self) -> None:
        """Give the memory of what was looked at back, where it can be read again."""
        for file in self.files:
            file.columns.forget()


class PositionMeasures(Protocol):
    """Measures of what is masked of the notes' positions: counted part by part beside the others, in tables of their
    own. ``rooms``: where the kernel is to write what it can tell of them."""

    @property
    def on_columns(self) -> bool:
        """Whether the kernel cannot tell all of it."""

    @property
    def rooms(self) -> Callable[..., Any] | None:
        """None where it can tell nothing."""

    def part(self, sides: Callable[[], Sides], border: tuple[int, int], told: Any = None) -> Any:
        """What some notes give to the whole; ``told`` by the kernel."""

    def tables(self, parts: list[Any], loaded: Loaded) -> list[Any]:
        """The parts as one."""


class CountedPart(Struct, frozen=True):
    """What some notes give to the whole."""

    counted: list[Counted]
    boundary: int
    leaking: int
    with_gold: int
    positions: Any = None


Work = Callable[[int], tuple[CountedPart, Levels]]


class DataSetCounts(Struct, frozen=True):
    """All that a score card says of annotations, as plain values."""

    counted: list[Counted]
    errors: dict[str, int]
    note_leak: float | None
    confidence: WeighedConfidence
    leaks: list[Any] = []


def measured(
    task: Task,
    loaded: Loaded,
    measures: list[Named],
    hipaa: HipaaMap | None,
    jobs: int = 1,
    leaks: PositionMeasures | None = None,
) -> DataSetCounts:
    """Every measure, and what else is told of gold and predictions."""
    names = loaded.dataset.vocabulary.names
    gold = loaded.columns["gold"]
    reason = None if gold[:1].labels() or gold.labels() else f"gold carries no {task.label}"
    parts = Chunks(loaded, _ALL)
    quick = compiled().part_counter(task, loaded, parts, measures, hipaa, leaks)
    if not quick or jobs > 1 or (leaks and leaks.on_columns):
        parts.cut(PART)

    def count(number: int) -> tuple[CountedPart, Levels]:
        part = quick(number) if quick else None
        if part is None:
            sides = parts[number]
            part = _part(task, sides, names, measures, hipaa, leaks), levels_of(sides)
        parts.forget()
        return part

    found, ledgers = _shared_out(count, len(parts), jobs)
    counted = [added(list(same), reason) for same in zip(*(part.counted for part in found), strict=True)]
    with_gold = sum(part.with_gold for part in found)
    return DataSetCounts(
        counted,
        _errors(task, counted, sum(part.boundary for part in found)),
        sum(part.leaking for part in found) / with_gold if with_gold else None,
        confidence_curve(ledgers, len(gold)),
        leaks.tables([part.positions for part in found], loaded) if leaks else [],
    )


def _shared_out(work: Work, parts: int, jobs: int) -> tuple[list[CountedPart], list[ConfidenceLedger]]:
    """Every part's counts in order, each process doing a run of parts; this one does the first."""
    cuts = [parts * job // jobs for job in range(jobs + 1)]
    runs = [range(*cut) for cut in pairwise(cuts) if cut[0] < cut[1]]
    ledgers = [ConfidenceLedger(shared=number > 0) for number in range(len(runs))]
    each = [partial(_each, work, run, ledger) for run, ledger in zip(runs, ledgers, strict=True)]
    with ExitStack() as stack:
        others = [stack.enter_context(beside(one)) for one in each[1:]]
        found = [each[0](), *(other() for other in others)]
    for ledger, (_, handed) in zip(ledgers, found, strict=True):
        ledger.take(handed)
    return [part for counted, _ in found for part in counted], ledgers


def _each(work: Work, numbers: range, ledger: ConfidenceLedger) -> tuple[list[CountedPart], Handed]:
    found = []
    for number in numbers:
        part, levels = work(number)
        found.append(part)
        ledger.add(levels)
    return found, ledger.handed_over()


def _part(
    task: Task,
    sides: Sides,
    names: list[str],
    measures: list[Named],
    hipaa: HipaaMap | None,
    leaks: PositionMeasures | None,
) -> CountedPart:
    return CountedPart(
        count_all(task, sides, names, measures, hipaa),
        error_kinds.boundary_errors(sides),
        error_kinds.leaking_notes(sides),
        int(np.count_nonzero(sides.per_note[0])),
        leaks.part(lambda: sides, (sides.first, sides.first + sides.notes)) if leaks else None,
    )


def _errors(task: Task, counted: list[Counted], boundary: int) -> dict[str, int]:
    by_name = {str(one.measure): one for one in counted}
    if "instance_strict" not in by_name:
        return {}
    label = by_name.get(task.label_measure or "")
    wrong = label.conditional[1] if label and label.conditional else 0
    _, fp, fn = totals(by_name["instance_strict"].held["per_note"])
    return {"missed": fn - boundary, "spurious": fp - boundary, "boundary": boundary, "wrong_label": wrong}
