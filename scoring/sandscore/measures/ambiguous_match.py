"""Matching in the crowd: spans that share their start with others of their own side, by sorted keys."""

import numpy as np

from sandscore.annotations.columns import Ints, Mask
from sandscore.measures.aligned import Crowd
from sandscore.measures.packed_keys import Packed, paired, per_group
from sandscore.measures.relaxed_match import near_lengths


def strict(crowd: Crowd) -> Ints:
    """Per note, the multiset intersection of spans."""
    return per_group(paired(*crowd.spans.sides()), crowd.per_note())


def strict_by_label(crowd: Crowd, labels: int) -> Ints:
    """Per label, the same among annotations with that label."""
    gold, predicted = crowd.spans.plus(np.maximum(crowd.label, 0), labels).where(crowd.labelled).sides()
    return np.bincount(predicted[paired(gold, predicted)] % labels, minlength=labels)


def near(crowd: Crowd, tolerance: int) -> Ints:
    """Per note, maximum matching of spans whose lengths are near."""
    gold, predicted = crowd.starts.plus(crowd.length, crowd.long).sides()
    return per_group(near_lengths(gold, predicted, crowd.long, tolerance), crowd.per_note())


def near_by_label(crowd: Crowd, tolerance: int, labels: int) -> Ints:
    """Per label, the same among annotations with that label."""
    keys = crowd.starts.plus(np.maximum(crowd.label, 0), labels).plus(crowd.length, crowd.long)
    gold, predicted = keys.where(crowd.labelled).sides()
    matched = predicted[near_lengths(gold, predicted, crowd.long, tolerance)]
    return np.bincount(matched // crowd.long % labels, minlength=labels)


def carried(crowd: Crowd, carrying: tuple[Mask, Mask]) -> Mask:
    """Masks over both sides, for those of the crowd."""
    return np.concatenate((carrying[0][crowd.gold_rows], carrying[1][crowd.predicted_rows]))


def by_label_rule(crowd: Crowd, values: int, value_of: Ints, carrying: Mask) -> tuple[Ints, Ints]:
    """Per note: annotations with equal values on a span, and predictions that unlabelled gold excuses."""
    keys = crowd.spans.plus(value_of[np.maximum(crowd.label, 0)], values)
    gold, predicted = keys.where(carrying).sides()
    tp = per_group(paired(gold, predicted), crowd.per_note(carrying))
    bare = ~crowd.labelled
    bare[crowd.split :] = False
    if not bare.any():
        return tp, np.zeros(crowd.notes, np.int64)
    left = bare | _unmatched(keys, carrying)
    gold, predicted = crowd.spans.where(left).sides()
    return tp, per_group(paired(gold, predicted), crowd.per_note(left))


def _unmatched(keys: Packed, carrying: Mask) -> Mask:
    """The predictions beyond the tp of their span and value."""
    gold = np.sort(keys.keys[: keys.split][carrying[: keys.split]])
    which = keys.split + np.flatnonzero(carrying[keys.split :])
    order = which[np.argsort(keys.keys[which], kind="stable")]
    mask = np.zeros(len(keys.keys), bool)
    mask[order[~paired(gold, keys.keys[order])]] = True
    return mask
