"""The accepting path: a block of JSON straight into typed records, or a refusal without a reason.

What is accepted here is exactly what the task's JSON Schema accepts and has no unknown or duplicate
property; whatever is refused goes to the explaining path, which may still accept it.
"""

import math
import re
from functools import cache
from typing import Annotated, Any

import msgspec
import numpy as np

from sandscore.tasks import Task

LAST = 2147483647
_ESCAPED_QUOTE = re.compile(rb'(?<!\\)(?:\\\\)*\\"')
_QUOTE, _BACKSLASH, _NEWLINE = 34, 92, 10
_BETWEEN_LINES = re.compile(rb"\}[ \t\r]*\n[ \t]*\{")
Refused = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Resource(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str


class _Source(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    resource: _Resource = msgspec.field(name="resourceSource")


@cache
def annotation_type(task: Task, *, open_ended: bool = False) -> type[Any]:
    """What one annotation decodes to: start, length, text, confidence (NaN: absent), label (None: absent)."""
    number = Annotated[float, msgspec.Meta(ge=0, le=100)]
    fields: list[Any] = [
        ("start", Annotated[int, msgspec.Meta(ge=0, le=LAST)]),
        ("length", Annotated[int, msgspec.Meta(ge=1, le=LAST)]),
        ("text", str),
    ]
    names = [task.label, task.second_label]
    optional: list[Any] = []
    (fields if task.confidence_required else optional).append(("confidence", number))
    for attribute, name in zip(("label", "second"), names, strict=True):
        if name:
            (fields if task.label_required else optional).append((attribute, str))
    defaults = {"confidence": math.nan, "label": None, "second": None}
    fields += [(attribute, kind, defaults[attribute]) for attribute, kind in optional]
    renamed = {a: n for a, n in zip(("label", "second"), names, strict=True) if n}
    return msgspec.defstruct(
        "Annotation", fields, gc=False, rename=renamed, forbid_unknown_fields=not open_ended, kw_only=True
    )


@cache
def record_type(task: Task, *, open_ended: bool = False, named: bool = True) -> type[Any]:
    """What one note's entry decodes to: its source and its annotations."""
    annotation = annotation_type(task, open_ended=open_ended)
    source = [("source", _Source)] if named and not open_ended else []
    fields: list[Any] = [*source, ("annotations", list[annotation])]  # type: ignore[valid-type]
    renamed = {"source": "annotationSource", "annotations": task.array}
    return msgspec.defstruct("Record", fields, gc=False, rename=renamed, forbid_unknown_fields=not open_ended)


class Note(msgspec.Struct, gc=False):
    """One note of a notes file."""

    identifier: str
    text: str
    patient: str | msgspec.UnsetType = msgspec.field(name="patientId", default=msgspec.UNSET)
    type: str | msgspec.UnsetType = msgspec.UNSET
    note_name: str | msgspec.UnsetType = msgspec.UNSET


class ClosedNote(Note, gc=False, forbid_unknown_fields=True):
    """A note with no property but those we know, old names among them."""

    old_type: str | msgspec.UnsetType = msgspec.field(name="noteType", default=msgspec.UNSET)

    @property
    def strings(self) -> int:
        """Keys and string values this note has in JSON."""
        given = (self.patient, self.type, self.note_name, self.old_type)
        return 4 + 2 * sum(value is not msgspec.UNSET for value in given)


class Decoder:
    """Decodes arrays and lines of one record type, refusing duplicate keys by counting quotation marks."""

    def __init__(self, kind: type[Any]) -> None:
        self._array = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
        self._lines = msgspec.json.Decoder(kind)

    def array(self, data: memoryview) -> list[Any] | None:
        """The records of an array, not yet checked for duplicate keys; None: refused."""
        try:
            return self._array.decode(data)
        except Refused:
            return None

    def lines(self, data: memoryview) -> list[Any] | None:
        """The records of whole lines, one a line."""
        try:
            records: list[Any] = self._lines.decode_lines(data)
        except Refused:
            return None
        text = bytes(data).strip(b" \t\r\n")
        if text.count(b"\n") != len(records) - 1:
            return None
        if text.count(b"}\n{") == len(records) - 1:
            return records
        borders = sum(1 for _ in _BETWEEN_LINES.finditer(data))
        return records if borders == len(records) - 1 else None

    def one(self, data: memoryview) -> Any | None:
        """The record of a single object."""
        try:
            return self._lines.decode(data)
        except Refused:
            return None


def quotes(data: memoryview) -> int:
    """How many quotation marks begin or end a string: two for each key and each string value, no more.

    A key given twice decodes silently, the last one winning, but its marks are there to be counted.
    """
    marks = np.frombuffer(data, np.uint8)
    found = int(np.count_nonzero(marks == _QUOTE))
    escapes = np.flatnonzero(marks == _BACKSLASH)
    if not len(escapes):
        return found
    if bool((np.diff(escapes) == 1).any()):
        return found - sum(1 for _ in _ESCAPED_QUOTE.finditer(data))
    return found - int(np.count_nonzero(marks[escapes + 1] == _QUOTE))
