"""Gold and predictions of one data set side by side, and the views that measures take of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sandscore.reading.columns import Columns, Ints, Mask, Tokens
from sandscore.reading.labels import ABSENT

Pair = tuple[Ints, Ints]


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides' columns over ``n`` groups. A group is a note, or, for the rows per label, a label.

    ``within`` keeps annotations of different notes apart where the group does not.
    """

    gold: Columns
    predicted: Columns
    n: int
    within: Pair | None = None

    @property
    def groups(self) -> Pair:
        return self.gold.note, self.predicted.note

    @property
    def lengths(self) -> Pair:
        return self.gold.length, self.predicted.length

    @property
    def start_fields(self) -> list[Pair]:
        """Group and start; starts of different notes are kept apart."""
        apart = [] if self.within is None else [self.within]
        return [self.groups, *apart, (self.gold.start, self.predicted.start)]

    @property
    def span_fields(self) -> list[Pair]:
        """What two annotations that match strictly have in common, the group first."""
        return [*self.start_fields, self.lengths, *_texts(self.gold.text, self.predicted.text)]

    @property
    def token_fields(self) -> list[Pair]:
        """What two tokens that match have in common, the group first."""
        gold, predicted = tokens(self.gold), tokens(self.predicted)
        fields = [(self.gold.note[gold.owner], self.predicted.note[predicted.owner])]
        if self.within is not None:
            fields.append((self.within[0][gold.owner], self.within[1][predicted.owner]))
        fields += [(gold.start, predicted.start), (gold.length, predicted.length)]
        return fields + _texts(gold.text, predicted.text)

    def by_label(self, labels: int) -> "Sides":
        """The labelled annotations with the label as the group: counts come out per label."""
        gold, predicted = (select(side, side.label != ABSENT) for side in (self.gold, self.predicted))
        regrouped = [replace(side, note=side.label) for side in (gold, predicted)]
        return Sides(regrouped[0], regrouped[1], labels, within=(gold.note, predicted.note))

    def mapped(self, codes: Mapping[int, int] | Ints) -> "Sides":
        """Labels replaced by what they stand for; absent stays absent."""
        table = np.append(np.asarray(codes, np.int64), ABSENT)
        sides = [replace(side, label=table[side.label]) for side in (self.gold, self.predicted)]
        return replace(self, gold=sides[0], predicted=sides[1])

    def kept(self, gold: Mask, predicted: Mask) -> "Sides":
        """Only the annotations the masks pick."""
        within = None if self.within is None else (self.within[0][gold], self.within[1][predicted])
        return Sides(select(self.gold, gold), select(self.predicted, predicted), self.n, within)


def tokens(columns: Columns) -> Tokens:
    if columns.tokens is None:
        raise ValueError("these columns were read without tokens")
    return columns.tokens


def select(columns: Columns, mask: Mask) -> Columns:
    """The rows of the columns that the mask picks, with their tokens."""
    if mask.all():
        return columns
    picked = np.flatnonzero(mask)
    number = np.cumsum(mask) - 1
    own = columns.tokens
    if own is not None:
        which = mask[own.owner]
        text = None if own.text is None else own.text[which]
        own = Tokens(number[own.owner[which]], own.start[which], own.length[which], text)
    return Columns(
        columns.note[picked],
        columns.start[picked],
        columns.length[picked],
        columns.label[picked],
        columns.confidence[picked],
        columns.record[picked],
        columns.place[picked],
        None if columns.text is None else columns.text[picked],
        own,
    )


def _texts(gold: Ints | None, predicted: Ints | None) -> list[Pair]:
    return [] if gold is None or predicted is None else [(gold, predicted)]
