"""The bounds of records in an array or in lines, found in one pass over the bytes and without reading a record.

An array is looked at some bytes at a time, and what is found is handed on before more is looked for: memory depends
on neither the length of the file nor the number of its records.
"""

from collections.abc import Iterator

from msgspec import Struct

from sandscore.base.arrays import Ints, Mask, Octets, np

_CHUNK = 1 << 19
_QUOTE, _BACKSLASH, _COMMA, _NEWLINE, _RETURN = 34, 92, 44, 10, 13
_OPENS, _CLOSES, _KIND = 0x7B, 0x7D, 0x20
"""Brackets and braces, once this bit is set."""
_BLANKS = b" \t\r\n"


class Bounds(Struct, frozen=True):
    """Where records begin, and where each ends, white space around them included."""

    begins: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.begins)

    def since(self, place: int) -> "Bounds":
        """Without those before a place."""
        return Bounds(self.begins[place:], self.ends[place:])

    def longer(self, size: int) -> Iterator[tuple[int, int, int]]:
        """The place, beginning and end of those of at least so many bytes."""
        places = np.flatnonzero(self.ends - self.begins >= size)
        return zip(places.tolist(), self.begins[places].tolist(), self.ends[places].tolist(), strict=True)


class _Lexer:
    """What is known of a text at the end of a piece of it: within a string, after a backslash, how deep."""

    def __init__(self) -> None:
        self._inside = self._escaped = False
        self._depth = 0

    def borders(self, piece: Octets) -> tuple[Ints, bool]:
        """The commas of the outermost array, and its end if it is there."""
        outside = self._outside(piece)
        kind = piece | _KIND
        brackets = np.flatnonzero(outside & ((kind == _OPENS) | (kind == _CLOSES)))
        steps = np.where(kind[brackets] == _OPENS, 1, -1).cumsum() + self._depth
        commas = np.flatnonzero(outside & (piece == _COMMA))
        before = np.searchsorted(brackets, commas)
        depth = np.concatenate(([self._depth], steps))
        found = commas[depth[before] == 1]
        self._depth = int(depth[-1])
        closed = brackets[steps == 0]
        return np.concatenate((found, closed[:1])), bool(len(closed))

    def _outside(self, piece: Octets) -> Mask:
        marks = piece == _QUOTE
        marks[self._escapes(piece)] = False
        inside = np.bitwise_xor.accumulate(marks.view(np.uint8)) ^ self._inside
        self._inside = bool(inside[-1])
        outside: Mask = inside == 0
        return outside

    def _escapes(self, piece: Octets) -> Ints:
        """The places after an odd number of backslashes."""
        slashes = np.flatnonzero(piece == _BACKSLASH)
        if self._escaped:
            slashes = np.concatenate(([-1], slashes))
        firsts = np.flatnonzero(np.diff(slashes, prepend=-3) > 1)
        sizes = np.diff(firsts, append=len(slashes))
        after = (slashes[firsts] + sizes)[sizes % 2 == 1]
        self._escaped = bool(len(after)) and int(after[-1]) == len(piece)
        real: Ints = after[: len(after) - self._escaped]
        return real


def item_bounds(data: memoryview, start: int) -> Iterator[Bounds]:
    """The items of an array whose grammar is right and which begins at ``start``."""
    lexer, begin = _Lexer(), start + 1
    for at in range(start, len(data), _CHUNK):
        found, done = lexer.borders(np.frombuffer(data[at : at + _CHUNK], np.uint8))
        if len(found):
            ends = found + at
            begins = np.concatenate(([begin], ends[:-1] + 1))
            yield Bounds(begins, ends)
            begin = int(ends[-1]) + 1
        if done:
            return


def line_bounds(data: memoryview) -> Iterator[Bounds]:
    """The lines that are not blank."""
    begin = written = 0
    for at in range(0, len(data), _CHUNK):
        piece = np.frombuffer(data[at : at + _CHUNK], np.uint8)
        dark = np.cumsum(~np.isin(piece, np.frombuffer(_BLANKS, np.uint8))) + written
        ends = np.flatnonzero((piece == _NEWLINE) | (piece == _RETURN)) + 1
        if at + _CHUNK >= len(data) and (not len(ends) or ends[-1] < len(piece)):
            ends = np.append(ends, len(piece))
        if not len(ends):
            written = int(dark[-1])
            continue
        filled = np.diff(dark[ends - 1], prepend=0) > 0
        bounds = Bounds(np.concatenate(([begin], ends[:-1] + at))[filled], (ends + at)[filled])
        begin, written = int(ends[-1]) + at, int(dark[-1] - dark[ends[-1] - 1])
        yield bounds
