"""Counts note by note, kept as tables: a note's own are made when somebody asks for them."""

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any

import msgspec
import numpy as np

from sandscore.annotations.columns import Ints

Row = tuple[int, ...]
_TOGETHER = 4096


class NoteCounts(Mapping[str, dict[str, Row]]):
    """By note, by measure: tp, fp and fn, or the components of a formula."""

    def __init__(self, notes: list[str], tables: Mapping[str, Ints]) -> None:
        self._notes, self._tables = notes, tables
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._notes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    def __getitem__(self, note: str) -> dict[str, Row]:
        self._numbers = self._numbers or {note: number for number, note in enumerate(self._notes)}
        number = self._numbers[note]
        return next(self.rows(number, number + 1))

    def items(self) -> ItemsView[str, dict[str, Row]]:
        """Some thousand notes at a time, which is quicker than one by one."""
        return _Items(self)

    def rows(self, first: int, last: int) -> Iterator[dict[str, Row]]:
        """The counts of some notes that follow one another."""
        tables = [zip(*table[first:last].T.tolist(), strict=True) for table in self._tables.values()]
        return map(dict, map(zip, repeat([*self._tables]), zip(*tables, strict=True)))


class _Items(ItemsView[str, dict[str, Row]]):
    _mapping: NoteCounts

    def __iter__(self) -> Iterator[tuple[str, dict[str, Row]]]:
        notes = [*self._mapping]
        for first in range(0, len(notes), _TOGETHER):
            yield from zip(notes[first : first + _TOGETHER], self._mapping.rows(first, first + _TOGETHER), strict=True)


def table_of(rows: Sequence[Row]) -> Ints:
    """Rows as a table."""
    return np.array(rows, np.int64).reshape(len(rows), len(rows[0]) if rows else 0)


def written(values: Mapping[str, Any]) -> Iterator[bytes]:
    """A mapping as JSON, some thousand members at a time."""
    rest, before = iter(values.items()), b""
    yield b"{"
    while some := dict(islice(rest, _TOGETHER)):
        yield before + msgspec.json.encode(some)[1:-1]
        before = b","
    yield b"}"
