"""The texts of notes by number: a list, or a nameless file where they are too long for memory."""

import sys
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import overload

import numpy as np

from sandscore.reading.spooling import Spool, forget

SPILL = 1 << 29
"""Bytes of texts that memory holds."""
_LOOKED_AT = 1 << 25
_TOGETHER = 256


class GatheredTexts:
    """Texts on their way to become a data set's."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._size = 0
        self._spool: Spool | None = None
        self._lengths = array("q")

    def add(self, texts: list[str]) -> None:
        """Further texts."""
        self._held += texts
        self._size += sum(map(sys.getsizeof, texts))
        if self._size > SPILL:
            self._spool = self._spool or Spool()
            for first in range(0, len(self._held), _TOGETHER):
                written = [text.encode("utf-8", "surrogatepass") for text in self._held[first : first + _TOGETHER]]
                self._spool.append(np.frombuffer(b"".join(written), np.uint8))
                self._lengths.extend(map(len, written))
            self._held.clear()

    def all(self) -> Sequence[str]:
        """Every text."""
        return self._held if self._spool is None else _SpooledTexts(self._spool, self._lengths)


class _SpooledTexts(Sequence[str]):
    def __init__(self, spool: Spool, lengths: Iterable[int]) -> None:
        self._bytes = spool.column(np.uint8)
        self._ends = array("q", accumulate(lengths, initial=0))
        self._looked_at = 0

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        first, last = self._ends[number], self._ends[number + 1]
        self._looked_at += last - first
        if self._looked_at > _LOOKED_AT:
            forget(self._bytes)
            self._looked_at = 0
        return str(self._bytes[first:last].data, "utf-8", "surrogatepass")
