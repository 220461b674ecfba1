"""One file's annotations as columns, in file order."""

from collections.abc import Iterator
from struct import pack
from typing import TYPE_CHECKING, TypeVar

from sandscore.base.arrays import Floats, HeldArrays, Ints, Mask, Small, np
from sandscore.base.column_files import forget
from sandscore.base.removable_rooms import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = TypeVar("Number", np.int64, np.float64)

__all__ = [
    "Columns",
    "Floats",
    "Ints",
    "Mask",
    "Small",
    "Tokens",
    "distinct",
    "floats_of",
    "order_of",
    "ranked",
    "small_of",
]
_ROOM = 1 << 62
_PIECE = 1 << 20


class Tokens(HeldArrays):
    """``words`` counts each text's white-space tokens; ``begin``, within the text, and ``size`` of all in turn."""

    words: Small
    begin: Small
    size: Small


class Columns(HeldArrays):
    """``note`` numbers the data set's notes; ``label`` -1 is absent; ``confidence`` NaN is absent.

    ``text`` numbers equal texts equally where there are no notes to look texts up in, else it is None:
    the span says it all. ``tokens`` are there where they were asked for. ``entity`` numbers equal ids of entities
    equally, -1 is absent; it is None where no annotation has one.
    Columns are kept small: widen them before sums that 31 bits do not hold.
    """

    note: Small
    start: Small
    length: Small
    label: Small
    confidence: Floats
    text: Small | None
    tokens: Tokens | None
    entity: Small | None

    def __len__(self) -> int:
        return len(self.held["note"])

    def __getitem__(self, rows: slice) -> "Columns":
        """Some rows, without their tokens and entities."""
        kept = {
            name: None if column is None else column[rows] for name, column in self.held.items() if name != "tokens"
        }
        return Columns(**kept | {"entity": None})

    def pieces(self) -> Iterator[tuple[int, "Columns"]]:
        """Runs of rows that fit into memory, without their tokens, and where each begins."""
        for first in range(0, len(self), _PIECE):
            yield first, self[first : first + _PIECE]
            self.forget()

    def forget(self) -> None:
        """Give the memory of spooled columns back."""
        tokens = [*self.tokens.held.values()] if self.tokens else []
        for column in (*self.held.values(), *tokens):
            if column is not None and column is not self.tokens:
                forget(column)

    def labels(self) -> set[int]:
        """The labels that occur."""
        if (known := compiled().labels(self)) is not None:
            return known
        found = (np.flatnonzero(np.bincount(piece.label + 1)[1:]) for _, piece in self.pieces())
        return {code for codes in found for code in codes.tolist()}


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
        keys = keys * radix
        keys += values
        size *= radix
    return keys, size


def order_of(keys: Ints, size: int) -> Ints:
    """What puts keys below ``size`` into stable order; cheap where they are in order already."""
    if bool((keys[1:] >= keys[:-1]).all()):
        return np.arange(len(keys))
    bits = len(keys).bit_length()
    if size << bits >= _ROOM:
        return np.argsort(keys, kind="stable")
    tagged = keys << bits
    tagged |= np.arange(len(keys))
    tagged.sort()
    tagged &= (1 << bits) - 1
    return tagged


def distinct(values: "NDArray[Number]") -> "tuple[NDArray[Number], Ints]":
    """The different values in ascending order, and how often each occurs; ``np.unique`` would import ``numpy.ma``."""
    ordered = np.sort(values)
    if not len(ordered):
        return ordered, np.zeros(0, np.int64)
    firsts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    return ordered[firsts], np.diff(firsts, append=len(ordered))
