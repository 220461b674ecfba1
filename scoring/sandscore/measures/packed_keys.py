"""Annotations of both sides as integer keys that are equal when the annotations match.

A key packs fields, the note first, so that sorted keys lie note after note and counts per note come from the
notes' sizes alone. Both sides are packed together: gold first, predictions from ``split`` on.

Annotations that begin together: where each side has just one there is nothing to choose.

Such *plain* pairs are compared field by field. What is left, spans that share their start with another of
their own side, is the *crowd*: small, and worth the sorting that one-to-one matching takes.
"""

from msgspec import Struct

from sandscore.annotations.columns import distinct, ranked
from sandscore.base.arrays import Ints, Mask, np


class Joined(Struct, frozen=True):
    """Index pairs of plain partners, and which rows of both sides are of the crowd."""

    gold: Ints
    predicted: Ints
    crowded_gold: Ints
    crowded_predicted: Ints


def join(gold: Ints, predicted: Ints) -> Joined:
    """Join both sides on their keys, which are sorted."""
    none = np.zeros(0, np.int64)
    if not len(gold) or not len(predicted):
        return Joined(none, none, none, none)
    at = np.minimum(np.searchsorted(gold, predicted), len(gold) - 1)
    shared = gold[at] == predicted
    tight = shared & (repeats(predicted) | repeats(gold)[at])
    plain = np.flatnonzero(shared & ~tight)
    crowded = np.flatnonzero(tight)
    if not len(crowded):
        return Joined(at[plain], plain, none, none)
    firsts = distinct(at[crowded])[0]
    sizes = np.searchsorted(gold, gold[firsts], side="right") - firsts
    steps = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Joined(at[plain], plain, np.repeat(firsts, sizes) + steps, crowded)


def repeats(keys: Ints) -> Mask:
    """Which of the sorted keys are not alone."""
    same = keys[1:] == keys[:-1]
    return np.concatenate((same, [False])) | np.concatenate(([False], same))


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
