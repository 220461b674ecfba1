"""The six labels of all spans of a data set at once, on columns, where a text is as long as its span."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import distinct, ranked
from sandscore.documents.note_spans import Column, SpanSide
from sandscore.span_measures.greedy_pairing import meeting

STRICT, EXACT, PARTIAL, INCORRECT, MISS, SPURIOUS = range(6)
_LABELS = 6


class SpanLabels(Struct, frozen=True):
    """A row a verdict: its label, its note, and the type that counts it."""

    label: NDArray[np.int64]
    note: Column
    type: Column

    def by_note(self, notes: int) -> Column:
        """How many of each label every note has."""
        return self._counted(self.note, notes)

    def by_type(self, types: int) -> Column:
        """How many of each label every type has."""
        return self._counted(self.type, types)

    def _counted(self, of: Column, size: int) -> Column:
        return np.bincount(of * _LABELS + self.label, minlength=size * _LABELS).reshape(size, _LABELS)


def count_labels(gold: SpanSide, predicted: SpanSide, threshold: float) -> SpanLabels | None:
    """A verdict a prediction and a missed gold span; None where the original has no answer."""
    true, found = meeting(gold, predicted)
    shared = np.minimum(gold.end[true], predicted.end[found]) - np.maximum(gold.start[true], predicted.start[found])
    ratio = shared / np.maximum(gold.length[true], predicted.length[found])
    equal = (
        (gold.start[true] == predicted.start[found])
        & (gold.length[true] == predicted.length[found])
        & (gold.label[true] == predicted.label[found])
    )
    ratio[equal] = 2  # before all others
    first = np.flatnonzero(np.concatenate((found[:1] >= 0, found[1:] != found[:-1])))
    best = np.maximum.reduceat(ratio, first) if len(first) else ratio
    sizes = np.diff(first, append=len(found))
    at = np.flatnonzero(ratio == np.repeat(best, sizes))
    at = at[np.concatenate((found[at][:1] >= 0, found[at][1:] != found[at][:-1]))]
    label = np.full(len(predicted.note), SPURIOUS)
    if threshold <= 0 and len(at) < len(label):
        return None
    label[found[at]] = np.select(
        [equal[at], ratio[at] < threshold, gold.label[true[at]] == predicted.label[found[at]]],
        [STRICT, INCORRECT, EXACT],
        PARTIAL,
    )
    kind = predicted.label.copy()
    kind[found[at]] = gold.label[true[at]]
    missed = _not_among(_keys(gold), true[at])
    return SpanLabels(
        np.concatenate((label, np.full(len(missed), MISS))),
        np.concatenate((predicted.note, gold.note[missed])),
        np.concatenate((kind, gold.label[missed])),
    )


def _keys(side: SpanSide) -> Column:
    """Equal for spans that are equal in everything."""
    return ranked([side.note, side.label, side.start, side.length])[0]


def _not_among(keys: Column, taken: Column) -> Column:
    """The rows that equal none of those that are taken."""
    known = distinct(keys[taken])[0]
    at = np.searchsorted(known, keys)
    return np.flatnonzero(np.concatenate((known, [-1]))[at] != keys)
