"""Counts per group for every measure of the challenge: (tp, fp, fn) as three columns of integers."""

from collections.abc import Mapping

import numpy as np

from sandscore.measuring.keys import common, packed, paired, sorted_sides
from sandscore.measuring.relaxed import near_boundaries, near_lengths
from sandscore.measuring.sides import Sides
from sandscore.measuring.values import Scalar
from sandscore.reading.columns import Ints, Mask
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
    sizes = [np.bincount(side, minlength=sides.n) for side in sides.groups]
    tolerance = int(settings["relax"])
    starts = sides.start_field
    lengths = (sides.gold.length, sides.predicted.length)
    if settings["boundary"] == "both":
        ends = (starts[0] + lengths[0], starts[1] + lengths[1])
        tp = _both(sides, starts, ends, tolerance)
    else:
        tp = near_lengths(sides.groups, starts, lengths, sides.n, tolerance)
    return tally(tp, sizes[0], sizes[1])


def _both(sides: Sides, starts: tuple[Ints, Ints], ends: tuple[Ints, Ints], tolerance: int) -> Ints:
    if sides.within is None:
        return near_boundaries(sides.groups, starts, ends, sides.n, tolerance)
    _, codes = np.unique(np.concatenate(packed([sides.groups, sides.within])), return_inverse=True)
    finer = (codes[: len(sides.gold)], codes[len(sides.gold) :])
    found = near_boundaries(finer, starts, ends, 1 + int(codes.max(initial=0)), tolerance)
    out = np.zeros(sides.n, np.int64)
    group_of = dict(zip(finer[0].tolist(), sides.groups[0].tolist(), strict=True))
    for code, group in group_of.items():
        out[group] += found[code]
    return out


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
