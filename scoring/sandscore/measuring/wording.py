"""White-space tokens of both sides: those of settled pairs are only counted, the others are spelt out and matched."""

from dataclasses import dataclass

import numpy as np

from sandscore.measuring.keys import Packed, packed, paired
from sandscore.measuring.sides import Side, Sides
from sandscore.reading.columns import Ints, Mask, order_of
from sandscore.reading.tokens import tokens_of


@dataclass(frozen=True, slots=True)
class Left:
    """Tokens outside the settled pairs, gold first: their keys, their notes and the labels they stand under."""

    keys: Packed
    note: Ints
    label: Ints

    @property
    def predicted(self) -> slice:
        """Where the predictions' tokens are."""
        return slice(self.keys.split, None)

    def shared(self, notes: int) -> Ints:
        """Per note, the multiset intersection."""
        gold, predicted = self.keys.keys[: self.keys.split], self.keys.keys[self.predicted]
        order = order_of(predicted, self.keys.size)
        hits = order[paired(np.sort(gold), predicted[order])]
        return np.bincount(self.note[self.predicted][hits], minlength=notes)

    def shared_by_label(self, labels: int) -> Ints:
        """Per label, the multiset intersection of its tokens."""
        keys = self.keys.plus(np.maximum(self.label, 0), labels).where(self.label >= 0)
        gold, predicted = keys.sides()
        return np.bincount(predicted[paired(gold, predicted)] % labels, minlength=labels)


def tokens_left(sides: Sides, settled: Mask) -> Left:
    """The tokens of annotations that are of no settled plain pair."""
    gold = _all_but(sides.gold, sides.plain.gold[settled])
    predicted = _all_but(sides.predicted, sides.plain.predicted[settled])
    loose = Sides(gold, predicted, sides.notes, sides.first, sides.dataset)
    texts = _texts(sides, gold) + _texts(sides, predicted)
    owner, begins, sizes = tokens_of(texts, loose.both("start"), loose.both("length"))
    note = loose.both("note")[owner]
    fields = [note, begins, sizes] if gold.text is None else [note, begins, sizes, _numbered(texts)]
    keys = packed(fields, int(np.searchsorted(owner, len(gold))))
    return Left(keys, note, loose.both("label")[owner])


def _all_but(side: Side, settled: Ints) -> Side:
    loose = np.ones(len(side), bool)
    loose[settled] = False
    return side.take(np.flatnonzero(loose))


def _texts(sides: Sides, side: Side) -> list[str]:
    numbers = None if side.text is None else side.text.tolist()
    return sides.dataset.texts_at(
        (side.note + sides.first).tolist(), side.start.tolist(), side.length.tolist(), numbers
    )


def _numbered(texts: list[str]) -> Ints:
    known: dict[str, int] = {}
    return np.array([known.setdefault(word, len(known)) for text in texts for word in text.split()], np.int64)
