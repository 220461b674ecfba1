"""What a score card says beside its measures: kinds of error, leaking notes, and what confidence is worth."""

import heapq
import math

import numpy as np

from sandscore.measuring.counting import Tally
from sandscore.measuring.keys import packed, paired
from sandscore.measuring.sides import Sides
from sandscore.reading.columns import Columns, Mask
from sandscore.records.counts import Counts
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds


def error_kinds(sides: Sides, strict: Tally, wrong_label: int) -> ErrorKinds:
    """What is left when strict pairs are taken away: pairs that overlap, and the rest of either side."""
    _, fp, fn = (int(column) for column in strict.sum(axis=0))
    gold_left, predicted_left = _unpaired(sides)
    boundary = 0
    left = [_spans(sides.gold, gold_left), _spans(sides.predicted, predicted_left)]
    for note in left[0].keys() & left[1].keys():
        boundary += overlapping_pairs(left[0][note], left[1][note])
    return ErrorKinds(missed=fn - boundary, spurious=fp - boundary, boundary=boundary, wrong_label=wrong_label)


def _unpaired(sides: Sides) -> tuple[Mask, Mask]:
    gold, predicted = packed(sides.span_fields)
    orders = np.argsort(gold, kind="stable"), np.argsort(predicted, kind="stable")
    sorted_keys = gold[orders[0]], predicted[orders[1]]
    left = np.ones(len(gold), bool), np.ones(len(predicted), bool)
    left[1][orders[1][paired(*sorted_keys)]] = False
    left[0][orders[0][paired(sorted_keys[1], sorted_keys[0])]] = False
    return left


def _spans(columns: Columns, mask: Mask) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    ends = columns.start + columns.length
    for note, start, end in zip(
        columns.note[mask].tolist(), columns.start[mask].tolist(), ends[mask].tolist(), strict=True
    ):
        found.setdefault(note, []).append((start, end))
    return found


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
    leaking = np.unique(sides.gold.note[~_covered(sides.gold, sides.predicted)])
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
    gold, predicted = packed(sides.span_fields)
    order = np.lexsort((-sure, predicted))
    right = np.zeros(len(predicted), np.int64)
    right[order[paired(np.sort(gold), predicted[order])]] = 1
    descending = np.argsort(-sure, kind="stable")
    last = np.flatnonzero(np.append(np.diff(sure[descending]) != 0, True)) if len(sure) else np.zeros(0, np.int64)
    tps = np.cumsum(right[descending])[last].tolist()
    rows = [
        (float(c), Counts(tp, seen - tp, total - tp))
        for c, tp, seen in zip(sure[descending][last].tolist(), tps, (last + 1).tolist(), strict=True)
    ]
    return _curve(rows, total)


def _no_curve(reason: str) -> ConfidenceCurve:
    return ConfidenceCurve(average_precision=None, best_threshold=None, curve=None, reason=reason)


def _curve(rows: list[tuple[float, Counts]], total: int) -> ConfidenceCurve:
    steps, before = [], 0
    best: tuple[float, Counts] | None = None
    for confidence, counts in rows:
        steps.append((counts.tp - before) * (counts.precision or 0.0))
        before = counts.tp
        if best is None or _better(counts, best[1]):
            best = (confidence, counts)
    return ConfidenceCurve(
        average_precision=math.fsum(steps) / total,
        best_threshold=best[0] if best else None,
        curve=[(confidence, counts.precision, counts.recall) for confidence, counts in rows],
    )


def _better(a: Counts, b: Counts) -> bool:
    """Whether F1 of a is higher, compared without dividing."""
    return a.tp * (2 * b.tp + b.fp + b.fn) > b.tp * (2 * a.tp + a.fp + a.fn)
