"""Annotations that begin together: where each side has just one there is nothing to choose.

Such *plain* pairs are compared field by field. What is left, spans that share their start with another of
their own side, is the *crowd*: small, and worth the sorting that one-to-one matching takes.
"""

from dataclasses import dataclass

import numpy as np

from sandscore.measuring.keys import Packed
from sandscore.reading.columns import Ints, Mask


@dataclass(frozen=True, slots=True)
class Joined:
    """Index pairs of plain partners, and masks of both sides' members of the crowd."""

    gold: Ints
    predicted: Ints
    crowded_gold: Mask
    crowded_predicted: Mask


def join(starts: Packed) -> Joined:
    """Join both sides on their keys."""
    gold, predicted = _ordered(starts.keys[: starts.split]), _ordered(starts.keys[starts.split :])
    crowded = np.zeros(len(gold[0]), bool), np.zeros(len(predicted[0]), bool)
    none = np.zeros(0, np.int64)
    if not len(gold[0]) or not len(predicted[0]):
        return Joined(none, none, *crowded)
    at = np.minimum(np.searchsorted(gold[0], predicted[0]), len(gold[0]) - 1)
    shared = gold[0][at] == predicted[0]
    tight = shared & (_repeats(predicted[0]) | _repeats(gold[0])[at])
    plain = np.flatnonzero(shared & ~tight)
    crowded[1][predicted[1][tight]] = True
    run = np.cumsum(np.concatenate(([True], gold[0][1:] != gold[0][:-1]))) - 1
    tight_run = np.zeros(int(run[-1]) + 1, bool)
    tight_run[run[at[tight]]] = True
    crowded[0][gold[1][tight_run[run]]] = True
    return Joined(gold[1][at[plain]], predicted[1][plain], *crowded)


def _ordered(keys: Ints) -> tuple[Ints, Ints]:
    """Keys in ascending order and where each came from; cheap where they are in order already."""
    if bool((keys[1:] >= keys[:-1]).all()):
        return keys, np.arange(len(keys))
    order = np.argsort(keys, kind="stable")
    return keys[order], order


def _repeats(keys: Ints) -> Mask:
    same = keys[1:] == keys[:-1]
    return np.concatenate((same, [False])) | np.concatenate(([False], same))
