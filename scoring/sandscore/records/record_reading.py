"""Records as people and other programs hand them to us: read strictly, and refused in one kind of sentence.

A sentence names the file, what it should have been, an RFC 6901 pointer and what is wrong there:
``board.json is not a board: /rows/0/rank: is missing``.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from sandscore.base import strict_json
from sandscore.base.byte_sources import opened
from sandscore.base.errors import SandscoreError
from sandscore.base.terminal_text import one_line

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_Record = TypeVar("_Record", bound="BaseModel")
_LONGEST_QUOTED = 80
_ROOM = 320 << 20
_MOST_KEYS = 1000
_SENTENCES = {"missing": "is missing", "extra_forbidden": "unknown key"}
_MESSAGES = {"model_type": "Input should be an object"}
"""In place of pydantic's, which name a class of ours."""


def file_content(path: Path) -> bytes:
    """A small file's bytes, unpacked."""
    with opened(path) as source:
        return bytes(source.data)


def read_record(
    model: type[_Record], content: bytes, name: object, what: str, fault: type[SandscoreError], *, strict: bool = False
) -> _Record:
    """The record in the bytes of a JSON file called ``name``; ``what`` it should be, and whose ``fault`` it is if not.

    ``strict``: a number in quotes is no number.
    """
    value = read_json(content, name, what, fault)
    if isinstance(value, dict) and len(value) > _MOST_KEYS:
        raise fault(f"{name} is not {what}: an object of {len(value):,} keys")
    del value
    with refusing(name, what, fault):
        return model.model_validate_json(content, strict=strict)


def read_json(content: bytes, name: object, what: str, fault: type[SandscoreError]) -> object:
    """The value of a JSON file, without what a JSON reader may wave through: equal keys, NaN, endless nesting."""
    try:
        strict_json.refuse_crowded(content, _ROOM)
        value: object = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_never)
    except (ValueError, RecursionError):
        raise fault(f"{name} is not {what}: it is not JSON: {_why(content)}") from None
    return value


@contextmanager
def refusing(name: object, what: str, fault: type[SandscoreError]) -> Iterator[None]:
    """Turns the first complaint about a record into a sentence."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as wrong:
        raise fault(f"{name} is not {what}: {complaints(wrong)[0][1]}") from None


def complaints(wrong: "ValidationError", *, quoting: bool = False) -> list[tuple[tuple[str | int, ...], str]]:
    """Every complaint: the path to where it is about, and a sentence that begins with the pointer to it.

    ``quoting`` says what was found there too: for files that hold nobody's secrets.
    """
    found = wrong.errors(include_url=False, include_context=False, include_input=quoting)
    return [(error["loc"], _sentence(error["loc"], error["type"], error["msg"], error.get("input"))) for error in found]


def _sentence(path: tuple[str | int, ...], kind: str, message: str, given: object) -> str:
    said = _SENTENCES.get(kind) or _MESSAGES.get(kind) or message.removeprefix("Value error, ")
    quoted = isinstance(given, str | int | float | bool) and len(str(given)) < _LONGEST_QUOTED
    found = f" (found {given!r})" if quoted and kind not in _SENTENCES else ""
    where = one_line(strict_json.pointer(path))
    return f"{where}: {said}{found}" if where else f"{said}{found}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _never(_: str) -> NoReturn:
    raise ValueError


def _why(content: bytes) -> str:
    """The slower reader says where; it takes a few numbers that no machine does."""
    try:
        strict_json.refuse_crowded(content, _ROOM)
        strict_json.loads(content)
    except strict_json.JsonFault as fault:
        return str(fault)
    return "a number of it is too long"
