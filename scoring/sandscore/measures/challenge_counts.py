"""Counts for every measure of the challenge: tp, fp and fn a note and, for most, a label.

Plain pairs are compared field by field; only the crowd is matched by sorting (see ``joining``).
"""

from collections.abc import Mapping

from sandscore.base.arrays import HeldArrays, Ints, Mask, np
from sandscore.measures import relaxed_match
from sandscore.measures.aligned import Sides
from sandscore.measures.measure_syntax import Scalar
from sandscore.measures.packed_keys import paired
from sandscore.measures.relaxed_match import near_boundaries
from sandscore.measures.token_measure import table, tokens_left

Tally = Ints
"""One row a note, or a label: tp, fp, fn."""


class Tallies(HeldArrays):
    """A measure's counts; ``per_label`` is None where it has none.

    ``conditional``: of the strict pairs that both carry a label, how many agree and how many differ.
    """

    per_note: Tally
    per_label: Tally | None
    conditional: tuple[int, int] | None


def instance_strict(sides: Sides, labels: int) -> Tallies:
    """Same start, length and text."""
    tp = _notes(sides, sides.plain.equal)
    if sides.crowd is not None:
        tp += relaxed_match.strict(sides.crowd)
    per_note = tally(tp, *sides.per_note)
    return Tallies(per_note, _agreeing(sides, labels) if labels else None)


def instance_relax(sides: Sides, labels: int, settings: Mapping[str, Scalar]) -> Tallies:
    """Same start and nearly the same length, or both boundaries nearly the same."""
    tolerance = int(settings["relax"])
    if settings["boundary"] == "both":
        return _both(sides, labels, tolerance)
    near: Mask = sides.plain.apart <= tolerance
    tp = _notes(sides, near)
    if sides.crowd is not None:
        tp += relaxed_match.near(sides.crowd, tolerance)
    per_note = tally(tp, *sides.per_note)
    if not labels:
        return Tallies(per_note)
    right = _labels(sides, near & sides.plain.agreeing, labels)
    if sides.crowd is not None:
        right += relaxed_match.near_by_label(sides.crowd, tolerance, labels)
    return Tallies(per_note, tally(right, *sides.per_label(labels)))


def _both(sides: Sides, labels: int, tolerance: int) -> Tallies:
    split = len(sides.gold)
    note, start, label = sides.both("note"), sides.both("start"), sides.both("label")
    end = start + sides.both("length")
    found = near_boundaries(note, split, start, end, sides.notes, tolerance)
    per_note = tally(found, *sides.per_note)
    if not labels:
        return Tallies(per_note)
    kept = np.flatnonzero(label >= 0)
    cells, cell = np.unique(note[kept] * labels + label[kept], return_inverse=True)
    per_cell = near_boundaries(cell, int(np.searchsorted(kept, split)), start[kept], end[kept], len(cells), tolerance)
    right = np.bincount(cells % labels, weights=per_cell, minlength=labels).astype(np.int64)
    return Tallies(per_note, tally(right, *sides.per_label(labels)))


def token(sides: Sides, labels: int) -> Tallies:
    """White-space tokens with the same start and text; each side's tokens are a multiset.

    What two multisets share is what is taken from both of them plus what the rests share.
    """
    plain, words = sides.plain, table(sides.gold).tokens.words[sides.gold.row].astype(np.int64)
    settled = plain.equal & plain.agreeing if labels else plain.equal
    weights = words[plain.gold[settled]]
    left = tokens_left(sides, settled)
    right = _weighed(plain.note[settled], weights, sides.notes)
    gold = _weighed(sides.gold.note, words, sides.notes)
    predicted = right + np.bincount(left.predicted.note, minlength=sides.notes)
    per_note = tally(right + left.per_note(sides.notes), gold, predicted)
    if not labels:
        return Tallies(per_note)
    right = _weighed(plain.label[settled], weights, labels)
    gold = _weighed(sides.gold.label + 1, words, labels + 1)[1:]
    predicted = right + np.bincount(left.predicted.label + 1, minlength=labels + 1)[1:]
    return Tallies(per_note, tally(right + left.per_label(labels), gold, predicted))


def labelled(sides: Sides, labels: int) -> Tallies:
    """Strict match and equal label, over annotations that carry a label."""
    return Tallies(_label_rule(sides, labels, np.arange(labels), sides.labelled), _agreeing(sides, labels))


def by_value(sides: Sides, value_of: Ints) -> Tallies:
    """As ``labelled``, with each label replaced by what it stands for: 0 or 1."""
    return Tallies(_label_rule(sides, 2, value_of, sides.labelled))


def among(sides: Sides, labels: int, kept: Ints) -> Tallies:
    """As ``labelled``, after dropping from both sides the labels whose row is 0; unlabelled gold stays."""
    counting = kept.astype(bool)
    gold, predicted = (
        labelled & counting[side.label]
        for labelled, side in zip(sides.labelled, (sides.gold, sides.predicted), strict=True)
    )
    return Tallies(_label_rule(sides, labels, np.arange(labels), (gold, predicted)))


def _label_rule(sides: Sides, values: int, value_of: Ints, carrying: tuple[Mask, Mask]) -> Tally:
    """A labelled prediction on a span that gold annotates without a label is neither right nor wrong."""
    plain = sides.plain
    gold_carries, carries = carrying[0][plain.gold], carrying[1][plain.predicted]
    same = value_of[plain.gold_label] == value_of[plain.label]
    tp = _notes(sides, plain.equal & gold_carries & carries & same)
    excused = _notes(sides, plain.equal & (plain.gold_label < 0) & carries)
    if sides.crowd is not None:
        hits, spared = relaxed_match.by_label_rule(
            sides.crowd, values, value_of, relaxed_match.carried(sides.crowd, carrying)
        )
        tp, excused = tp + hits, excused + spared
    gold, predicted = (
        np.bincount(side.note[mask], minlength=sides.notes)
        for side, mask in zip((sides.gold, sides.predicted), carrying, strict=True)
    )
    return np.stack((tp, predicted - tp - excused, gold - tp), axis=1)


def _agreeing(sides: Sides, labels: int) -> Tally:
    right = _labels(sides, sides.plain.equal & sides.plain.agreeing, labels)
    if sides.crowd is not None:
        right += relaxed_match.strict_by_label(sides.crowd, labels)
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
