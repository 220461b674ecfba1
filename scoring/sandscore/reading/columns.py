"""One file's annotations as columns, in file order."""

from dataclasses import dataclass
from struct import pack
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64)

_ROOM = 1 << 62


@dataclass(frozen=True, slots=True)
class Tokens:
    """``words`` counts each text's white-space tokens; ``begin``, within the text, and ``size`` of all in turn."""

    words: Small
    begin: Small
    size: Small


@dataclass(frozen=True, slots=True)
class Columns:
    """``note`` numbers the data set's notes; ``label`` -1 is absent; ``confidence`` NaN is absent.

    ``text`` numbers equal texts equally where there are no notes to look texts up in, else it is None:
    the span says it all. ``tokens`` are there where they were asked for.
    Columns are kept small: widen them before sums that 31 bits do not hold.
    """

    note: Small
    start: Small
    length: Small
    label: Small
    confidence: Floats
    text: Small | None = None
    tokens: Tokens | None = None

    def __len__(self) -> int:
        return len(self.note)


class Gathered:
    """Columns of several blocks on their way to become one."""

    def __init__(self) -> None:
        none = np.zeros(0, np.int32)
        self._note, self._start, self._length, self._label = ([none] for _ in range(4))
        self._confidence: list[Floats] = [np.zeros(0)]
        self._text: list[Small] | None = [none]
        self._tokens: tuple[list[Small], ...] | None = [none], [none], [none]
        self.size = 0

    def add(self, part: Columns) -> None:
        """Another block."""
        self.size += len(part)
        self._note.append(part.note)
        self._start.append(part.start)
        self._length.append(part.length)
        self._label.append(part.label)
        self._confidence.append(part.confidence)
        if part.text is None or self._text is None:
            self._text = None
        else:
            self._text.append(part.text)
        if part.tokens is None or self._tokens is None:
            self._tokens = None
        else:
            for gathered, column in zip(
                self._tokens, (part.tokens.words, part.tokens.begin, part.tokens.size), strict=True
            ):
                gathered.append(column)

    def columns(self) -> Columns:
        """All blocks as one; what was gathered is let go of, column by column, so that nothing is held twice."""
        return Columns(
            note=_emptied(self._note),
            start=_emptied(self._start),
            length=_emptied(self._length),
            label=_emptied(self._label),
            confidence=_emptied(self._confidence),
            text=None if self._text is None else _emptied(self._text),
            tokens=None if self._tokens is None else Tokens(*map(_emptied, self._tokens)),
        )


def _emptied(parts: list[NDArray[Any]]) -> NDArray[Any]:
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def small_of(values: list[int]) -> Small:
    """A column of numbers that 32 bits hold."""
    return np.frombuffer(pack(f"{len(values)}i", *values), np.int32)


def floats_of(values: list[float]) -> Floats:
    """A column of numbers."""
    return np.frombuffer(pack(f"{len(values)}d", *values), np.float64)


def ranked(fields: list[Ints]) -> tuple[Ints, int]:
    """Fields that are not negative as single integers that compare as the tuples of the fields do, and a bound."""
    keys = np.zeros(len(fields[0]), np.int64)
    size = 1
    for values in fields:
        radix = 1 + int(values.max(initial=0))
        if size * radix >= _ROOM:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * radix + values
        size *= radix
    return keys, size


def order_of(keys: Ints, size: int) -> Ints:
    """What puts keys below ``size`` into stable order; cheap where they are in order already."""
    if bool((keys[1:] >= keys[:-1]).all()):
        return np.arange(len(keys))
    bits = len(keys).bit_length()
    if size << bits >= _ROOM:
        return np.argsort(keys, kind="stable")
    tagged = (keys << bits) | np.arange(len(keys))
    tagged.sort()
    return tagged & ((1 << bits) - 1)


def distinct(values: NDArray[Number]) -> tuple[NDArray[Number], Ints]:
    """The different values in ascending order, and how often each occurs; ``np.unique`` would import ``numpy.ma``."""
    ordered = np.sort(values)
    if not len(ordered):
        return ordered, np.zeros(0, np.int64)
    firsts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[firsts], np.diff(firsts, append=len(ordered))
