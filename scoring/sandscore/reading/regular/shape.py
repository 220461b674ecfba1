"""How a block writes its records: the text around the values, read off where it first occurs and judged by grammar."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from sandscore.reading.regular.words import IrregularError

Kind = str
"""What a value is: whole, share, text or label."""
_VALUES = {
    "whole": rb"()(?:[0-9]+)()",
    "share": rb"()(?:[0-9.]+)()",
    "text": rb'(")(?:[^"\\]|\\.)*(")',
    "label": rb'(")(?:[^"\\]|\\.)*(")',
}


@dataclass(frozen=True, slots=True)
class Member:
    """A property all annotations have, and what leads to its value from the one before it or from the brace."""

    name: str
    kind: Kind
    lead: bytes


@dataclass(frozen=True, slots=True)
class Shape:
    """``head`` leads from a record's brace to the note's name, ``listing`` from there to the first annotation's brace.

    ``tail`` follows an annotation's last value and ends with the brace; ``gap`` leads from there to the next brace, or
    is empty where no list seems to hold two annotations. ``bracket`` is how much of ``listing`` goes up to the bracket.
    """

    head: bytes
    listing: bytes
    bracket: int
    members: tuple[Member, ...]
    tail: bytes
    gap: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """An array over any number of lines, or lines of one record each."""

    space: bytes
    opening: tuple[bytes, ...]
    joint: bytes
    end: bytes

    def rule(self, *signs: bytes) -> re.Pattern[bytes]:
        """These signs with space around them."""
        return _rule(self.space, signs)

    def last(self, *signs: bytes) -> re.Pattern[bytes]:
        """The same at the very end."""
        return _rule(self.space, signs, b"\\Z")


ARRAY = Form(rb"[ \t\r\n]*", (rb"\[",), b",", rb"\]")
LINES = Form(rb"[ \t]*", (), rb"\r?\n", rb"(?:\r?\n)?")


def shape_of(data: bytes | bytearray, form: Form, keys: Mapping[bytes, tuple[str, Kind]], array: bytes) -> Shape:
    """The shape of the first record that has annotations; IrregularError where it has none of ours."""
    space = form.space
    record = _record(space, array).search(data)
    if record is None:
        raise IrregularError
    members, tail, end = _members(data, record.end(3), space, keys)
    gap = _gap(space).match(data, end)
    return Shape(record[1], record[2] + record[3], len(record[2]), members, tail, gap[1] if gap else b"")


def _members(
    data: bytes | bytearray, at: int, space: bytes, keys: Mapping[bytes, tuple[str, Kind]]
) -> tuple[tuple[Member, ...], bytes, int]:
    found: dict[str, Member] = {}
    lead, sign = b"{", b","
    while sign == b",":
        key = _key(space).match(data, at)
        name, kind = keys.get(key[1], ("", "")) if key else ("", "")
        if key is None or not name or name in found:
            raise IrregularError
        value = _value(kind, space).match(data, key.end())
        if value is None:
            raise IrregularError
        found[name] = Member(name, kind, lead + key[0] + value[1])
        lead, sign, at = value[2] + value[3], value[4], value.end()
    return tuple(found.values()), lead, at


@cache
def _record(space: bytes, array: bytes) -> re.Pattern[bytes]:
    head = (rb"\{", b'"annotationSource"', b":", rb"\{", b'"resourceSource"', b":", rb"\{", b'"name"', b":")
    listing = (rb"\}", rb"\}", b",", b'"' + array + b'"', b":")
    before, after = (space.join((*signs, b"")) for signs in (head, listing))
    return re.compile(b'(%b")[^"\\\\]*("%b%b\\[)(%b\\{)' % (before, space, after, space))


@cache
def _key(space: bytes) -> re.Pattern[bytes]:
    return re.compile(b'%b"([A-Za-z]+)"%b:%b' % (space, space, space))


@cache
def _value(kind: Kind, space: bytes) -> re.Pattern[bytes]:
    return re.compile(b"%b(%b([,}]))" % (_VALUES[kind], space), re.DOTALL)


@cache
def _gap(space: bytes) -> re.Pattern[bytes]:
    return re.compile(b"(%b,%b)\\{" % (space, space))


@cache
def _rule(space: bytes, signs: tuple[bytes, ...], end: bytes = b"") -> re.Pattern[bytes]:
    return re.compile(space + b"".join(sign + space for sign in signs) + end)
