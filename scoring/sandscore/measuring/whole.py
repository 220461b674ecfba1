"""What is counted in a data set's parts, added up."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from sandscore.measuring import extras
from sandscore.measuring.counting import Tally
from sandscore.measuring.hipaa import HipaaMap
from sandscore.measuring.measures import Counted, added, count_all
from sandscore.measuring.parts import Parts
from sandscore.measuring.sides import Sides
from sandscore.measuring.values import Named
from sandscore.reading.files import Loaded
from sandscore.reading.forking import beside
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds
from sandscore.tasks import Task


@dataclass(frozen=True, slots=True)
class Part:
    """What some notes give to the whole."""

    counted: list[Counted]
    boundary: int
    leaking: int
    with_gold: int
    sureness: extras.Sureness


@dataclass(frozen=True, slots=True)
class Whole:
    """All that a score card says of annotations."""

    counted: list[Counted]
    errors: ErrorKinds
    note_leak: float | None
    confidence: ConfidenceCurve


def measured(task: Task, loaded: Loaded, measures: list[Named], hipaa: HipaaMap | None, jobs: int = 1) -> Whole:
    """Every measure, and what else is told of gold and predictions."""
    names = loaded.dataset.vocabulary.names
    gold = loaded.columns["gold"]
    reason = None if gold.labels() else f"gold carries no {task.label}"
    parts = Parts(loaded)

    def count(number: int) -> Part:
        part = _part(task, parts[number], names, measures, hipaa)
        parts.forget()
        return part

    found = _shared_out(count, len(parts), jobs)
    counted = [added(list(same), reason) for same in zip(*(part.counted for part in found), strict=True)]
    with_gold = sum(part.with_gold for part in found)
    return Whole(
        counted,
        _errors(task, counted, sum(part.boundary for part in found)),
        sum(part.leaking for part in found) / with_gold if with_gold else None,
        extras.confidence_curve((part.sureness for part in found), len(gold)),
    )


def _shared_out(work: Callable[[int], Part], parts: int, jobs: int) -> list[Part]:
    """Every part's counts in order, each process doing a run of parts; this one does the first."""
    cuts = [parts * job // jobs for job in range(jobs + 1)]
    runs = [range(*cut) for cut in pairwise(cuts) if cut[0] < cut[1]]
    with ExitStack() as stack:
        others = [stack.enter_context(beside(partial(_each, work, run))) for run in runs[1:]]
        return _each(work, runs[0]) + [part for other in others for part in other()]


def _each(work: Callable[[int], Part], numbers: range) -> list[Part]:
    return [work(number) for number in numbers]


def _part(task: Task, sides: Sides, names: list[str], measures: list[Named], hipaa: HipaaMap | None) -> Part:
    return Part(
        count_all(task, sides, names, measures, hipaa),
        extras.boundary_errors(sides),
        extras.leaking_notes(sides),
        int(np.count_nonzero(sides.per_note[0])),
        extras.sureness(sides),
    )


def _errors(task: Task, counted: list[Counted], boundary: int) -> ErrorKinds:
    by_name = {str(one.measure): one for one in counted}
    strict: Tally = by_name["instance_strict"].per_note
    label = by_name.get(task.label_measure or "")
    wrong = label.conditional[1] if label and label.conditional else 0
    _, fp, fn = strict.sum(axis=0).tolist()
    return ErrorKinds(missed=fn - boundary, spurious=fp - boundary, boundary=boundary, wrong_label=wrong)
