"""Gold and predictions of one data set side by side, and the keys that measures compare."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sandscore.measuring.keys import Packed, packed
from sandscore.reading.columns import Columns, Ints, Mask, Tokens


@dataclass(frozen=True)
class Sides:
    """Both sides' columns over ``notes`` notes; concatenated fields hold gold first."""

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
        if self.gold.text is None or self.predicted.text is None:
            return spans
        texts = np.concatenate((self.gold.text, self.predicted.text))
        return spans.plus(texts, 1 + int(texts.max(initial=0)))

    @cached_property
    def token_owner(self) -> Ints:
        """The annotation each token belongs to."""
        return np.concatenate((tokens(self.gold).owner, tokens(self.predicted).owner + self.split))

    @cached_property
    def tokens(self) -> Packed:
        """What two tokens that match have in common."""
        gold, predicted = tokens(self.gold), tokens(self.predicted)
        fields = [
            self.note[self.token_owner],
            np.concatenate((gold.start, predicted.start)),
            np.concatenate((gold.length, predicted.length)),
        ]
        if gold.text is not None and predicted.text is not None:
            fields.append(np.concatenate((gold.text, predicted.text)))
        return packed(fields, len(gold.owner))

    def per_note(self, mask: Mask | None = None) -> tuple[Ints, Ints]:
        """How many annotations either side has in each note; only those the mask picks."""
        return counted(self.note, self.split, self.notes, mask)

    def per_label(self, labels: int) -> tuple[Ints, Ints]:
        """How many annotations either side has of each label."""
        return counted(self.label, self.split, labels, self.labelled)


def counted(values: Ints, split: int, n: int, mask: Mask | None = None) -> tuple[Ints, Ints]:
    """How often each value occurs on either side."""
    sides = (slice(None, split), slice(split, None))
    kept = [values[side] if mask is None else values[side][mask[side]] for side in sides]
    return np.bincount(kept[0], minlength=n), np.bincount(kept[1], minlength=n)


def tokens(columns: Columns) -> Tokens:
    """The columns' tokens; asking columns that were read without them is a mistake of ours."""
    if columns.tokens is None:
        raise ValueError("these columns were read without tokens")
    return columns.tokens
