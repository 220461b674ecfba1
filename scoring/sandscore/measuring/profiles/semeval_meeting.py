"""Which true and predicted mentions of a note can meet at all."""

from collections.abc import Iterator

import numpy as np

from sandscore.measuring.general.matching import Pair, overlapping_pairs
from sandscore.measuring.profiles.semeval_columns import Column, Side

_CROWDED = 16
"""Looked-at pairs per annotation beyond which the sweep, which looks at overlapping ones only, is better."""


def meeting(true: Side, found: Side) -> tuple[Column, Column]:
    """Indices of pairs that share a unit, by prediction, then by true mention; more where lengths are odd."""
    if not len(true.note) or not len(found.note):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if (true.length < 1).any() or (found.length < 1).any():
        return _ordered(list(_everybody(true, found)))
    shifted = _on_one_line(true, found)
    if object not in {column.dtype for column in shifted} and (near := _neighbours(*shifted)):
        return near
    gold, predictions = (
        zip(*(c.tolist() for c in shifted[:2]), strict=True),
        zip(*(c.tolist() for c in shifted[2:]), strict=True),
    )
    return _ordered(overlapping_pairs(list(gold), list(predictions)))


def _on_one_line(true: Side, found: Side) -> tuple[Column, Column, Column, Column]:
    """Starts and ends with notes laid end to end, so that only those of one note can overlap."""
    least = min(int(true.start.min()), int(found.start.min()))
    width = max(int(true.end.max()), int(found.end.max())) - least
    notes = int(max(true.note[-1], found.note[-1])) + 1
    wide = width * notes >= 2**61
    shifted = []
    for side in (true, found):
        offset = (side.note.astype(object) if wide else side.note) * width - least
        shifted += [side.start + offset, side.end + offset]
    return shifted[0], shifted[1], shifted[2], shifted[3]


def _neighbours(starts: Column, ends: Column, found_starts: Column, found_ends: Column) -> tuple[Column, Column] | None:
    """By binary search: a prediction's partners start before its end and are not all over before its start."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    first = np.searchsorted(np.maximum.accumulate(ends), found_starts, side="right")
    count = np.maximum(np.searchsorted(starts, found_ends, side="left") - first, 0)
    total = int(count.sum())
    if total > _CROWDED * (len(starts) + len(found_starts)):
        return None
    found = np.repeat(np.arange(len(found_starts)), count)
    before = np.cumsum(count) - count
    at = np.arange(total) + np.repeat(first - before, count)
    real = ends[at] > found_starts[found]
    true, found = order[at[real]], found[real]
    by = np.lexsort((true, found))
    return true[by], found[by]


def _everybody(true: Side, found: Side) -> Iterator[Pair]:
    """All pairs of a note: no sweep understands a mention that ends before it starts."""
    members: dict[int, list[int]] = {}
    for i, note in enumerate(true.note.tolist()):
        members.setdefault(note, []).append(i)
    for j, note in enumerate(found.note.tolist()):
        yield from ((i, j) for i in members.get(note, ()))


def _ordered(pairs: list[Pair]) -> tuple[Column, Column]:
    true, found = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    by = np.lexsort((true, found))
    return true[by], found[by]
