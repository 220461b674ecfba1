"""One file's annotations as columns, in file order."""

from dataclasses import dataclass
from typing import TypeVar

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


def joined(parts: list[Columns]) -> Columns:
    """Columns of several blocks as one."""
    none = np.zeros(0, np.int32)
    parts = parts or [Columns(none, none, none, none, np.zeros(0), none, Tokens(none, none, none))]
    texts = [part.text for part in parts if part.text is not None]
    tokens = [part.tokens for part in parts if part.tokens is not None]
    return Columns(
        note=np.concatenate([part.note for part in parts]),
        start=np.concatenate([part.start for part in parts]),
        length=np.concatenate([part.length for part in parts]),
        label=np.concatenate([part.label for part in parts]),
        confidence=np.concatenate([part.confidence for part in parts]),
        text=np.concatenate(texts) if len(texts) == len(parts) else None,
        tokens=_joined_tokens(tokens) if len(tokens) == len(parts) else None,
    )


def _joined_tokens(parts: list[Tokens]) -> Tokens:
    return Tokens(
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.begin for part in parts]),
        np.concatenate([part.size for part in parts]),
    )


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
