"""Gold and predictions of some notes side by side, in order of note and start."""

from functools import cached_property

from msgspec import Struct

from sandscore.annotations.columns import Columns, order_of
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.white_space_tokens import TokenTable, table_of
from sandscore.base.arrays import Floats, Ints, Mask, np
from sandscore.measures.packed_keys import Joined, Packed, join, packed, paired


class Side(Struct, frozen=True):
    """Annotations as columns wide enough to calculate with; ``note`` counts from 0."""

    note: Ints
    start: Ints
    length: Ints
    label: Ints
    confidence: Floats
    text: Ints | None
    row: Ints
    tokens: TokenTable | None
    entity: Ints | None = None

    def __len__(self) -> int:
        return len(self.note)

    def take(self, which: Ints | Mask) -> "Side":
        """Some of the annotations."""
        note, start, length, label = (column[which] for column in (self.note, self.start, self.length, self.label))
        text = None if self.text is None else self.text[which]
        entity = None if self.entity is None else self.entity[which]
        return Side(note, start, length, label, self.confidence[which], text, self.row[which], self.tokens, entity)


def side_of(columns: Columns, first: int) -> Side:
    """Annotations of notes that are numbered from ``first`` on, in order of note and start."""
    note, start = columns.note.astype(np.int64) - first, columns.start.astype(np.int64)
    room = 1 + int(start.max(initial=0))
    row = order_of(note * room + start, (1 + int(note.max(initial=0))) * room)
    length, label = (column[row].astype(np.int64) for column in (columns.length, columns.label))
    text = None if columns.text is None else columns.text[row].astype(np.int64)
    tokens = table_of(columns.tokens)
    entity = None if columns.entity is None else columns.entity[row].astype(np.int64)
    return Side(note[row], start[row], length, label, columns.confidence[row], text, row, tokens, entity)


class Plain(Struct, frozen=True, dict=True):
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


class Sides(Struct, frozen=True, dict=True):
    """Both sides over ``notes`` notes of the data set, beginning with ``first``."""

    gold: Side
    predicted: Side
    notes: int
    first: int
    dataset: DataSet

    def both(self, column: str) -> Ints:
        """A column of gold, then of predictions."""
        return np.concatenate((getattr(self.gold, column), getattr(self.predicted, column)))

    @cached_property
    def _joined(self) -> Joined:
        room = 1 + max(int(side.start.max(initial=0)) for side in (self.gold, self.predicted))
        return join(*(side.note * room + side.start for side in (self.gold, self.predicted)))

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
    def crowd(self) -> "Crowd | None":
        """What begins together in numbers, on both sides."""
        gold, predicted = self._joined.crowded_gold, self._joined.crowded_predicted
        if not len(gold):
            return None
        return Crowd(self.gold.take(gold), self.predicted.take(predicted), gold, predicted, self.notes)

    @cached_property
    def partnered(self) -> tuple[Mask, Mask]:
        """Which annotations of either side have a strict partner."""
        gold, predicted = np.zeros(len(self.gold), bool), np.zeros(len(self.predicted), bool)
        gold[self.plain.gold[self.plain.equal]] = True
        predicted[self.plain.predicted[self.plain.equal]] = True
        if self.crowd is not None:
            gold[self.crowd.gold_rows], predicted[self.crowd.predicted_rows] = self.crowd.partners
        return gold, predicted

    @cached_property
    def per_note(self) -> tuple[Ints, Ints]:
        """How many annotations either side has in each note."""
        return np.bincount(self.gold.note, minlength=self.notes), np.bincount(self.predicted.note, minlength=self.notes)

    def per_label(self, labels: int) -> tuple[Ints, Ints]:
        """How many annotations either side has of each label."""
        gold, predicted = (
            np.bincount(side.label + 1, minlength=labels + 1)[1:] for side in (self.gold, self.predicted)
        )
        return gold, predicted

    @cached_property
    def labelled(self) -> tuple[Mask, Mask]:
        """Which annotations of either side carry a label."""
        return self.gold.label >= 0, self.predicted.label >= 0


class Crowd(Struct, frozen=True, dict=True):
    """Spans that share their start with others of their own side, and which rows of their sides they are."""

    gold: Side
    predicted: Side
    gold_rows: Ints
    predicted_rows: Ints
    notes: int

    @property
    def split(self) -> int:
        return len(self.gold)

    @cached_property
    def note(self) -> Ints:
        return np.concatenate((self.gold.note, self.predicted.note))

    @cached_property
    def length(self) -> Ints:
        return np.concatenate((self.gold.length, self.predicted.length))

    @cached_property
    def label(self) -> Ints:
        return np.concatenate((self.gold.label, self.predicted.label))

    def per_note(self, mask: Mask | None = None) -> Ints:
        """How many predictions each note has; only those the mask picks."""
        note = self.predicted.note if mask is None else self.predicted.note[mask[self.split :]]
        return np.bincount(note, minlength=self.notes)

    @cached_property
    def labelled(self) -> Mask:
        carrying: Mask = self.label >= 0
        return carrying

    @cached_property
    def starts(self) -> Packed:
        """Note and start; gold first, then predictions."""
        return packed([self.note, np.concatenate((self.gold.start, self.predicted.start))], self.split)

    @cached_property
    def long(self) -> int:
        """One more than the longest annotation."""
        return 1 + int(self.length.max(initial=0))

    @cached_property
    def spans(self) -> Packed:
        """What two annotations that match strictly have in common."""
        spans = self.starts.plus(self.length, self.long)
        if self.gold.text is None or self.predicted.text is None:
            return spans
        text = np.concatenate((self.gold.text, self.predicted.text))
        return spans.plus(text, 1 + int(text.max(initial=0)))

    @cached_property
    def partners(self) -> tuple[Mask, Mask]:
        """Which annotations of either side find an equal one of their own on the other."""
        gold, predicted = self.spans.keys[: self.split], self.spans.keys[self.split :]
        orders = np.argsort(gold, kind="stable"), np.argsort(predicted, kind="stable")
        found = np.zeros(len(gold), bool), np.zeros(len(predicted), bool)
        found[0][orders[0]] = paired(predicted[orders[1]], gold[orders[0]])
        found[1][orders[1]] = paired(gold[orders[0]], predicted[orders[1]])
        return found
