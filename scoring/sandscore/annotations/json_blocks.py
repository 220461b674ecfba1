"""An input cut into blocks of whole records, each a JSON array or a run of JSON lines, without copying it.

A wrong guess of where a record ends can only make a good block unreadable, never a bad one readable: if every
block is a valid array, so is the whole, and it holds their items. A block that cannot be read is therefore read
again together with all that follows it.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import cache
from typing import Literal

import msgspec

from sandscore.annotations.record_bounds import Bounds, item_bounds, line_bounds
from sandscore.base.arrays import np
from sandscore.base.strict_json import JsonFault

BLOCK = 1 << 21
_STRIDE, _NEWLINE, _COMMA = 1 << 24, 10, 44
_BLANKS = b" \t\r\n"
_SPACE = re.compile(rb"[ \t\r\n]*")
_SECOND_LINE = rb"\}[ \t\r]*\n[ \t\r\n]*\{"
_RAW = msgspec.json.Decoder(msgspec.Raw)
_BYTE = r"(?s)(.*) \(byte (\d+)\)$"

Form = Literal["array", "lines", "single"]


class _AnyArray(msgspec.Struct, array_like=True):
    """An array whose items are passed over: its grammar is looked at, and nothing is made of it."""


_ARRAYS = msgspec.json.Decoder(_AnyArray)


class JsonBlock(msgspec.Struct, frozen=True):
    """Some bytes of the input and where they begin in it."""

    data: memoryview
    offset: int


def form_of(data: memoryview) -> Form:
    """Array, JSON lines, or one object over several lines. Anything else is a JsonFault."""
    start = _after_space(data, 0)
    first = bytes(data[start : start + 1])
    if first == b"[":
        return "array"
    if first != b"{":
        raise WholeJson(data).fault(_unexpected(bytes(data[start : start + 9])), start)
    try:
        _RAW.decode(data[start:])
    except RecursionError:
        return "single"
    except msgspec.DecodeError as fault:
        second = re.search(_SECOND_LINE, data[start:])
        return "lines" if "trailing" in str(fault) or second else "single"
    return "single"


def array_blocks(data: memoryview, first_keys: tuple[str, ...], size: int = BLOCK) -> Generator[JsonBlock, None, None]:
    """The items of an array as arrays of about ``size`` bytes, cut before objects that begin with one of the keys.

    The comma at a cut is overwritten by the bracket that ends one block and then by the one that begins the
    next, and put back afterwards; use each block before asking for another.
    """
    start = _after_space(data, 0)
    return _cut(data, start, _likely_borders(data, start, _border(first_keys), size))


def sure_blocks(rest: JsonBlock, size: int = BLOCK) -> Generator[JsonBlock, None, None]:
    """The same of an array in which those keys mislead: cut where an item does end. JsonFault: its grammar breaks."""
    check_grammar(rest)
    start = _after_space(rest.data, 0)
    with closing(_cut(rest.data, start, _sure_borders(rest.data, start, size))) as blocks:
        for block in blocks:
            yield JsonBlock(block.data, rest.offset + block.offset)


def _likely_borders(data: memoryview, start: int, border: re.Pattern[bytes], size: int) -> Iterator[int]:
    while len(data) - start > size and (cut := border.search(data, start + size)):
        start = cut.start(1)
        yield start


def _sure_borders(data: memoryview, start: int, size: int) -> Iterator[int]:
    for bounds in item_bounds(data, start):
        for comma in bounds.ends[np.flatnonzero(np.diff(bounds.ends // size, prepend=start // size))].tolist():
            if data[comma] == _COMMA and comma - start >= size:
                start = comma
                yield start


def _cut(data: memoryview, start: int, commas: Iterator[int]) -> Generator[JsonBlock, None, None]:
    opened: int | None = None
    try:
        for comma in commas:
            try:
                data[comma : comma + 1] = b"]"
                yield JsonBlock(data[start : comma + 1], start)
            finally:
                data[comma : comma + 1] = b","
            if opened is not None:
                data[opened : opened + 1] = b","
            data[comma : comma + 1] = b"["
            opened = start = comma
        yield JsonBlock(data[start:], start)
    finally:
        if opened is not None:
            data[opened : opened + 1] = b","


@cache
def _border(first_keys: tuple[str, ...]) -> re.Pattern[bytes]:
    keys = b"|".join(re.escape(key.encode()) for key in first_keys)
    return re.compile(rb'\}\s*(,)\s*\{\s*"(?:' + keys + rb')"\s*:')


def rest_from(block: JsonBlock, data: memoryview) -> JsonBlock:
    """A block of an array together with all that follows it."""
    end = block.offset + len(block.data)
    if end < len(data):
        data[end - 1 : end] = b","
    return JsonBlock(data[block.offset :], block.offset)


def line_blocks(data: memoryview, size: int = BLOCK) -> Generator[JsonBlock, None, None]:
    """Runs of whole lines of about ``size`` bytes."""
    newline = re.compile(rb"\n")
    start = 0
    while start < len(data):
        cut = newline.search(data, min(start + size, len(data)))
        end = cut.end() if cut else len(data)
        yield JsonBlock(data[start:end], start)
        start = end


def check_grammar(block: JsonBlock) -> None:
    """JsonFault where a block is not an array."""
    try:
        _ARRAYS.decode(block.data)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise _grammar(block.data, fault) from None


def items(block: JsonBlock) -> Iterator[Bounds]:
    """The records of a block that is an array; JsonFault where its grammar breaks."""
    check_grammar(block)
    start = _after_space(block.data, 0)
    for bounds in item_bounds(block.data, start):
        if int(bounds.begins[0]) > start + 1 or _after_space(block.data, start + 1) < int(bounds.ends[0]):
            yield bounds


def lines(block: JsonBlock) -> Iterator[Bounds]:
    """The lines of a block that are not blank."""
    return line_bounds(block.data)


def trimmed(data: memoryview, begin: int, end: int) -> JsonBlock:
    """A record without the white space around it."""
    begin = _after_space(data, begin)
    if data[end - 1] in _BLANKS:
        end = begin + len(bytes(data[begin:end]).rstrip(_BLANKS))
    return JsonBlock(data[begin:end], begin)


def _after_space(data: memoryview, at: int) -> int:
    space = _SPACE.match(data, at)
    return space.end() if space else at


class WholeJson:
    """A whole input, to tell lines and columns in; asking about places in order costs one pass over it."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self._at, self._line, self._column = 0, 1, 1

    def __len__(self) -> int:
        return len(self.data)

    def fault(self, what: str, at: int) -> JsonFault:
        """A fault at a byte."""
        return JsonFault(what, *self._place(at), at)

    def within(self, fault: JsonFault, offset: int) -> JsonFault:
        """A fault found in a part that begins at a byte."""
        line, column = self._place(offset)
        column = fault.column if fault.line > 1 else column + fault.column - 1
        return JsonFault(fault.what, line + fault.line - 1, column, offset + fault.offset)

    def _place(self, at: int) -> tuple[int, int]:
        if at < self._at:
            self._at, self._line, self._column = 0, 1, 1
        for start in range(self._at, at, _STRIDE):
            passed = np.frombuffer(self.data[start : min(start + _STRIDE, at)], np.uint8)
            newlines = np.flatnonzero(passed == _NEWLINE)
            if len(newlines):
                self._line, self._column = self._line + len(newlines), 1
                passed = passed[newlines[-1] + 1 :]
            self._column += int(np.count_nonzero(passed & 0xC0 != 0x80))
        self._at = at
        return self._line, self._column


def _grammar(data: memoryview, fault: Exception) -> JsonFault:
    if isinstance(fault, RecursionError):
        return JsonFault("nested deeper than 100 levels", 1, 1, 0)
    told = re.match(_BYTE, str(fault))
    if told is None:
        return JsonFault("the file ends in the middle of a value", 1, 1, len(data))
    at = int(told[2])
    word = bytes(data[at : at + 9])
    if word.lstrip(b"-").startswith((b"NaN", b"Inf")):
        return JsonFault("NaN and Infinity are not JSON numbers", 1, 1, at)
    return JsonFault(f"{told[1].removeprefix('JSON is malformed: ')}, found {_found(word)}", 1, 1, at)


def _found(word: bytes) -> str:
    return repr(word[:1].decode("latin-1")) if word else "the end"


def _unexpected(word: bytes) -> str:
    if not word:
        return "the file is empty"
    if word.startswith(b"\xef\xbb\xbf"):
        return "a byte order mark stands before the JSON"
    return f"expected an array or an object, found {_found(word)}"
