"""Annotations of both sides as integer keys that are equal when the annotations match.

A key packs fields, the note first, so that sorted keys lie note after note and counts per note come from the
notes' sizes alone. Both sides are packed together: gold first, predictions from ``split`` on.
"""

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints, Mask, ranked

_ROOM = 1 << 62


class Packed(Struct, frozen=True):
    """Keys of both sides below ``size``."""

    keys: Ints
    size: int
    split: int

    def plus(self, values: Ints, radix: int) -> "Packed":
        """With one more field, which is not negative and below ``radix``."""
        if self.size * radix >= _ROOM:
            fewer = np.unique(self.keys, return_inverse=True)[1].astype(np.int64)
            return Packed(fewer, len(fewer) + 1, self.split).plus(values, radix)
        return Packed(self.keys * radix + values, self.size * radix, self.split)

    def where(self, mask: Mask) -> "Packed":
        """Only the keys the mask picks."""
        if mask.all():
            return self
        return Packed(self.keys[mask], self.size, int(np.count_nonzero(mask[: self.split])))

    def sides(self) -> tuple[Ints, Ints]:
        """Gold and predictions, each in ascending order."""
        return np.sort(self.keys[: self.split]), np.sort(self.keys[self.split :])


def packed(fields: list[Ints], split: int) -> Packed:
    """Keys that compare as the tuples of the fields do."""
    keys, size = ranked(fields)
    return Packed(keys, size, split)


def paired(gold: Ints, predicted: Ints) -> Mask:
    """Which of the sorted predicted keys find an equal gold key of their own."""
    if not len(gold) or not len(predicted):
        return np.zeros(len(predicted), bool)
    fresh = np.concatenate(([True], predicted[1:] != predicted[:-1]))
    at = np.searchsorted(gold, predicted)
    if not fresh.all():
        index = np.arange(len(predicted))
        at += index - np.maximum.accumulate(np.where(fresh, index, 0))
    found: Mask = (at < len(gold)) & (gold[np.minimum(at, len(gold) - 1)] == predicted)
    return found


def per_group(mask: Mask, sizes: Ints) -> Ints:
    """How many of the sorted keys a mask picks in each group; groups lie one after another."""
    picked = np.concatenate(([0], np.cumsum(mask)))
    return np.diff(picked[np.concatenate(([0], np.cumsum(sizes)))])
