"""How a block writes its records: the text around the values, read off where it first occurs and judged by grammar."""

import mmap
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sandscore.reading.regular.words import IrregularError

Kind = str
"""What a value is: whole, share, text or label."""


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


class Form:
    """An array over any number of lines, or lines of one record each: space, and what parts and ends records."""

    def __init__(self, space: str, opening: bytes, joint: tuple[bytes, ...], end: tuple[bytes, ...]) -> None:
        self.opening, self.joint, self.end = opening, joint, end
        self._space = space.encode()

        def pattern(written: str) -> re.Pattern[bytes]:
            return re.compile(written.replace(" ", f"[{space}]*").encode(), re.DOTALL)

        head = r'\{ "annotationSource" : \{ "resourceSource" : \{ "name" : "'
        self.record = pattern(rf'({head})[^"\\]*(" \}} \}} , "([A-Za-z]+)" : \[)( \{{)')
        self.key = pattern(' "([A-Za-z]+)" : ')
        number, quoted = pattern(r"()[0-9.]+()( ([,}]))"), pattern(r'(")(?:[^"\\]|\\.)*(")( ([,}]))')
        self.value = {"whole": number, "share": number, "text": quoted, "label": quoted}
        self.gap = pattern(r"( , )\{")

    def holds(self, gap: bytes, *allowed: bytes) -> bool:
        """Whether it is one of these signs with space around them."""
        return gap.translate(None, self._space) in allowed


ARRAY = Form(" \t\r\n", b"[", (b"]},",), (b"]}]",))
LINES = Form(" \t", b"", (b"]}\n", b"]}\r\n"), (b"]}", b"]}\n", b"]}\r\n"))


def shape_of(data: bytes | mmap.mmap, form: Form, keys: Mapping[bytes, tuple[str, Kind]], array: bytes) -> Shape:
    """The shape of the first record that has annotations; IrregularError where it has none of ours."""
    record = form.record.search(data)
    if record is None or record[3] != array:
        raise IrregularError
    members, tail, end = _members(data, record.end(4), form, keys)
    gap = form.gap.match(data, end)
    return Shape(record[1], record[2] + record[4], len(record[2]), members, tail, gap[1] if gap else b"")


def _members(
    data: bytes | mmap.mmap, at: int, form: Form, keys: Mapping[bytes, tuple[str, Kind]]
) -> tuple[tuple[Member, ...], bytes, int]:
    found: dict[str, Member] = {}
    lead, sign = b"{", b","
    while sign == b",":
        key = form.key.match(data, at)
        name, kind = keys.get(key[1], ("", "")) if key else ("", "")
        if key is None or not name or name in found:
            raise IrregularError
        value = form.value[kind].match(data, key.end())
        if value is None:
            raise IrregularError
        found[name] = Member(name, kind, lead + key[0] + value[1])
        lead, sign, at = value[2] + value[3], value[4], value.end()
    return tuple(found.values()), lead, at
