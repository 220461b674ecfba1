"""One file's annotations as columns, in file order."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_ROOM = 1 << 62
_SPACE = np.array([chr(c).isspace() for c in range(0x3002)])
"""Which characters are white space; none beyond U+3000 is."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Maximal runs of non-space characters: the annotation each belongs to, its place in the note, its text."""

    owner: Ints
    start: Ints
    length: Ints
    text: Ints | None


@dataclass(frozen=True, slots=True)
class Columns:
    """``note`` numbers the data set's notes; ``label`` -1 is absent; ``confidence`` NaN is absent.

    ``text`` numbers equal texts equally where there are no notes to look texts up in, else it is None:
    the span says it all.
    """

    note: Ints
    start: Ints
    length: Ints
    label: Ints
    confidence: Floats
    text: Ints | None
    tokens: Tokens | None

    def __len__(self) -> int:
        return len(self.note)


class Places:
    """Where in the file annotations stand: each record's number and its first annotation's."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._records: list[int] = []
        self._kept: dict[int, list[int]] = {}

    def add(self, record: int, first: int, kept: list[int] | None = None) -> None:
        """A record whose annotations are numbered from ``first`` on; ``kept`` where some were left out."""
        self._firsts.append(first)
        self._records.append(record)
        if kept is not None:
            self._kept[record] = kept

    def add_run(self, record: int, firsts: list[int]) -> None:
        """Records that follow one another."""
        self._firsts += firsts
        self._records += range(record, record + len(firsts))

    def find(self, annotation: int) -> tuple[int, int]:
        """The record of an annotation and its place in it."""
        at = bisect_right(self._firsts, annotation) - 1
        record, offset = self._records[at], annotation - self._firsts[at]
        kept = self._kept.get(record)
        return record, offset if kept is None else kept[offset]


def tokens_of(texts: list[str], starts: Ints, lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """Owner, start in the note and length of every white-space token of the texts."""
    joined = "\n".join(texts) + "\n"
    if joined.isascii():
        space = _SPACE[np.frombuffer(joined.encode(), np.uint8)]
    else:
        points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        space = _SPACE[np.minimum(points, 0x3001)]
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    if not space[0]:
        edges = np.concatenate(([0], edges))
    begins, ends = edges[::2], edges[1::2]
    text_begins = np.cumsum(lengths + 1) - lengths - 1
    owner = np.searchsorted(text_begins, begins, side="right") - 1
    return owner, starts[owner] + begins - text_begins[owner], ends - begins


def ranked(fields: list[Ints]) -> Ints:
    """Fields that are not negative as single integers that compare as the tuples of the fields do."""
    keys = np.zeros(len(fields[0]), np.int64)
    size = 1
    for values in fields:
        radix = 1 + int(values.max(initial=0))
        if size * radix >= _ROOM:
            _, keys = np.unique(keys, return_inverse=True)
            size = len(keys)
        keys = keys * radix + values
        size *= radix
    return keys


class ColumnsBuilder:
    """Gathers columns block by block."""

    def __init__(self) -> None:
        self._parts: list[Columns] = []
        self.size = 0

    def add(self, part: Columns) -> None:
        self._parts.append(part)
        self.size += len(part)

    def columns(self) -> Columns:
        """All blocks as one."""
        parts = self._parts or [empty()]
        return Columns(
            note=np.concatenate([p.note for p in parts]),
            start=np.concatenate([p.start for p in parts]),
            length=np.concatenate([p.length for p in parts]),
            label=np.concatenate([p.label for p in parts]),
            confidence=np.concatenate([p.confidence for p in parts]),
            text=_joined([p.text for p in parts]),
            tokens=_joined_tokens(parts),
        )


def _joined(parts: list[Ints | None]) -> Ints | None:
    given = [part for part in parts if part is not None]
    return np.concatenate(given) if len(given) == len(parts) else None


def _joined_tokens(parts: list[Columns]) -> Tokens | None:
    given = [part.tokens for part in parts if part.tokens is not None]
    if len(given) != len(parts):
        return None
    shifts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    return Tokens(
        np.concatenate([t.owner + shift for t, shift in zip(given, shifts, strict=True)]),
        np.concatenate([t.start for t in given]),
        np.concatenate([t.length for t in given]),
        _joined([t.text for t in given]),
    )


def empty() -> Columns:
    """No annotation at all."""
    none = np.zeros(0, np.int64)
    return Columns(none, none, none, none, np.zeros(0), none, Tokens(none, none, none, none))


def select(columns: Columns, mask: Mask) -> Columns:
    """The rows the mask picks, without their tokens."""
    return Columns(
        columns.note[mask],
        columns.start[mask],
        columns.length[mask],
        columns.label[mask],
        columns.confidence[mask],
        None if columns.text is None else columns.text[mask],
        None,
    )
