"""Gold and predictions of one data set side by side, and the keys that measures compare."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sandscore.measuring.joining import Joined, join
from sandscore.measuring.keys import Packed, packed, paired
from sandscore.reading.columns import Columns, Ints, Mask, Tokens, select


@dataclass(frozen=True)
class Plain:
    """Pairs that begin together and have no rival on either side, field by field."""

    gold: Ints
    predicted: Ints
    note: Ints
    apart: Ints
    equal: Mask
    gold_label: Ints
    label: Ints

    @cached_property
    def agreeing(self) -> Mask:
        """Both carry a label, and it is the same."""
        same: Mask = (self.gold_label == self.label) & (self.label >= 0)
        return same


@dataclass(frozen=True)
class Sides:
    """Both sides' columns over ``notes`` notes; concatenated fields hold gold first, then predictions."""

    gold: Columns
    predicted: Columns
    notes: int

    @property
    def split(self) -> int:
        return len(self.gold)

    @cached_property
    def note(self) -> Ints:
        return np.concatenate((self.gold.note, self.predicted.note))

    @cached_property
    def start(self) -> Ints:
        return np.concatenate((self.gold.start, self.predicted.start))

    @cached_property
    def length(self) -> Ints:
        return np.concatenate((self.gold.length, self.predicted.length))

    @cached_property
    def label(self) -> Ints:
        return np.concatenate((self.gold.label, self.predicted.label))

    @cached_property
    def text(self) -> Ints | None:
        """Numbers of equal texts; None where the span says it all."""
        if self.gold.text is None or self.predicted.text is None:
            return None
        return np.concatenate((self.gold.text, self.predicted.text))

    @cached_property
    def labelled(self) -> Mask:
        carrying: Mask = self.label >= 0
        return carrying

    @cached_property
    def starts(self) -> Packed:
        """Note and start."""
        return packed([self.note, self.start], self.split)

    @cached_property
    def long(self) -> int:
        """One more than the longest annotation."""
        return 1 + int(self.length.max(initial=0))

    @cached_property
    def spans(self) -> Packed:
        """What two annotations that match strictly have in common."""
        spans = self.starts.plus(self.length, self.long)
        return spans if self.text is None else spans.plus(self.text, 1 + int(self.text.max(initial=0)))

    @cached_property
    def _joined(self) -> Joined:
        return join(self.starts)

    @property
    def crowded(self) -> Mask:
        """Which annotations are of the crowd."""
        return np.concatenate((self._joined.crowded_gold, self._joined.crowded_predicted))

    @cached_property
    def plain(self) -> Plain:
        """Pairs with nothing to choose."""
        g, p = self._joined.gold, self._joined.predicted
        gold, predicted = self.gold, self.predicted
        apart = np.abs(gold.length[g] - predicted.length[p])
        equal: Mask = apart == 0
        if gold.text is not None and predicted.text is not None:
            equal &= gold.text[g] == predicted.text[p]
        return Plain(g, p, gold.note[g], apart, equal, gold.label[g], predicted.label[p])

    @cached_property
    def crowd(self) -> "Sides | None":
        """What begins together in numbers, on both sides."""
        joined = self._joined
        if not joined.crowded_gold.any():
            return None
        sides = select(self.gold, joined.crowded_gold), select(self.predicted, joined.crowded_predicted)
        return Sides(*sides, self.notes)

    @cached_property
    def partnered(self) -> tuple[Mask, Mask]:
        """Which annotations of either side have a strict partner."""
        gold, predicted = np.zeros(self.split, bool), np.zeros(len(self.predicted), bool)
        gold[self.plain.gold[self.plain.equal]] = True
        predicted[self.plain.predicted[self.plain.equal]] = True
        if self.crowd is not None:
            found = partners(self.crowd.spans)
            gold[np.flatnonzero(self._joined.crowded_gold)] = found[0]
            predicted[np.flatnonzero(self._joined.crowded_predicted)] = found[1]
        return gold, predicted

    def per_note(self, mask: Mask | None = None) -> tuple[Ints, Ints]:
        """How many annotations either side has in each note; only those the mask picks."""
        return counted(self.note, self.split, self.notes, mask)

    def per_label(self, labels: int) -> tuple[Ints, Ints]:
        """How many annotations either side has of each label."""
        return counted(self.label, self.split, labels, self.labelled)


def partners(keys: Packed) -> tuple[Mask, Mask]:
    """Which keys of either side find an equal one of their own on the other."""
    gold, predicted = keys.keys[: keys.split], keys.keys[keys.split :]
    orders = np.argsort(gold, kind="stable"), np.argsort(predicted, kind="stable")
    found = np.zeros(len(gold), bool), np.zeros(len(predicted), bool)
    found[0][orders[0]] = paired(predicted[orders[1]], gold[orders[0]])
    found[1][orders[1]] = paired(gold[orders[0]], predicted[orders[1]])
    return found


def counted(values: Ints, split: int, n: int, mask: Mask | None = None) -> tuple[Ints, Ints]:
    """How often each value occurs on either side."""
    sides = (slice(None, split), slice(split, None))
    kept = [values[side] if mask is None else values[side][mask[side]] for side in sides]
    return np.bincount(kept[0], minlength=n), np.bincount(kept[1], minlength=n)


def tokens_left(sides: Sides, settled: Mask) -> tuple[Packed, Ints]:
    """Keys of the tokens outside the settled plain pairs, and the annotation each belongs to."""
    gold = _tokens_but(sides.gold, sides.plain.gold[settled], 0)
    predicted = _tokens_but(sides.predicted, sides.plain.predicted[settled], sides.split)
    *key, owner = (np.concatenate(pair) for pair in zip(gold, predicted, strict=True))
    return packed(key, len(gold[0])), owner


def _tokens_but(columns: Columns, settled: Ints, shift: int) -> list[Ints]:
    own = tokens(columns)
    loose = np.ones(len(columns), bool)
    loose[settled] = False
    kept = np.flatnonzero(loose[own.owner])
    owner = own.owner[kept]
    text = [] if own.text is None else [own.text[kept]]
    return [columns.note[owner], own.start[kept], own.length[kept], *text, owner + shift]


def tokens(columns: Columns) -> Tokens:
    """The columns' tokens; asking columns that were read without them is a mistake of ours."""
    if columns.tokens is None:
        raise ValueError("these columns were read without tokens")
    return columns.tokens
