"""What is counted in a data set's parts, added up."""

from dataclasses import dataclass

import numpy as np

from sandscore.measuring import extras
from sandscore.measuring.counting import Tally
from sandscore.measuring.hipaa import HipaaMap
from sandscore.measuring.measures import Counted, added, count_all
from sandscore.measuring.parts import parts
from sandscore.measuring.sides import Sides
from sandscore.measuring.values import Named
from sandscore.reading.files import Loaded
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


def measured(task: Task, loaded: Loaded, measures: list[Named], hipaa: HipaaMap | None) -> Whole:
    """Every measure, and what else is told of gold and predictions."""
    names = loaded.dataset.vocabulary.names
    gold = loaded.columns["gold"]
    reason = None if bool((gold.label >= 0).any()) else f"gold carries no {task.label}"
    found = [_part(task, sides, names, measures, hipaa) for sides in parts(loaded)]
    counted = [added(list(same), reason) for same in zip(*(part.counted for part in found), strict=True)]
    with_gold = sum(part.with_gold for part in found)
    return Whole(
        counted,
        _errors(task, counted, sum(part.boundary for part in found)),
        sum(part.leaking for part in found) / with_gold if with_gold else None,
        extras.confidence_curve((part.sureness for part in found), len(gold)),
    )


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
