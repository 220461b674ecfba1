"""The accepting path: a block of JSON straight into typed records, or a refusal without a reason.

What is accepted here is exactly what the task's JSON Schema accepts and has no unknown or duplicate
property; whatever is refused goes to the explaining path, which may still accept it.
"""

import math
import re
from collections.abc import Callable
from functools import cache, cached_property
from typing import Annotated, Any, Literal

import msgspec

from sandscore.annotations.label_codes import allowed
from sandscore.task_table.task import Task
from sandscore.task_table.task_schema import ENTITY

LAST = 2147483647
_BETWEEN_LINES = rb"\}[ \t\r]*\n[ \t]*\{"
Decode = Callable[[memoryview], Any]
Refused = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Resource(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str


class _Source(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    resource: _Resource = msgspec.field(name="resourceSource")


@cache
def annotation_type(task: Task, *, open_ended: bool = False, exact: bool = False) -> type[Any]:
    """What one annotation decodes to: start, length, text, confidence (NaN: absent), label, entity (None: absent).

    ``exact`` takes labels of an enum only as the schema spells them, which decodes to one object a label.
    """
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
            spelt = allowed(task, name) if exact else None
            kind: Any = Literal[spelt] if spelt else str
            (fields if task.label_required else optional).append((attribute, kind))
    optional.append(("entity", str))
    defaults = {"confidence": math.nan, "label": None, "second": None, "entity": None}
    fields += [(attribute, kind, defaults[attribute]) for attribute, kind in optional]
    renamed = {a: n for a, n in zip(("label", "second"), names, strict=True) if n} | {"entity": ENTITY}
    return msgspec.defstruct(
        "Annotation", fields, gc=False, rename=renamed, forbid_unknown_fields=not open_ended, kw_only=True
    )


@cache
def record_type(task: Task, *, exact: bool = False) -> type[Any]:
    """What one note's entry decodes to: its source and its annotations."""
    annotation = annotation_type(task, exact=exact)
    fields: list[Any] = [("source", _Source), ("annotations", list[annotation])]  # type: ignore[valid-type]
    renamed = {"source": "annotationSource", "annotations": task.array}
    return msgspec.defstruct("Record", fields, gc=False, rename=renamed, forbid_unknown_fields=True)


class NoteRecord(msgspec.Struct, gc=False):
    """One note of a notes file."""

    identifier: str
    text: str
    patient: str | msgspec.UnsetType = msgspec.field(name="patientId", default=msgspec.UNSET)
    type: str | msgspec.UnsetType = msgspec.UNSET
    note_name: str | msgspec.UnsetType = msgspec.UNSET


class ClosedNote(NoteRecord, gc=False, forbid_unknown_fields=True):
    """A note with no property but those we know, old names among them."""

    old_type: str | msgspec.UnsetType = msgspec.field(name="noteType", default=msgspec.UNSET)


class _Kind:
    def __init__(self, make: Callable[[], type[Any]]) -> None:
        self._make = make

    @cached_property
    def many(self) -> msgspec.json.Decoder[Any]:
        return msgspec.json.Decoder(list[self._make()])  # type: ignore[misc]

    @cached_property
    def one(self) -> msgspec.json.Decoder[Any]:
        return msgspec.json.Decoder(self._make())


class Decoder:
    """Decodes arrays and lines of records, as the first of some types that accepts them.

    Once a later type was needed the earlier ones are not tried again. None is made before it is needed.
    """

    def __init__(self, *kinds: Callable[[], type[Any]]) -> None:
        self._kinds = list(map(_Kind, kinds))

    def array(self, data: memoryview) -> list[Any] | None:
        """The records of an array, not yet checked for duplicate keys; None: refused."""
        return self._first(lambda kind: kind.many.decode, data)

    def lines(self, data: memoryview) -> list[Any] | None:
        """The records of whole lines, one a line."""
        records: list[Any] | None = self._first(lambda kind: kind.one.decode_lines, data)
        if records is None:
            return None
        text = bytes(data).strip(b" \t\r\n")
        if text.count(b"\n") != len(records) - 1:
            return None
        if text.count(b"}\n{") == len(records) - 1:
            return records
        borders = sum(1 for _ in re.finditer(_BETWEEN_LINES, data))
        return records if borders == len(records) - 1 else None

    def one(self, data: memoryview) -> Any | None:
        """The record of a single object."""
        return self._first(lambda kind: kind.one.decode, data)

    def _first(self, decoder: Callable[[_Kind], Decode], data: memoryview) -> Any | None:
        for used, kind in enumerate(self._kinds):
            try:
                records = decoder(kind)(data)
            except Refused:
                continue
            del self._kinds[:used]
            return records
        return None


def quotes(data: memoryview) -> int:
    """How many quotation marks begin or end a string: two for each key and each string value, no more.

    A key given twice decodes silently, the last one winning, but its marks are there to be counted.
    """
    written = bytes(data)
    return written.count(b'"') - written.replace(rb"\\", b"").count(rb"\"")
