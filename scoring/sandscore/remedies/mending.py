"""A file with its remedy applied: values are replaced where they stand, every other byte stays as it is."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.data_set import DataSet
from sandscore.remedies.causes import OtherNotes
from sandscore.remedies.file_diagnosis import BOM, Remedy
from sandscore.remedies.spots import NoteViews, Spot, number_of, whole_number
from sandscore.task_table.task import Task

_TOKEN = re.compile(rb'(?s)"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
_NAME = ("annotationSource", "resourceSource", "name")
_DIGITS = 15
Place = tuple[int, int]
"""Where a value begins and where it ends, in bytes."""


class WrittenRecord(Struct):
    """One record of a file: where its note's name, its list and the values of its annotations are written."""

    name: Place | None = None
    array: Place | None = None
    annotations: list[dict[str, Place]] = field(default_factory=list)


def written_records(data: bytes, array: str) -> Iterator[WrittenRecord]:
    """The records of a file that is JSON; what else is in them is passed over."""
    walker = _Walker(data, array)
    for token in _TOKEN.finditer(data):
        record = walker.step(token)
        if record is not None:
            yield record


class _Walker:
    """Knows at each token where in the file's tree it stands."""

    def __init__(self, data: bytes, array: str) -> None:
        self._data, self._array = data, array
        self._path: list[Any] = []
        """For each object that is open its key, for each array nothing."""
        self._opened: list[int] = []
        self._outer = 0
        self._awaits_key = False
        self._record = WrittenRecord()

    def step(self, token: re.Match[bytes]) -> WrittenRecord | None:
        """The record that ends here, if one does."""
        word = token[0]
        if word in (b"}", b"]"):
            return self._close(token.end())
        if word in (b"{", b"["):
            self._open(word, token.start())
        elif word == b",":
            self._awaits_key = bool(self._path) and self._path[-1] is not None
        elif word == b":":
            self._awaits_key = False
        elif self._awaits_key:
            self._path[-1] = json.loads(word)
        else:
            self._value((token.start(), token.end()))
        return None

    def _open(self, word: bytes, at: int) -> None:
        if not self._path and not self._opened and word == b"[":
            self._outer = 1
        if word == b"{" and len(self._path) == self._outer:
            self._record = WrittenRecord()
        if word == b"{" and self._in_list(len(self._path)):
            self._record.annotations.append({})
        self._path.append("" if word == b"{" else None)
        self._opened.append(at)
        self._awaits_key = word == b"{"

    def _close(self, end: int) -> WrittenRecord | None:
        self._path.pop()
        begin = self._opened.pop()
        self._awaits_key = False
        inside = self._path[self._outer :]
        if inside == [self._array]:
            self._record.array = (begin, end)
        closed = len(self._path) == self._outer and self._data[begin : begin + 1] == b"{"
        return self._record if closed else None

    def _value(self, place: Place) -> None:
        inside = tuple(self._path[self._outer :])
        if inside == _NAME:
            self._record.name = place
        elif len(inside) == 3 and self._in_list(len(self._path) - 1) and self._record.annotations:
            self._record.annotations[-1][inside[2]] = place

    def _in_list(self, depth: int) -> bool:
        """Whether what is at this depth is an item of the record's list."""
        return depth == self._outer + 2 and self._path[self._outer : depth] == [self._array, None]


class Mender:
    """Applies one remedy to one file of a task."""

    def __init__(self, task: Task, dataset: DataSet, remedy: Remedy) -> None:
        self._task, self._dataset, self._remedy = task, dataset, remedy
        self._views = NoteViews(dataset)
        self._data = b""
        self._escaped = False

    def mended(self, data: bytes) -> bytes:
        """The file's bytes with the remedy applied."""
        self._data = data[len(BOM) :] if self._remedy.marked and data.startswith(BOM) else data
        self._escaped = self._data.isascii() and b"\\u" in self._data
        others = self._entries_of_other_notes()
        self._data = _patched(self._data, sorted(self._values()))
        return _patched(self._data, sorted(self._moves(others))) if others else self._data

    def _values(self) -> Iterator[tuple[Place, bytes]]:
        for number, record in enumerate(written_records(self._data, self._task.array)):
            note = number_of(self._dataset, self._read(record.name))
            for annotation in record.annotations:
                yield from self._beside(annotation)
                if self._remedy.treatment is not None and note >= 0:
                    yield from self._moved(annotation, number, note)

    def _read(self, place: Place | None) -> Any:
        return None if place is None else json.loads(self._data[place[0] : place[1]])

    def _moved(self, annotation: dict[str, Place], record: int, note: int) -> Iterator[tuple[Place, bytes]]:
        if not annotation.keys() >= {"start", "length", "text"} or self._remedy.treatment is None:
            return
        start, length = (whole_number(self._read(annotation[name])) for name in ("start", "length"))
        text = self._read(annotation["text"])
        if start is None or length is None or not isinstance(text, str):
            return
        meant = self._remedy.treatment.meant(Spot(record, note, start, length, text), self._views)
        if meant.start != start:
            yield annotation["start"], b"%d" % meant.start
        if meant.length != length:
            yield annotation["length"], b"%d" % meant.length
        if meant.text != text:
            yield annotation["text"], json.dumps(meant.text, ensure_ascii=self._escaped).encode()

    def _beside(self, annotation: dict[str, Place]) -> Iterator[tuple[Place, bytes]]:
        if self._remedy.scaled and (place := annotation.get("confidence")):
            written = self._data[place[0] : place[1]]
            if written[:1] in b"0123456789":
                yield place, hundredfold(written.decode()).encode()
        for name in self._task.label_fields if self._remedy.labels else ():
            place = annotation.get(name)
            label = self._read(place)
            if place and isinstance(label, str) and (name, label) in self._remedy.labels:
                yield place, json.dumps(self._remedy.labels[name, label]).encode()

    def _entries_of_other_notes(self) -> dict[int, int]:
        layers = self._remedy.treatment.layers if self._remedy.treatment else []
        return next((dict(layer.cause.notes) for layer in layers if isinstance(layer.cause, OtherNotes)), {})

    def _moves(self, others: dict[int, int]) -> Iterator[tuple[Place, bytes]]:
        """Names, or where these are in the order of the notes, the lists under them."""
        records = list(written_records(self._data, self._task.array))
        notes = [number_of(self._dataset, self._read(record.name)) for record in records]
        by_note = {note: at for at, note in enumerate(notes)}
        swapped = all(note in by_note for note in others.values())
        if swapped and notes == sorted(notes):
            for at, note in others.items():
                source, target = records[at].array, records[by_note[note]].array
                if source and target:
                    yield target, self._data[source[0] : source[1]]
            return
        for at, note in others.items():
            place, named = records[at].name, by_note.get(note)
            if place is None:
                continue
            held = records[named].name if named is not None else None
            old = self._read(place)
            name = self._read(held) if held else old[: old.rfind("/") + 1] + self._dataset.roll.ids[note]
            yield place, json.dumps(name, ensure_ascii=self._escaped).encode()


def _patched(data: bytes, changes: list[tuple[Place, bytes]]) -> bytes:
    pieces, at = [], 0
    for (begin, end), written in changes:
        pieces += [data[at:begin], written]
        at = end
    return b"".join([*pieces, data[at:]])


def hundredfold(written: str) -> str:
    """A number times 100, as one would write it; the last digit of a binary fraction is taken for noise."""
    number = Decimal(written) * 100
    digits = len(number.normalize().as_tuple().digits)
    if digits >= _DIGITS:
        number = Decimal(repr(float(f"{number:.14g}")))
    number = number.normalize()
    return f"{number:f}"
