"""Annotations of both sides as sorted integer keys, group by group, and how many find a partner.

A key packs a group (a note, or a label) and whatever must agree; two annotations match when their keys are
equal. Sorted keys lie group after group, so counts per group come from the groups' sizes alone.
"""

from dataclasses import dataclass

import numpy as np

from sandscore.reading.columns import Ints, Mask, ranked


@dataclass(frozen=True, slots=True)
class Sorted:
    """One side's keys in ascending order and the number of them in each group."""

    keys: Ints
    sizes: Ints

    def per_group(self, mask: Mask) -> Ints:
        """How many keys of each group the mask picks."""
        ends = np.concatenate(([0], np.cumsum(mask)))[np.concatenate(([0], np.cumsum(self.sizes)))]
        return np.diff(ends)


def packed(fields: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Both sides' fields as single integers that compare as the tuples of the fields do."""
    split = len(fields[0][0])
    keys = ranked([np.concatenate(field) for field in fields])
    return keys[:split], keys[split:]


def sorted_sides(fields: list[tuple[Ints, Ints]], groups: int) -> tuple[Sorted, Sorted]:
    """Both sides' keys; the first field is the group."""
    sizes = [np.bincount(side, minlength=groups) for side in fields[0]]
    keys = packed(fields)
    return Sorted(np.sort(keys[0]), sizes[0]), Sorted(np.sort(keys[1]), sizes[1])


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


def common(gold: Sorted, predicted: Sorted) -> Ints:
    """Per group, the size of the multiset intersection."""
    return predicted.per_group(paired(gold.keys, predicted.keys))
