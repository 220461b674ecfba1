"""JSON as the contract wants it: UTF-8, finite numbers, unique keys, whole characters, at most 100 levels.

The standard library's parser does the work; what it lets pass is looked for by hooks and by the shape of
the text, and only then is the text walked token by token to say where the first fault stands.

RFC 6901 pointers: where in a JSON file something stands.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

MAX_DEPTH = 100
_LONGEST_FINITE = 308
_WORD = r'(?s)"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|-?[0-9][0-9.eE+-]*|-?[A-Za-z]+'
_SURROGATE_ESCAPE = r"\\u[dD][89a-fA-F]"
_STRING = re.compile(r'(?s)"(?:[^"\\]++|\\.)*+"')
_PIECE = 1 << 20
_ROOM = 160 << 20
_COSTS = {b"[": 64, b"{": 184, b",": 40, b":": 64, b'"': 24}
"""Bytes of memory that a value takes for each of these marks, about; marks within strings are counted too."""
_DEAREST = max(_COSTS.values())
_CONSTANTS = ("NaN", "Infinity", "-Infinity")


class JsonFault(ValueError):
    """Where a text stops being the JSON we accept. ``offset`` counts bytes from its beginning."""

    def __init__(self, what: str, line: int, column: int, offset: int) -> None:
        super().__init__(f"line {line}, column {column}: {what}")
        self.what, self.line, self.column, self.offset = what, line, column, offset


class _NotStrictError(Exception):
    """A hook met something the grammar allows and we do not."""


def loads(data: bytes | bytearray | memoryview) -> Any:
    """The value of one JSON text; JsonFault with line and column where it is not one."""
    raw = bytes(data)
    refuse_crowded(raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise fault_at(raw, fault.start, f"byte 0x{raw[fault.start]:02x} is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise fault_at(raw, 0, "a byte order mark stands before the JSON")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as fault:
        raise fault_in(text, fault.pos, _grammar(fault, text)) from None
    except (_NotStrictError, RecursionError):
        locate(text)
        raise fault_in(text, 0, "not the JSON we accept") from None
    if _deep(text) or (re.search(_SURROGATE_ESCAPE, text) and not _whole(value)):
        locate(text)
    return value


def values(data: bytes) -> Iterator[Any]:
    """A JSON array's items, or the objects of JSON Lines, or one object alone."""
    if data.lstrip()[:1] == b"{":
        try:
            yield loads(data)
        except JsonFault:
            yield from (loads(line) for line in data.splitlines() if line.strip())
        return
    value = loads(data)
    yield from value if isinstance(value, list) else [value]


def refuse_crowded(raw: bytes, room: int = _ROOM) -> None:
    """Values take more room in memory than on paper: at most so much more that hostile ones do not fill it."""
    room += 2 * len(raw)
    if _DEAREST * len(raw) < room:
        return
    needed = sum(cost * raw.count(mark) for mark, cost in _COSTS.items())
    if needed > room:
        raise JsonFault(f"more values in one piece ({raw.count(b',') + 1:,}) than are looked into", 1, 1, 0)


def _deep(text: str) -> bool:
    """Whether brackets and braces that are not in strings are nested too deep."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    import numpy as np

    steps = np.zeros(256, np.int8)
    steps[list(b"[{")], steps[list(b"]}")] = 1, -1
    depth, bare = 0, _STRING.sub("", text).encode()
    for at in range(0, len(bare), _PIECE):
        levels = np.cumsum(steps[np.frombuffer(bare[at : at + _PIECE], np.uint8)], dtype=np.int64)
        if depth + int(levels.max()) > MAX_DEPTH:
            return True
        depth += int(levels[-1])
    return False


def _whole(value: Any) -> bool:
    """Whether no string of a value holds half a character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def locate(text: str) -> None:
    """Walk a text whose grammar is right and raise JsonFault at the first thing that is not allowed."""
    keys: list[set[str] | None] = []
    awaiting_key = False
    for token in re.finditer(_WORD, text):
        word = token[0]
        if word in "{[":
            keys.append(set() if word == "{" else None)
            if len(keys) > MAX_DEPTH:
                raise fault_in(text, token.start(), f"nested deeper than {MAX_DEPTH} levels")
            awaiting_key = word == "{"
        elif word in "}]":
            if keys:
                keys.pop()
            awaiting_key = False
        elif word == ",":
            awaiting_key = bool(keys) and keys[-1] is not None
        elif word[0] == '"':
            string = _string(text, token)
            seen = keys[-1] if awaiting_key and keys else None
            if seen is not None:
                if string in seen:
                    raise fault_in(text, token.start(), f"duplicate key {_clip(word)}")
                seen.add(string)
            awaiting_key = False
        elif word != ":":
            _check_scalar(text, token)


def _string(text: str, token: re.Match[str]) -> str:
    string: str = json.loads(token[0], strict=False)
    if re.search(_SURROGATE_ESCAPE, token[0]) and any("\ud800" <= c <= "\udfff" for c in string):
        raise fault_in(text, token.start(), "a lone surrogate (\\ud800 to \\udfff) is half a character")
    return string


def _check_scalar(text: str, token: re.Match[str]) -> None:
    word = token[0]
    if word in _CONSTANTS:
        raise fault_in(text, token.start(), f"{word} is not a JSON number")
    if word[-1].isdigit() and not _finite(word):
        raise fault_in(text, token.start(), f"the number {_clip(word)} is too large")


def _finite(number: str) -> bool:
    try:
        return math.isfinite(float(number))
    except ValueError:
        return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _NotStrictError
    return made


def _float(written: str) -> float:
    value = float(written)
    if math.isinf(value):
        raise _NotStrictError
    return value


def _integer(written: str) -> int:
    if len(written) > _LONGEST_FINITE:
        _float(written)
    return int(written)


def _constant(_: str) -> float:
    raise _NotStrictError


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_float, parse_int=_integer, parse_constant=_constant)


def _grammar(fault: json.JSONDecodeError, text: str) -> str:
    found = f", found {_clip(text[fault.pos])}" if fault.pos < len(text) else ", found the end"
    return f"{fault.msg[0].lower()}{fault.msg[1:]}{found}"


def _clip(word: str) -> str:
    shown = json.dumps(word if word[0] != '"' else word[1:-1])
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


def fault_in(text: str, position: int, what: str) -> JsonFault:
    """A fault at a character of a text."""
    before = text[:position]
    line_start = before.rfind("\n") + 1
    offset = len(before.encode("utf-8", "surrogatepass"))
    return JsonFault(what, before.count("\n") + 1, position - line_start + 1, offset)


def fault_at(data: bytes, offset: int, what: str) -> JsonFault:
    """A fault at a byte of some bytes; the column counts characters."""
    line_start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[line_start:offset].decode("utf-8", "replace")) + 1
    return JsonFault(what, data.count(b"\n", 0, offset) + 1, column, offset)


def pointer(path: Iterable[str | int]) -> str:
    """The path as a JSON pointer."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)
