"""A data set in parts of some notes each: every count adds up over notes, and a part fits the processor's cache."""

from itertools import pairwise

import numpy as np

from sandscore.measuring.sides import Sides, side_of
from sandscore.reading.columns import Columns, Ints, distinct, order_of
from sandscore.reading.files import Loaded
from sandscore.reading.tokens import table_of

PART = 1 << 16


class Parts:
    """Gold and predictions of as many notes as have about ``size`` annotations; at least one part."""

    def __init__(self, loaded: Loaded, size: int = PART) -> None:
        notes = len(loaded.dataset.ids)
        self._dataset = loaded.dataset
        self._files = loaded.columns["gold"], loaded.columns["predictions"]
        self._ends = [np.concatenate(([0], np.cumsum(np.bincount(file.note, minlength=notes)))) for file in self._files]
        self._orders = [_by_note(file, notes) for file in self._files]
        self._tables = [table_of(file.tokens) for file in self._files]
        self._borders = list(pairwise(_borders(self._ends[0] + self._ends[1], size)))

    def __len__(self) -> int:
        return len(self._borders)

    def __getitem__(self, part: int) -> Sides:
        first, last = self._borders[part]
        gold, predicted = (
            side_of(file, _rows(order, int(end[first]), int(end[last])), first, table)
            for file, end, order, table in zip(self._files, self._ends, self._orders, self._tables, strict=True)
        )
        return Sides(gold, predicted, last - first, first, self._dataset)


def _rows(order: Ints | None, start: int, end: int) -> Ints:
    return np.arange(start, end) if order is None else order[start:end]


def _by_note(columns: Columns, notes: int) -> Ints | None:
    """What puts the rows into the order of their notes; None where they are in it."""
    if bool((columns.note[1:] >= columns.note[:-1]).all()):
        return None
    return order_of(columns.note.astype(np.int64), notes)


def _borders(ends: Ints, size: int) -> list[int]:
    cuts = np.searchsorted(ends, np.arange(size, int(ends[-1]), size), side="right") - 1
    return distinct(np.concatenate(([0], cuts, [len(ends) - 1])))[0].tolist() if len(ends) > 1 else [0, 0]
