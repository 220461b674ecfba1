"""Gold and notes kept in the scorer's memory from one submission to the next, for as long as their files stay."""

import os
import time
from pathlib import Path

from msgspec import Struct

from sandscore.annotations.reference_data import Reference
from sandscore.task_table.task import Task

_MOST_BYTES = 1 << 28
_SETTLED_SECONDS = 1.0
_SIZE, _CHANGED = 2, -1
Marks = tuple[tuple[int, ...], ...]
"""For each file: device, number, size, when it was written, when it was changed."""


class _Kept(Struct, frozen=True):
    reference: Reference
    marks: Marks
    size: int


class References:
    """The last ones used, up to so many bytes of their files. The one asked for last is kept whatever its size."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[tuple[Task, Path, Path], _Kept] = {}

    def find(self, task: Task, gold: Path, notes: Path) -> Reference:
        """As the files are now."""
        key, marks = (task, gold, notes), _marks(gold, notes)
        settled = _settled(marks)
        kept = self._kept.pop(key, None)
        if kept is None or kept.marks != marks:
            kept = None  # what is outdated goes before its successor comes
            kept = _Kept(Reference(task, gold, notes), marks, sum(mark[_SIZE] for mark in marks))
        if settled:
            self._kept[key] = kept
            self._make_room()
        return kept.reference

    def _make_room(self) -> None:
        while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self._most_bytes:
            del self._kept[next(iter(self._kept))]


def _marks(*paths: Path) -> Marks:
    """What changes when a file does. Opened, not only looked up: a network's file system asks its server then."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
        found.append((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))
    return tuple(found)


def _settled(marks: Marks) -> bool:
    """Files changed a moment ago may change again without their marks showing it: they are read anew next time."""
    return max(mark[_CHANGED] for mark in marks) < time.time_ns() - _SETTLED_SECONDS * 1e9
