"""Kinds of error, and leaking notes: the part of a score card beside its measures."""

import heapq

from sandscore.annotations.columns import distinct
from sandscore.base.arrays import Ints, Mask, np
from sandscore.measures.aligned import Side, Sides

Spans = tuple[Ints, Ints]
"""Starts and ends."""


def boundary_errors(sides: Sides) -> int:
    """Of what is left when strict pairs are taken away, the pairs that overlap."""
    room = 1 + max(int((side.start + side.length).max(initial=0)) for side in (sides.gold, sides.predicted))
    left = []
    for side, partnered in zip((sides.gold, sides.predicted), sides.partnered, strict=True):
        rows = np.flatnonzero(~partnered)
        start = side.note[rows] * room + side.start[rows]
        left.append((start, start + side.length[rows]))
    return _boundary(*left)


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


def leaking_notes(sides: Sides) -> int:
    """In how many notes some gold character is covered by no prediction."""
    alone = sides.gold.take(np.flatnonzero(~sides.partnered[0]))
    return len(distinct(alone.note[~_covered(alone, sides.predicted)])[0])


def _covered(gold: Side, predicted: Side) -> Mask:
    """Which gold spans lie wholly under predictions."""
    if not len(predicted):
        return np.zeros(len(gold), bool)
    room = 1 + max(int((side.start + side.length).max(initial=0)) for side in (gold, predicted))
    starts = predicted.note * room + predicted.start
    reach = np.maximum.accumulate(starts + predicted.length)
    fresh = np.concatenate(([True], starts[1:] > reach[:-1]))
    first = np.flatnonzero(fresh)
    last = np.concatenate((first[1:] - 1, [len(starts) - 1]))
    begins = gold.note * room + gold.start
    at = np.searchsorted(starts[first], begins, side="right") - 1
    covered: Mask = (at >= 0) & (reach[last][np.maximum(at, 0)] >= begins + gold.length)
    return covered
