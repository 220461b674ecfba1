"""Annotations that begin together: where each side has just one there is nothing to choose.

Such *plain* pairs are compared field by field. What is left, spans that share their start with another of
their own side, is the *crowd*: small, and worth the sorting that one-to-one matching takes.
"""

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints, Mask, distinct


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
