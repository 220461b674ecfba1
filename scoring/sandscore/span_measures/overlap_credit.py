"""``overlap``: how much of every annotation the other side covers, averaged over annotations.

Credits are fractions of a length, kept as integers per length until the last division: the component
``rtp/10`` counts tenths of gold annotations, ``ptp/7`` sevenths of predicted ones.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import fsum
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.documents.note_spans import Column, NoteSpans, SpanCounts, add_up, extents, named
from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.measures.measure_syntax import Parameter
from sandscore.records.document import Annotation, Document
from sandscore.span_measures.greedy_pairing import meeting, on_one_line
from sandscore.span_measures.mention_partners import Mention, credit_sums
from sandscore.span_measures.overlap_matching import Extent, overlapping_pairs

_WAYS = ("max", "sum")
Extents = tuple[Column, Column]
"""Starts and ends."""


class OverlapCredit(DocumentMeasure):
    """Share of each annotation covered by the best partner (max) or by all together (sum)."""

    name = "overlap"
    description = "share of each annotation covered by the best partner (max) or by all together (sum)"
    plain = "share of each span that is covered"
    source = "neleval's overlap aggregators, order-free"
    formula = None
    parameters = (Parameter("recall", "sum", choices=_WAYS), Parameter("precision", "max", choices=_WAYS))

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        """How many annotations either side has, and how many of their units are covered, per length."""
        gold, predictions = extents(document.gold), extents(document.predictions)
        components = Counter(gold=len(gold), predicted=len(predictions))
        for name, side, other, way in (
            ("rtp", gold, predictions, settings["recall"]),
            ("ptp", predictions, gold, settings["precision"]),
        ):
            covered = _together(side, other) if way == "sum" else _best(side, other)
            for (start, end), units in zip(side, covered, strict=True):
                if units:
                    components[f"{name}/{end - start}"] += units
        return dict(components)

    @classmethod
    def count_spans(cls, spans: NoteSpans, settings: Settings) -> SpanCounts | None:
        """The same of all notes together, as this measure is not ranked; None where places are beyond reckoning."""
        total = {"gold": len(spans.gold.note), "predicted": len(spans.predictions.note)}
        if not all(total.values()):
            return SpanCounts([total])
        extent = on_one_line(spans.gold, spans.predictions)
        if object in {column.dtype for column in extent}:
            return None
        sides = extent[:2], extent[2:]
        met = meeting(spans.gold, spans.predictions)
        recall = _units(sides[0], sides[1], met, str(settings["recall"]))
        precision = _units(sides[1], sides[0], met[::-1], str(settings["precision"]))
        total |= _by_length("rtp", spans.gold.length, recall) | _by_length("ptp", spans.predictions.length, precision)
        tangled = np.zeros(len(spans.ids), bool)
        for side, (start, end) in zip((spans.gold, spans.predictions), sides, strict=True):
            tangled[_tangled(side.note, start, end)] = True
        ours = [
            np.bincount(side.note, weights=units / side.length, minlength=len(spans.ids)).tolist()
            for side, units in ((spans.predictions, precision), (spans.gold, recall))
        ]
        notes = [
            document.id
            for number, document in spans.documents(tangled)
            if _other_credits((ours[0][number], ours[1][number]), document, settings)
        ]
        return SpanCounts([total], _warned(notes, settings))

    @classmethod
    def score(cls, total: Mapping[str, int], settings: Settings) -> dict[str, Any]:
        """Sums of credits and their means; undefined without annotations, F 0 where no credit is given."""
        gold, predicted = total.get("gold", 0), total.get("predicted", 0)
        ptp, rtp = _credit(total, "ptp/"), _credit(total, "rtp/")
        precision, recall = ptp / predicted if predicted else None, rtp / gold if gold else None
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else _none_or_zero(total)
        return {
            "ptp": ptp,
            "rtp": rtp,
            "predicted": predicted,
            "gold": gold,
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }

    @classmethod
    def warn(cls, documents: Sequence[Document], settings: Settings) -> tuple[str, ...]:
        """Where neleval's aggregator of the same name gives other credits, which needs overlap within a side."""
        return _warned([document.id for document in documents if _differs(document, settings)], settings)


def _warned(notes: Sequence[str], settings: Settings) -> tuple[str, ...]:
    if not notes:
        return ()
    name = f"overlap-{settings['recall']}{settings['precision']}"
    return (
        f"overlap: neleval's {name} gives other credits in {named(notes)}: annotations of one side overlap "
        "one another there, and its walk from the back drops some before their partners come up",
    )


def _differs(document: Document, settings: Settings) -> bool:
    ours = OverlapCredit.score(add_up([OverlapCredit.count(document, settings)]), settings)
    return _other_credits((ours["ptp"], ours["rtp"]), document, settings)


def _other_credits(ours: tuple[float, float], document: Document, settings: Settings) -> bool:
    """Whether neleval's walk gives the note other sums than ours, of predictions and of gold."""
    gold, predictions = _mentions(document.gold), _mentions(document.predictions)
    theirs = credit_sums(predictions, gold, typed=False)
    pairs = (
        (ours[0], theirs["system", str(settings["precision"])]),
        (ours[1], theirs["gold", str(settings["recall"])]),
    )
    return any(abs(mine - other) > 1e-9 * max(1.0, mine) for mine, other in pairs)


def _mentions(annotations: tuple[Annotation, ...]) -> list[Mention]:
    return sorted((Mention("", a.start, a.end - 1, None) for a in annotations), key=Mention.order)


def _units(side: Extents, other: Extents, met: tuple[Column, Column], way: str) -> Ints:
    """How many units of each of one side's annotations the other side covers; notes lie end to end."""
    if way == "sum":
        covered = CoveredPlaces.of(*other)
        return covered.below(side[1]) - covered.below(side[0])
    mine, partner = met
    best = np.zeros(len(side[0]), np.int64)
    shared = np.minimum(side[1][mine], other[1][partner]) - np.maximum(side[0][mine], other[0][partner])
    np.maximum.at(best, mine, shared)
    return best


def merged(start: Column, end: Column) -> Extents:
    """What any of these stretches covers: stretches that neither meet nor touch, in order."""
    if not len(start):
        return start, end
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.flatnonzero(np.concatenate(([True], start[1:] > reach[:-1])))
    return start[first], reach[np.concatenate((first[1:], [len(start)])) - 1]


class CoveredPlaces(Struct, frozen=True):
    """What some stretches cover together: runs that do not meet, and how much lies before each."""

    start: Ints
    end: Ints
    before: Ints

    @classmethod
    def of(cls, start: Column, end: Column) -> "CoveredPlaces":
        """What any of these stretches, of which there is one at least, covers."""
        start, reach = merged(start, end)
        return cls(start, reach, np.concatenate(([0], np.cumsum(reach - start)))[:-1])

    def below(self, place: Column) -> Ints:
        """How much is covered before these places."""
        at = np.searchsorted(self.start, place, side="right") - 1
        within = np.minimum(place, self.end[at]) - self.start[at]
        return np.where(at >= 0, self.before[at] + within, 0)


def _by_length(name: str, length: Column, units: Ints) -> Components:
    """Sums by length, of those that are covered at all."""
    some = np.flatnonzero(units)
    some = some[np.argsort(length[some], kind="stable")]
    firsts = np.flatnonzero(np.diff(length[some], prepend=-1))
    sums = np.add.reduceat(units[some], firsts).tolist() if len(some) else ()
    return {f"{name}/{size}": total for size, total in zip(length[some[firsts]].tolist(), sums, strict=True)}


def _tangled(note: Column, start: Column, end: Column) -> Column:
    """The notes where an annotation begins before one before it has ended."""
    order = np.argsort(start, kind="stable")
    reach = np.maximum.accumulate(end[order])
    return note[order][1:][start[order][1:] < reach[:-1]]


def _together(side: list[Extent], other: list[Extent]) -> list[int]:
    merged: list[Extent] = []
    for start, end in sorted(other):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    starts = [start for start, _ in merged]
    before = [0, *accumulate(end - start for start, end in merged)]

    def units_below(offset: int) -> int:
        last = bisect_right(starts, offset) - 1
        return before[last] + min(offset, merged[last][1]) - starts[last] if last >= 0 else 0

    return [units_below(end) - units_below(start) for start, end in side]


def _best(side: list[Extent], other: list[Extent]) -> list[int]:
    best = [0] * len(side)
    for i, j in overlapping_pairs(side, other):
        best[i] = max(best[i], min(side[i][1], other[j][1]) - max(side[i][0], other[j][0]))
    return best


def _credit(total: Mapping[str, int], prefix: str) -> float:
    return fsum(units / int(key[len(prefix) :]) for key, units in total.items() if key.startswith(prefix))


def _none_or_zero(total: Mapping[str, int]) -> float | None:
    return 0.0 if total.get("gold") or total.get("predicted") else None
