"""What a score card says beside its measures: kinds of error, leaking notes, and what confidence is worth."""

import heapq
import math
from operator import mul

import numpy as np

from sandscore.measuring.counting import Tally
from sandscore.measuring.keys import paired
from sandscore.measuring.sides import Sides
from sandscore.reading.columns import Columns, Ints, Mask, select
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds

Spans = tuple[Ints, Ints]
"""Starts and ends."""


def error_kinds(sides: Sides, strict: Tally, wrong_label: int) -> ErrorKinds:
    """What is left when strict pairs are taken away: pairs that overlap, and the rest of either side."""
    _, fp, fn = (int(column) for column in strict.sum(axis=0))
    boundary = _boundary(*_left_over(sides))
    return ErrorKinds(missed=fn - boundary, spurious=fp - boundary, boundary=boundary, wrong_label=wrong_label)


def _left_over(sides: Sides) -> tuple[Spans, Spans]:
    """Starts and ends of either side's annotations without a strict partner, in order, notes one after another."""
    room = 1 + int((sides.start + sides.length).max(initial=0))
    start = sides.note * room + sides.start
    found = []
    for shift, partnered in ((0, sides.partnered[0]), (sides.split, sides.partnered[1])):
        left = shift + np.flatnonzero(~partnered)
        left = left[np.argsort(start[left], kind="stable")]
        found.append((start[left], start[left] + sides.length[left]))
    return found[0], found[1]


def _boundary(gold: Spans, predicted: Spans) -> int:
    """The largest number of overlapping pairs: at once where spans have one neighbour, else by sweeping."""
    if not len(gold[0]) or not len(predicted[0]):
        return 0
    first, last = _neighbours(gold, predicted), _neighbours(predicted, gold)
    nearest = np.minimum(first[0], len(predicted[0]) - 1)
    plain_gold = (first[1] - first[0] == 1) & (last[1] - last[0] == 1)[nearest]
    crowded_gold = (first[1] > first[0]) & ~plain_gold
    partners = np.zeros(len(predicted[0]), bool)
    partners[nearest[plain_gold]] = True
    crowded = (last[1] > last[0]) & ~partners
    swept = [
        list(zip(side[0][mask].tolist(), side[1][mask].tolist(), strict=True))
        for side, mask in ((gold, crowded_gold), (predicted, crowded))
    ]
    return int(np.count_nonzero(plain_gold)) + overlapping_pairs(*swept)


def _neighbours(side: Spans, other: Spans) -> tuple[Ints, Ints]:
    """For each span the range of the other side's spans that may overlap it."""
    reach = np.maximum.accumulate(other[1])
    return np.searchsorted(reach, side[0], side="right"), np.searchsorted(other[0], side[1], side="left")


def overlapping_pairs(gold: list[tuple[int, int]], predicted: list[tuple[int, int]]) -> int:
    """The largest number of one-to-one pairs of spans that overlap.

    Spans are closed in order of their ends. The one that closes first takes, of the other side's open spans,
    the one that ends next: whatever that one could be paired with later, the others can be paired with too.
    """
    events = sorted([(end, 0, start) for start, end in gold] + [(end, 1, start) for start, end in predicted])
    waiting: tuple[list[tuple[int, int, int]], ...] = ([], [])
    by_start = sorted(range(len(events)), key=lambda i: events[i][2])
    taken = [False] * len(events)
    opened, pairs = 0, 0
    for index, (end, side, _) in enumerate(events):
        while opened < len(by_start) and events[by_start[opened]][2] < end:
            i = by_start[opened]
            heapq.heappush(waiting[events[i][1]], (events[i][0], i, 0))
            opened += 1
        if taken[index]:
            continue
        taken[index] = True
        others = waiting[1 - side]
        while others and taken[others[0][1]]:
            heapq.heappop(others)
        if others:
            taken[heapq.heappop(others)[1]] = True
            pairs += 1
    return pairs


def note_leak(sides: Sides) -> float | None:
    """The share of notes with gold in which some gold character is covered by no prediction."""
    with_gold = np.unique(sides.gold.note)
    if not len(with_gold):
        return None
    alone = select(sides.gold, ~sides.partnered[0])
    leaking = np.unique(alone.note[~_covered(alone, sides.predicted)])
    return len(leaking) / len(with_gold)


def _covered(gold: Columns, predicted: Columns) -> Mask:
    """Which gold spans lie wholly under predictions."""
    if not len(predicted):
        return np.zeros(len(gold), bool)
    room = 1 + max(int((side.start + side.length).max(initial=0)) for side in (gold, predicted))
    order = np.argsort(predicted.note * room + predicted.start, kind="stable")
    starts = (predicted.note * room + predicted.start)[order]
    reach = np.maximum.accumulate(starts + predicted.length[order])
    fresh = np.concatenate(([True], starts[1:] > reach[:-1]))
    first = np.flatnonzero(fresh)
    last = np.concatenate((first[1:] - 1, [len(starts) - 1]))
    begins = gold.note * room + gold.start
    at = np.searchsorted(starts[first], begins, side="right") - 1
    covered: Mask = (at >= 0) & (reach[last][np.maximum(at, 0)] >= begins + gold.length)
    return covered


def confidence_curve(sides: Sides) -> ConfidenceCurve:
    """Precision and recall of ``instance_strict`` over the predictions at least as sure as each confidence."""
    sure = sides.predicted.confidence
    total = len(sides.gold)
    if np.isnan(sure).any():
        return ConfidenceCurve(
            average_precision=None, best_threshold=None, curve=None, reason="not every prediction carries a confidence"
        )
    if not total:
        return ConfidenceCurve(
            average_precision=None, best_threshold=None, curve=None, reason="there is no gold annotation"
        )
    right = _right(sides)
    descending = np.argsort(-sure, kind="stable")
    last = np.flatnonzero(np.append(np.diff(sure[descending]) != 0, True)) if len(sure) else np.zeros(0, np.int64)
    return _curve(sure[descending][last].tolist(), np.cumsum(right[descending])[last], last + 1, total)


def _right(sides: Sides) -> Ints:
    """1 for each prediction that is right when, of equal spans, the surest are taken first."""
    right = np.zeros(len(sides.predicted), np.int64)
    right[sides.plain.predicted[sides.plain.equal]] = 1
    if sides.crowd is not None:
        keys, split = sides.crowd.spans.keys, sides.crowd.split
        order = np.lexsort((-sides.crowd.predicted.confidence, keys[split:]))
        surest = order[paired(np.sort(keys[:split]), keys[split:][order])]
        right[np.flatnonzero(sides.crowded[sides.split :])[surest]] = 1
    return right


def _no_curve(reason: str) -> ConfidenceCurve:
    return ConfidenceCurve(average_precision=None, best_threshold=None, curve=None, reason=reason)


def _curve(confidences: list[float], tp: Ints, seen: Ints, total: int) -> ConfidenceCurve:
    precision, recall = (tp / seen).tolist(), (tp / total).tolist()
    gained = np.diff(tp, prepend=0).tolist()
    best = 0
    hits, sums = tp.tolist(), (seen + total).tolist()
    for i in range(1, len(hits)):
        if hits[i] * sums[best] > hits[best] * sums[i]:
            best = i
    return ConfidenceCurve(
        average_precision=math.fsum(map(mul, gained, precision)) / total,
        best_threshold=confidences[best] if confidences else None,
        curve=list(zip(confidences, precision, recall, strict=True)),
    )
