"""The chain of the journal's lines: each says its number, the checksum of the line before it, and its own.

A checksum is the first half of a SHA-256 over the line up to where the checksum begins, so that no bit of it can turn
unseen. Lines that older versions wrote have none; the first line that has one says the checksum of all bytes before it.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

_DIGITS = 32
_END = re.compile(rb',"sum":"([0-9a-f]{%d})"}' % _DIGITS)
_END_BYTES = len(',"sum":""}') + _DIGITS
_BEGIN = b'{"number":'
_TORN = "is cut short"
_Entry = TypeVar("_Entry", bound=Struct)


class _Place(Struct, frozen=True):
    number: int
    before: str


_PLACES = msgspec.json.Decoder(_Place)


class ChainEnd(Struct, frozen=True):
    """The newest line: its number, and its checksum; None where the line cannot be read."""

    number: int = 0
    checksum: str | None = ""


class JournalFault(Struct, frozen=True):
    """What is wrong at a line of the file, counted from 1, and the bytes that cannot be believed."""

    line: int
    what: str
    content: bytes = b""

    def __str__(self) -> str:
        return f"line {self.line:,} {self.what}"


def chained(content: bytes, end: ChainEnd) -> tuple[bytes, ChainEnd]:
    """A line of the file for a JSON object, and the new end of the chain."""
    place = b'%s%d,"before":"%s",' % (_BEGIN, end.number + 1, (end.checksum or "").encode())
    whole = place + content[1:-1] if len(content) > len(b"{}") else place[:-1]
    checksum = checksum_of(whole)
    return b'%s,"sum":"%s"}\n' % (whole, checksum.encode()), ChainEnd(end.number + 1, checksum)


def checksum_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def end_of_line(line: bytes) -> ChainEnd | None:
    """What a line that is as it was written says of itself; None where it is not, or says nothing."""
    content = line.removesuffix(b"\n")
    found = _END.fullmatch(content, max(0, len(content) - _END_BYTES))
    if found is None or content == line or checksum_of(content[:-_END_BYTES]) != found[1].decode():
        return None
    return ChainEnd(_PLACES.decode(content).number, found[1].decode())


class ChainReader:
    """Reads lines from the first to the last, and notes what is wrong with them."""

    def __init__(self) -> None:
        self.end = ChainEnd()
        self.faults: list[JournalFault] = []
        self._older = hashlib.sha256()
        self._older_lines, self._older_whole = 0, True
        self._begun = False
        self._line = 0

    def read(self, data: bytes, decoder: "msgspec.json.Decoder[_Entry]") -> list[_Entry]:
        """The entries of whole lines; what follows the last line's end is a line that is cut short."""
        entries = []
        for line in _split(data):
            self._line += 1
            if (content := self._believed(line)) is None:
                continue
            try:
                entries.append(decoder.decode(content))
            except (msgspec.MsgspecError, UnicodeDecodeError):
                self._doubt("is not a line of the journal", line)
        return entries

    def _believed(self, line: bytes) -> bytes | None:
        content = line.removesuffix(b"\n")
        found = _END.fullmatch(content, max(0, len(content) - _END_BYTES))
        if found is None or checksum_of(content[:-_END_BYTES]) != found[1].decode():
            return self._without_checksum(line)
        if content == line:
            self._doubt(_TORN, line)
            return None
        place = _PLACES.decode(content)
        expected = self._expected()
        self._begun = True
        if place.number < expected.number:
            self._fault(f"is number {place.number:,}, moved or repeated", line)
            return None
        if place.number > expected.number:
            self._fault(f"follows a gap: {_these(expected.number, place.number - 1)} gone")
        elif expected.checksum not in (None, place.before):
            self._fault("follows another line than the one before it")
        self.end = ChainEnd(place.number, found[1].decode())
        return content

    def _expected(self) -> ChainEnd:
        if self._begun:
            return ChainEnd(self.end.number + 1, self.end.checksum)
        return ChainEnd(self._line, self._older_checksum())

    def _without_checksum(self, line: bytes) -> bytes | None:
        """As older versions wrote it; after the first line with a checksum there is no such line."""
        if not line.endswith(b"\n"):
            self._doubt(_TORN, line)
            return None
        if self._begun or b'"sum":"' in line or line.startswith(_BEGIN):
            self._doubt("is not as it was written", line)
            return None
        self._older.update(line)
        self._older_lines += 1
        self.end = ChainEnd(self._line, self._older_checksum())
        return line[:-1]

    def _older_checksum(self) -> str | None:
        if not self._older_whole:
            return None
        return self._older.hexdigest()[:_DIGITS] if self._older_lines else ""

    def _doubt(self, what: str, line: bytes) -> None:
        """A line that took a number, and cannot be read."""
        self._older_whole = False
        self.end = ChainEnd(self.end.number + 1, None)
        self._fault(what, line)

    def _fault(self, what: str, content: bytes = b"") -> None:
        self.faults.append(JournalFault(self._line, what, content))


def _split(data: bytes) -> Sequence[bytes]:
    """At line feeds alone: a damaged line may hold anything."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _these(first: int, last: int) -> str:
    return f"number {first:,} is" if first == last else f"numbers {first:,} to {last:,} are"
