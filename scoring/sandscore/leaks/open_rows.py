"""Open rows: what of gold no mask covers, a row for a note and a group of its labels; what leak measures are told from.

The kernel tells them of code points while it counts everything else; of every other grid, and where there is no kernel,
they are told on columns. Both give the same.
"""

from functools import cached_property
from typing import Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Ints, Mask, Small, distinct
from sandscore.leaks.masked_positions import MaskedCells


class OpenRows(Struct, frozen=True):
    """By note and group: gold cells as a set, and those open; mentions, and those open in part or as a whole."""

    note: Ints
    group: Ints
    gold: Ints | Small
    open: Ints | Small
    mentions: Ints | Small
    leaking: Ints | Small
    whole: Ints | Small

    def take(self, which: Mask) -> "OpenRows":
        if bool(which.all()):
            return self
        return OpenRows(*(getattr(self, name)[which] for name in self.__struct_fields__))


class OpenPart(Protocol):
    """Some notes: rows of the notes themselves, of their classes and of their labels.

    By note, how many cells are masked, and how many of these are not gold's.
    """

    @property
    def whole(self) -> OpenRows: ...
    @property
    def classes(self) -> OpenRows: ...
    @property
    def labels(self) -> OpenRows: ...
    @property
    def masked(self) -> Ints: ...
    @property
    def spurious(self) -> Ints: ...


class ColumnOpen(Struct, frozen=True, dict=True):
    """As columns tell it, which are only asked for what is needed."""

    cells: MaskedCells
    label_classes: Ints
    """The class of each label, that of no label in front."""

    @cached_property
    def whole(self) -> OpenRows:
        return self._rows(np.zeros_like(self.cells.part.mentions.label))

    @cached_property
    def classes(self) -> OpenRows:
        return self._rows(self.label_classes[self.cells.part.mentions.label + 1])

    @cached_property
    def labels(self) -> OpenRows:
        return of_labels(self._rows(self.cells.part.mentions.label + 1))

    @cached_property
    def masked(self) -> Ints:
        masks = self.cells.masks
        sizes = masks.end - masks.start
        return np.bincount(masks.note, weights=sizes, minlength=self.cells.part.sides.notes).astype(np.int64)

    @cached_property
    def spurious(self) -> Ints:
        return self.cells.spurious(self.cells.part.sides.notes)

    def _rows(self, group: Ints) -> OpenRows:
        """Of mentions in groups, those below 0 left out."""
        cells, note = self.cells, self.cells.part.mentions.note
        room, kept = 1 + int(group.max(initial=0)), group >= 0
        fresh = np.flatnonzero(np.diff(note, prepend=-1))
        key = np.repeat(np.arange(len(fresh)) * room, np.diff(fresh, append=len(note))) + group
        keys = distinct(key[kept])[0]
        place = np.full(len(note), -1)
        place[kept] = positions_of(key[kept], keys, len(fresh) * room)
        is_open, gold = cells.sets(place, len(keys))
        counted = cells.counted & kept
        mentions, leaking, whole = (
            np.bincount(place[counted & which], minlength=len(keys))
            for which in (counted, cells.leaking, cells.open_sizes == cells.sizes)
        )
        return OpenRows(note[fresh[keys // room]], keys % room, gold, is_open, mentions, leaking, whole)


_DENSE = 1 << 23


def positions_of(values: Ints, among: Ints, size: int) -> Ints:
    """Where values below ``size`` stand among those that there are."""
    if size > _DENSE:
        return np.searchsorted(among, values)
    table = np.empty(size, np.int64)
    table[among] = np.arange(len(among))
    found: Ints = table[values]
    return found


def of_labels(rows: OpenRows) -> OpenRows:
    """Rows of labels that were numbered from 1 on, 0 being none."""
    return replace(rows, group=rows.group - 1)
