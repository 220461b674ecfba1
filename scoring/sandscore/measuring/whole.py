"""What is counted in a data set's parts, added up."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.measuring import extras
from sandscore.measuring.confidence import Handed, Ledger, Levels, confidence_curve, levels_of
from sandscore.measuring.counting import Tally
from sandscore.measuring.hipaa import HipaaMap
from sandscore.measuring.measures import Counted, added, count_all
from sandscore.measuring.parts import Parts
from sandscore.measuring.sides import Sides
from sandscore.measuring.values import Named
from sandscore.reading.files import Loaded
from sandscore.reading.forking import beside
from sandscore.tasks import Task


class Part(Struct, frozen=True):
    """What some notes give to the whole."""

    counted: list[Counted]
    boundary: int
    leaking: int
    with_gold: int


Work = Callable[[int], tuple[Part, Levels]]


class Whole(Struct, frozen=True):
    """All that a score card says of annotations, as plain values."""

    counted: list[Counted]
    errors: dict[str, int]
    note_leak: float | None
    confidence: dict[str, Any]


def measured(task: Task, loaded: Loaded, measures: list[Named], hipaa: HipaaMap | None, jobs: int = 1) -> Whole:
    """Every measure, and what else is told of gold and predictions."""
    names = loaded.dataset.vocabulary.names
    gold = loaded.columns["gold"]
    reason = None if gold.labels() else f"gold carries no {task.label}"
    parts = Parts(loaded)

    def count(number: int) -> tuple[Part, Levels]:
        sides = parts[number]
        part = _part(task, sides, names, measures, hipaa), levels_of(sides)
        parts.forget()
        return part

    found, ledgers = _shared_out(count, len(parts), jobs)
    counted = [added(list(same), reason) for same in zip(*(part.counted for part in found), strict=True)]
    with_gold = sum(part.with_gold for part in found)
    return Whole(
        counted,
        _errors(task, counted, sum(part.boundary for part in found)),
        sum(part.leaking for part in found) / with_gold if with_gold else None,
        confidence_curve(ledgers, len(gold)),
    )


def _shared_out(work: Work, parts: int, jobs: int) -> tuple[list[Part], list[Ledger]]:
    """Every part's counts in order, each process doing a run of parts; this one does the first."""
    cuts = [parts * job // jobs for job in range(jobs + 1)]
    runs = [range(*cut) for cut in pairwise(cuts) if cut[0] < cut[1]]
    ledgers = [Ledger(shared=number > 0) for number in range(len(runs))]
    each = [partial(_each, work, run, ledger) for run, ledger in zip(runs, ledgers, strict=True)]
    with ExitStack() as stack:
        others = [stack.enter_context(beside(one)) for one in each[1:]]
        found = [each[0](), *(other() for other in others)]
    for ledger, (_, handed) in zip(ledgers, found, strict=True):
        ledger.take(handed)
    return [part for counted, _ in found for part in counted], ledgers


def _each(work: Work, numbers: range, ledger: Ledger) -> tuple[list[Part], Handed]:
    found = []
    for number in numbers:
        part, levels = work(number)
        found.append(part)
        ledger.add(levels)
    return found, ledger.handed_over()


def _part(task: Task, sides: Sides, names: list[str], measures: list[Named], hipaa: HipaaMap | None) -> Part:
    return Part(
        count_all(task, sides, names, measures, hipaa),
        extras.boundary_errors(sides),
        extras.leaking_notes(sides),
        int(np.count_nonzero(sides.per_note[0])),
    )


def _errors(task: Task, counted: list[Counted], boundary: int) -> dict[str, int]:
    by_name = {str(one.measure): one for one in counted}
    strict: Tally = by_name["instance_strict"].per_note
    label = by_name.get(task.label_measure or "")
    wrong = label.conditional[1] if label and label.conditional else 0
    _, fp, fn = strict.sum(axis=0).tolist()
    return {"missed": fn - boundary, "spurious": fp - boundary, "boundary": boundary, "wrong_label": wrong}
