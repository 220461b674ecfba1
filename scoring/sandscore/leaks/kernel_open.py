"""Open rows as the kernel tells them while it counts everything else."""

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.kernel.kernel_library import GROUPINGS, Uncovered, address
from sandscore.leaks.open_rows import OpenRows, of_labels

_FIELDS = 8
"""Of which the last is the kernel's own."""


class KernelOpen(Struct, frozen=True):
    """The open rows of some notes, by three groupings, and how much each note was masked."""

    whole: OpenRows
    classes: OpenRows
    labels: OpenRows
    masked: Ints
    spurious: Ints


class OpenRooms:
    """What the kernel tells of some notes that have so many annotations of gold, and the rooms for it."""

    def __init__(self, label_classes: Ints, notes: int, golds: int, *, entities: bool) -> None:
        codes = np.arange(len(label_classes))
        values = (np.zeros_like(codes), label_classes, codes)
        self._values = [np.append(groups, -1).astype(np.int32) for groups in values]
        self._last = [np.full(1 + int(groups.max()), -1, np.int64) for groups in values]
        self._rows = np.empty((GROUPINGS, golds, _FIELDS), np.int32)
        self._by_note = np.zeros((2, notes), np.int64)
        masked, spurious = map(address, self._by_note)
        self.told = Uncovered(masked=masked, spurious=spurious, room=golds, entities=entities)
        for by, groups, last, rows in zip(self.told.by, self._values, self._last, self._rows, strict=True):
            by.value, by.last, by.rows = address(groups), address(last), address(rows)

    def read(self, first: int) -> KernelOpen | None:
        """What was told of the notes from ``first`` on; None where it is unsure."""
        if self.told.unsure:
            return None
        told = []
        for by, rows in zip(self.told.by, self._rows, strict=True):
            note, group, *counts, _ = rows[: by.used].T
            told.append(OpenRows(note.astype(np.int64) - first, group.astype(np.int64), *counts))
        whole, classes, labels = told
        return KernelOpen(whole, classes, of_labels(labels), *self._by_note)
