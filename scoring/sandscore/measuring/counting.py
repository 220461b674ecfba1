"""Counts for every measure of the challenge: tp, fp and fn a note and, for most, a label."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sandscore.measuring.keys import Packed, paired, per_group
from sandscore.measuring.relaxed import near_boundaries, near_lengths
from sandscore.measuring.sides import Sides, counted
from sandscore.measuring.values import Scalar
from sandscore.reading.columns import Ints, Mask

Tally = Ints
"""One row a note, or a label: tp, fp, fn."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """A measure's counts; ``per_label`` is None where it has none."""

    per_note: Tally
    per_label: Tally | None = None


def instance_strict(sides: Sides, labels: int) -> Tallies:
    """Same start, length and text."""
    per_note = _multiset(sides.spans, *sides.per_note())
    return Tallies(per_note, _labelled_pairs(sides, labels)[1] if labels else None)


def token(sides: Sides, labels: int) -> Tallies:
    """White-space tokens with the same start and text; each side's tokens are a multiset."""
    owner = sides.token_owner
    split = sides.tokens.split
    per_note = _multiset(sides.tokens, *counted(sides.note[owner], split, sides.notes))
    if not labels:
        return Tallies(per_note)
    label = sides.label[owner]
    carrying = label >= 0
    gold, predicted = sides.tokens.plus(np.maximum(label, 0), labels).where(carrying).sides()
    tp = np.bincount(predicted[paired(gold, predicted)] % labels, minlength=labels)
    return Tallies(per_note, tally(tp, *counted(label, split, labels, carrying)))


def instance_relax(sides: Sides, labels: int, settings: Mapping[str, Scalar]) -> Tallies:
    """Same start and nearly the same length, or both boundaries nearly the same."""
    tolerance = int(settings["relax"])
    if settings["boundary"] == "both":
        return _both(sides, labels, tolerance)
    long = sides.long
    gold, predicted = sides.starts.plus(sides.length, long).sides()
    sizes = sides.per_note()
    per_note = tally(per_group(near_lengths(gold, predicted, long, tolerance), sizes[1]), *sizes)
    if not labels:
        return Tallies(per_note)
    keys = sides.starts.plus(np.maximum(sides.label, 0), labels).plus(sides.length, long)
    gold, predicted = keys.where(sides.labelled).sides()
    matched = predicted[near_lengths(gold, predicted, long, tolerance)]
    tp = np.bincount(matched // long % labels, minlength=labels)
    return Tallies(per_note, tally(tp, *sides.per_label(labels)))


def _both(sides: Sides, labels: int, tolerance: int) -> Tallies:
    end = sides.start + sides.length
    spans = (sides.split, sides.start, end)
    found = near_boundaries(sides.note, *spans, sides.notes, tolerance)
    per_note = tally(found, *sides.per_note())
    if not labels:
        return Tallies(per_note)
    kept = np.flatnonzero(sides.labelled)
    split = int(np.count_nonzero(sides.labelled[: sides.split]))
    cells, cell = np.unique(sides.note[kept] * labels + sides.label[kept], return_inverse=True)
    per_cell = near_boundaries(cell, split, sides.start[kept], end[kept], len(cells), tolerance)
    tp = np.bincount(cells % labels, weights=per_cell, minlength=labels).astype(np.int64)
    return Tallies(per_note, tally(tp, *sides.per_label(labels)))


def labelled(sides: Sides, labels: int) -> Tallies:
    """Strict match and equal label, over annotations that carry a label."""
    per_note, per_label = _labelled_pairs(sides, labels)
    return Tallies(per_note, per_label)


def _labelled_pairs(sides: Sides, labels: int) -> tuple[Tally, Tally]:
    keys = sides.spans.plus(np.maximum(sides.label, 0), labels)
    gold, predicted = keys.where(sides.labelled).sides()
    found = paired(gold, predicted)
    per_label = tally(np.bincount(predicted[found] % labels, minlength=labels), *sides.per_label(labels))
    return _by_label_rule(sides, keys, sides.labelled, (gold, predicted, found)), per_label


def by_value(sides: Sides, value_of: Ints) -> Tallies:
    """As ``labelled``, with each label replaced by what it stands for: 0 or 1."""
    values = value_of[np.maximum(sides.label, 0)]
    keys = sides.spans.plus(values, 2)
    gold, predicted = keys.where(sides.labelled).sides()
    return Tallies(_by_label_rule(sides, keys, sides.labelled, (gold, predicted, paired(gold, predicted))))


def among(sides: Sides, labels: int, kept: Ints) -> Tallies:
    """As ``labelled``, after dropping from both sides the labels whose row is 0; unlabelled gold stays."""
    carrying = sides.labelled & kept.astype(bool)[np.maximum(sides.label, 0)]
    keys = sides.spans.plus(np.maximum(sides.label, 0), labels)
    gold, predicted = keys.where(carrying).sides()
    return Tallies(_by_label_rule(sides, keys, carrying, (gold, predicted, paired(gold, predicted))))


def _by_label_rule(sides: Sides, keys: Packed, carrying: Mask, pairs: tuple[Ints, Ints, Mask]) -> Tally:
    """A labelled prediction on a span that gold annotates without a label is neither right nor wrong."""
    gold, predicted = sides.per_note(carrying)
    tp = per_group(pairs[2], predicted)
    return np.stack((tp, predicted - tp - _excused(sides, keys, carrying), gold - tp), axis=1)


def _excused(sides: Sides, keys: Packed, carrying: Mask) -> Ints:
    """A note: Σ over spans of min(unlabelled gold, labelled predictions that matched no label)."""
    bare = ~sides.labelled
    bare[sides.split :] = False
    if not bare.any():
        return np.zeros(sides.notes, np.int64)
    left = bare | _unmatched(keys, carrying)
    gold, predicted = sides.spans.where(left).sides()
    return per_group(paired(gold, predicted), sides.per_note(left)[1])


def _unmatched(keys: Packed, carrying: Mask) -> Mask:
    """The labelled predictions beyond the tp of their span and label."""
    gold = np.sort(keys.keys[: keys.split][carrying[: keys.split]])
    which = keys.split + np.flatnonzero(carrying[keys.split :])
    order = which[np.argsort(keys.keys[which], kind="stable")]
    mask = np.zeros(len(keys.keys), bool)
    mask[order[~paired(gold, keys.keys[order])]] = True
    return mask


def differing(sides: Sides, right: int) -> int:
    """Strict pairs of labelled annotations whose labels differ; ``right`` of them agree."""
    gold, predicted = sides.spans.where(sides.labelled).sides()
    return int(np.count_nonzero(paired(gold, predicted))) - right


def _multiset(keys: Packed, gold: Ints, predicted: Ints) -> Tally:
    return tally(per_group(paired(*keys.sides()), predicted), gold, predicted)


def tally(tp: Ints, gold: Ints, predicted: Ints) -> Tally:
    """True positives and both sides' numbers as tp, fp, fn."""
    return np.stack((tp, predicted - tp, gold - tp), axis=1)
