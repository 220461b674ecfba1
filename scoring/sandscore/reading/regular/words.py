"""Bytes looked at in many places at once, eight at a time.

A word is eight bytes as a number whose lowest byte comes first. Tests of bytes within words may also mark bytes after
one that they mark rightly, so what is asked is only whether a word has any, and which is the first.
"""

import mmap
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sandscore.reading.columns import Ints, Mask

Bytes = NDArray[np.uint8]
Masks = NDArray[np.uint64]

ROOM = 256
"""Bytes that follow the last: what is expected may reach beyond it."""
_PIECE = 1 << 18
_LINE_FEED = 10
_PLACES = np.uint64(0x0001020304050607)
_SEVEN, _TOP = np.uint64(7), np.uint64(56)


class IrregularError(Exception):
    """The block is not, or not quite, as regular as it looked."""


class Words:
    """The words in a buffer of ``size`` bytes and some room."""

    def __init__(self, buffer: bytes | mmap.mmap, size: int) -> None:
        self.size, self.buffer = size, buffer
        self.bytes: Bytes = np.frombuffer(buffer, np.uint8)
        self._words: Masks = np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))

    def cut(self, start: int, end: int) -> bytes:
        """Some of the bytes."""
        return self.buffer[start:end]

    def at(self, places: Ints) -> Masks:
        """The words that begin at some places."""
        words: Masks = self._words[places]
        return words

    def are(self, expected: bytes, places: Ints) -> Mask:
        """Where ``expected`` stands."""
        found = np.ones(len(places), bool)
        for offset, word, mask in _words_of(expected):
            words = self.at(places + offset if offset else places)
            found &= (words if mask is None else words & mask) == word
        return found

    def joined(self, begin: Ints, sizes: Ints) -> Bytes:
        """Pieces with a line feed before, between and after them."""
        ends = np.cumsum(sizes + 1)
        places = np.ones(int(ends[-1]) if len(ends) else 0, np.int64)
        places[ends[:-1]] = begin[1:] - begin[:-1] - sizes[:-1]
        places[:1] = begin[:1]
        np.cumsum(places, out=places)
        whole = np.empty(len(places) + 1, np.uint8)
        whole[1:] = self.bytes[places]
        whole[ends] = whole[0] = _LINE_FEED
        return whole

    def where(self, byte: int) -> Ints:
        """All places of a byte, looked for in pieces that a cache holds."""
        data = self.bytes[: self.size]
        found = [np.flatnonzero(data[at : at + _PIECE] == byte) + at for at in range(0, self.size, _PIECE)]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def require(self, expected: bytes, places: Ints) -> None:
        """It stands everywhere."""
        if len(places) and not (0 <= int(places.min()) <= int(places.max()) <= self.size - len(expected)):
            raise IrregularError
        if not self.are(expected, places).all():
            raise IrregularError


class Scratch:
    """Memory that is used again and again; of what is reserved only what is used is taken."""

    def __init__(self) -> None:
        self._memory = self._reserved(mmap.PAGESIZE)

    def room(self, size: int) -> mmap.mmap:
        """At least so many bytes and the room behind them; what was there before is gone."""
        if len(self._memory) < size + ROOM:
            self._memory = self._reserved(2 * size + ROOM)
        return self._memory

    def _reserved(self, size: int) -> mmap.mmap:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def copied(data: memoryview, scratch: Scratch) -> Words:
    """The words of some bytes, until the scratch is used again."""
    room = scratch.room(len(data))
    room[: len(data)] = data
    return Words(room, len(data))


def words_of(data: bytes) -> Words:
    """The words of a few bytes."""
    return Words(data + bytes(ROOM), len(data))


def every(byte: int) -> np.uint64:
    """The word of one byte eight times."""
    return np.uint64(byte * 0x0101010101010101)


ONES, HIGH = every(0x01), every(0x80)
FIRST_BYTES: Masks = np.array([(1 << 8 * kept) - 1 for kept in range(9)], np.uint64)
"""What keeps so many of a word's bytes, beginning with the first."""


def marked(words: Masks, byte: int) -> Masks:
    """Not zero where a word holds the byte; the lowest mark is that of the first."""
    other = words ^ every(byte)
    return (other - ONES) & ~other & HIGH


def first_mark(marks: Masks) -> Ints:
    """Which byte the lowest mark is in; 0 where there is none."""
    lowest = marks & (~marks + np.uint64(1))
    return (((lowest >> _SEVEN) * _PLACES) >> _TOP).astype(np.int64)


@cache
def _words_of(expected: bytes) -> list[tuple[int, np.uint64, np.uint64 | None]]:
    """Words that together cover it: where they begin, what they are, and what to look at of a short one."""
    if len(expected) < 8:
        return [(0, _word(expected), FIRST_BYTES[len(expected)])] if expected else []
    offsets = [*range(0, len(expected) - 8, 8), len(expected) - 8]
    return [(offset, _word(expected[offset : offset + 8]), None) for offset in offsets]


def _word(data: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(data, "little"))
