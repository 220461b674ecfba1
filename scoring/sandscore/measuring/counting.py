"""Counts for every measure of the challenge: tp, fp and fn a note and, for most, a label.

Plain pairs are compared field by field; only the crowd is matched by sorting (see ``joining``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sandscore.measuring import crowding
from sandscore.measuring.keys import paired
from sandscore.measuring.relaxed import near_boundaries
from sandscore.measuring.sides import Sides, counted, tokens, tokens_left
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
    tp = _notes(sides, sides.plain.equal)
    if sides.crowd is not None:
        tp += crowding.strict(sides.crowd)
    per_note = tally(tp, *sides.per_note())
    return Tallies(per_note, _agreeing(sides, labels) if labels else None)


def instance_relax(sides: Sides, labels: int, settings: Mapping[str, Scalar]) -> Tallies:
    """Same start and nearly the same length, or both boundaries nearly the same."""
    tolerance = int(settings["relax"])
    if settings["boundary"] == "both":
        return _both(sides, labels, tolerance)
    near: Mask = sides.plain.apart <= tolerance
    tp = _notes(sides, near)
    if sides.crowd is not None:
        tp += crowding.near(sides.crowd, tolerance)
    per_note = tally(tp, *sides.per_note())
    if not labels:
        return Tallies(per_note)
    right = _labels(sides, near & sides.plain.agreeing, labels)
    if sides.crowd is not None:
        right += crowding.near_by_label(sides.crowd, tolerance, labels)
    return Tallies(per_note, tally(right, *sides.per_label(labels)))


def _both(sides: Sides, labels: int, tolerance: int) -> Tallies:
    end = sides.start + sides.length
    found = near_boundaries(sides.note, sides.split, sides.start, end, sides.notes, tolerance)
    per_note = tally(found, *sides.per_note())
    if not labels:
        return Tallies(per_note)
    kept = np.flatnonzero(sides.labelled)
    split = int(np.count_nonzero(sides.labelled[: sides.split]))
    cells, cell = np.unique(sides.note[kept] * labels + sides.label[kept], return_inverse=True)
    per_cell = near_boundaries(cell, split, sides.start[kept], end[kept], len(cells), tolerance)
    right = np.bincount(cells % labels, weights=per_cell, minlength=labels).astype(np.int64)
    return Tallies(per_note, tally(right, *sides.per_label(labels)))


def token(sides: Sides, labels: int) -> Tallies:
    """White-space tokens with the same start and text; each side's tokens are a multiset.

    What two multisets share is what is taken from both of them plus what the rests share.
    """
    equal = sides.plain.gold[sides.plain.equal]
    each = np.bincount(tokens(sides.gold).owner, minlength=len(sides.gold))
    left, owner = tokens_left(sides, sides.plain.equal)
    order = np.argsort(left.keys[left.split :], kind="stable")
    hits = order[paired(np.sort(left.keys[: left.split]), left.keys[left.split :][order])]
    found = sides.note[owner[left.split :][hits]]
    tp = _weighed(sides.gold.note[equal], each[equal], sides.notes) + np.bincount(found, minlength=sides.notes)
    owners = np.concatenate((tokens(sides.gold).owner, tokens(sides.predicted).owner + sides.split))
    split = len(tokens(sides.gold).owner)
    per_note = tally(tp, *counted(sides.note[owners], split, sides.notes))
    if not labels:
        return Tallies(per_note)
    label = sides.label[owners]
    sizes = counted(label, split, labels, label >= 0)
    return Tallies(per_note, tally(_tokens_by_label(sides, labels, each), *sizes))


def _tokens_by_label(sides: Sides, labels: int, each: Ints) -> Ints:
    """Of each label: tokens of plain pairs that agree on it, and what the other tokens with it share."""
    agreeing = sides.plain.equal & sides.plain.agreeing
    right = _weighed(sides.plain.label[agreeing], each[sides.plain.gold[agreeing]], labels)
    left, owner = tokens_left(sides, agreeing)
    label = sides.label[owner]
    gold, predicted = left.plus(np.maximum(label, 0), labels).where(label >= 0).sides()
    shared: Ints = right + np.bincount(predicted[paired(gold, predicted)] % labels, minlength=labels)
    return shared


def labelled(sides: Sides, labels: int) -> Tallies:
    """Strict match and equal label, over annotations that carry a label."""
    return Tallies(_label_rule(sides, labels, np.arange(labels), sides.labelled), _agreeing(sides, labels))


def by_value(sides: Sides, value_of: Ints) -> Tallies:
    """As ``labelled``, with each label replaced by what it stands for: 0 or 1."""
    return Tallies(_label_rule(sides, 2, value_of, sides.labelled))


def among(sides: Sides, labels: int, kept: Ints) -> Tallies:
    """As ``labelled``, after dropping from both sides the labels whose row is 0; unlabelled gold stays."""
    carrying = sides.labelled & kept.astype(bool)[sides.label]
    return Tallies(_label_rule(sides, labels, np.arange(labels), carrying))


def _label_rule(sides: Sides, values: int, value_of: Ints, carrying: Mask) -> Tally:
    """A labelled prediction on a span that gold annotates without a label is neither right nor wrong."""
    plain = sides.plain
    gold_carries, carries = carrying[plain.gold], carrying[sides.split + plain.predicted]
    same = value_of[plain.gold_label] == value_of[plain.label]
    tp = _notes(sides, plain.equal & gold_carries & carries & same)
    excused = _notes(sides, plain.equal & (plain.gold_label < 0) & carries)
    if sides.crowd is not None:
        hits, spared = crowding.by_label_rule(sides.crowd, values, value_of, crowding.carried(sides, carrying))
        tp, excused = tp + hits, excused + spared
    gold, predicted = sides.per_note(carrying)
    return np.stack((tp, predicted - tp - excused, gold - tp), axis=1)


def _agreeing(sides: Sides, labels: int) -> Tally:
    right = _labels(sides, sides.plain.equal & sides.plain.agreeing, labels)
    if sides.crowd is not None:
        right += crowding.strict_by_label(sides.crowd, labels)
    return tally(right, *sides.per_label(labels))


def differing(sides: Sides, right: int) -> int:
    """Strict pairs of labelled annotations whose labels differ; ``right`` of them agree."""
    both = sides.plain.equal & (sides.plain.gold_label >= 0) & (sides.plain.label >= 0)
    pairs = int(np.count_nonzero(both))
    if sides.crowd is not None:
        gold, predicted = sides.crowd.spans.where(sides.crowd.labelled).sides()
        pairs += int(np.count_nonzero(paired(gold, predicted)))
    return pairs - right


def _notes(sides: Sides, mask: Mask) -> Ints:
    return np.bincount(sides.plain.note[mask], minlength=sides.notes)


def _labels(sides: Sides, mask: Mask, labels: int) -> Ints:
    return np.bincount(sides.plain.label[mask], minlength=labels)


def _weighed(groups: Ints, weights: Ints, n: int) -> Ints:
    """Exact: sums of small integers stay far below 2^53."""
    return np.bincount(groups, weights=weights, minlength=n).astype(np.int64)


def tally(tp: Ints, gold: Ints, predicted: Ints) -> Tally:
    """True positives and both sides' numbers as tp, fp, fn."""
    return np.stack((tp, predicted - tp, gold - tp), axis=1)
