"""Counts per group for every measure of the challenge: (tp, fp, fn) as three columns of integers."""

from collections.abc import Mapping

import numpy as np

from sandscore.measuring.keys import common, packed, paired, sorted_sides
from sandscore.measuring.relaxed import near_boundaries, near_lengths
from sandscore.measuring.sides import Sides
from sandscore.measuring.values import Scalar
from sandscore.reading.columns import Ints, Mask, ranked
from sandscore.reading.labels import ABSENT

Tally = Ints
"""One row a group: tp, fp, fn."""


def tally(tp: Ints, gold: Ints, predicted: Ints) -> Tally:
    """True positives and both sides' numbers as tp, fp, fn."""
    return np.stack((tp, predicted - tp, gold - tp), axis=1)


def instance_strict(sides: Sides) -> Tally:
    """Same start, length and text."""
    gold, predicted = sorted_sides(sides.span_fields, sides.n)
    return tally(common(gold, predicted), gold.sizes, predicted.sizes)


def token(sides: Sides) -> Tally:
    """White-space tokens with the same start and text; each side's tokens are a multiset."""
    gold, predicted = sorted_sides(sides.token_fields, sides.n)
    return tally(common(gold, predicted), gold.sizes, predicted.sizes)


def instance_relax(sides: Sides, settings: Mapping[str, Scalar]) -> Tally:
    """Same start and nearly the same length, or both boundaries nearly the same."""
    tolerance = int(settings["relax"])
    if settings["boundary"] == "both":
        return _both(sides, tolerance)
    gold, predicted = sorted_sides([*sides.start_fields, sides.lengths], sides.n)
    radix = 1 + max(int(side.max(initial=0)) for side in sides.lengths)
    return tally(near_lengths(gold, predicted, radix, tolerance), gold.sizes, predicted.sizes)


def _both(sides: Sides, tolerance: int) -> Tally:
    """Matching is done note by note, whatever the group, and then summed."""
    notes = sides.groups if sides.within is None else sides.within
    codes = ranked([np.concatenate(sides.groups), np.concatenate(notes)])
    cells, cell = np.unique(codes, return_inverse=True)
    split = len(sides.gold)
    starts = (sides.gold.start, sides.predicted.start)
    ends = (starts[0] + sides.lengths[0], starts[1] + sides.lengths[1])
    found = near_boundaries((cell[:split], cell[split:]), starts, ends, len(cells), tolerance)
    group_of = np.zeros(len(cells), np.int64)
    group_of[cell] = np.concatenate(sides.groups)
    tp = np.bincount(group_of, weights=found, minlength=sides.n).astype(np.int64)
    sizes = [np.bincount(side, minlength=sides.n) for side in sides.groups]
    return tally(tp, sizes[0], sizes[1])


def labelled(sides: Sides) -> Tally:
    """Strict match and equal label, over annotations that carry a label.

    A labelled prediction on a span that gold annotates without a label is neither right nor wrong.
    """
    carrying = sides.kept(sides.gold.label != ABSENT, sides.predicted.label != ABSENT)
    labels = (carrying.gold.label, carrying.predicted.label)
    gold, predicted = sorted_sides([*carrying.span_fields, labels], sides.n)
    tp = common(gold, predicted)
    return np.stack((tp, predicted.sizes - tp - _excused(sides), gold.sizes - tp), axis=1)


def _excused(sides: Sides) -> Ints:
    """Per group: Σ over spans of min(unlabelled gold, labelled predictions that matched no label)."""
    bare = sides.gold.label == ABSENT
    if not bare.any():
        return np.zeros(sides.n, np.int64)
    left = sides.kept(bare, _unmatched(sides))
    return common(*sorted_sides(left.span_fields, sides.n))


def _unmatched(sides: Sides) -> Mask:
    """Mask of the labelled predictions beyond the tp of their span and label."""
    carrying = np.flatnonzero(sides.predicted.label != ABSENT)
    kept = sides.kept(sides.gold.label != ABSENT, sides.predicted.label != ABSENT)
    gold, predicted = packed([*kept.span_fields, (kept.gold.label, kept.predicted.label)])
    order = np.argsort(predicted, kind="stable")
    mask = np.zeros(len(sides.predicted), bool)
    mask[carrying[order[~paired(np.sort(gold), predicted[order])]]] = True
    return mask


def differing(sides: Sides, right: Ints) -> int:
    """Strict pairs of labelled annotations whose labels differ; ``right`` counts those that agree."""
    carrying = sides.kept(sides.gold.label != ABSENT, sides.predicted.label != ABSENT)
    pairs = common(*sorted_sides(carrying.span_fields, sides.n))
    return int(pairs.sum() - right.sum())


def hipaa(sides: Sides, protected: Ints) -> Tally:
    """As ``labelled``, with each label replaced by whether HIPAA protects it."""
    return labelled(sides.mapped(protected))


def hipaa_only(sides: Sides, protected: Ints) -> Tally:
    """As ``labelled``, after dropping the labels HIPAA does not protect from both sides."""
    table = np.append(protected.astype(bool), True)
    gold = table[sides.gold.label]
    predicted = table[sides.predicted.label] & (sides.predicted.label != ABSENT)
    return labelled(sides.kept(gold, predicted))
