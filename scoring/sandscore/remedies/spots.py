"""Spots: what a file says stands where in notes, read without judging, those that do and those that do not.

A file that was refused is read once more for this, and only then; what cannot be read as an annotation is passed over.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import numpy as np

from sandscore.annotations.annotation_loader import shortest_record
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.decoder import Decoder
from sandscore.annotations.json_blocks import JsonBlock, WholeJson
from sandscore.annotations.record_reader import walk
from sandscore.base.strict_json import JsonFault
from sandscore.task_table.task import Task

KEPT = 200_000
"""So many spots that stand, and as many that do not, are kept."""
_UNREAD = 1000
_LONGEST = 10_000
"""Characters of a text that is looked for."""
_HELD = 2_000_000
"""Characters of notes at hand."""
_FARTHEST = 20_000
_OCCURRENCES = 24
_HALF = 0xFFFF


class Spot(msgspec.Struct, frozen=True, gc=False):
    """Where an annotation says that a text stands, and which annotation of which record it is."""

    record: int
    note: int
    start: int
    length: int
    text: str

    def moved(self, start: int, length: int, text: str | None = None) -> "Spot":
        """The same annotation, saying something else."""
        return Spot(self.record, self.note, start, length, self.text if text is None else text)


class NoteView:
    """A note's text, and where in it one gets by counting in other units."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._borders: dict[str, list[int] | None] = {}

    def borders(self, units: str) -> list[int] | None:
        """How many units stand before each character and at the end; None where they are characters."""
        if units not in self._borders:
            self._borders[units] = self._counted(units)
        return self._borders[units]

    def places(self, units: str, offset: int) -> tuple[int, ...]:
        """The characters that begin after so many units: none within one, two where something is not counted."""
        borders = self.borders(units)
        if borders is None:
            return (offset,)
        left = bisect_left(borders, offset)
        if left >= len(borders) or borders[left] != offset:
            return ()
        right = bisect_right(borders, offset) - 1
        return (left,) if left == right else (left, right)

    def occurrences(self, text: str, start: int) -> list[int]:
        """Where else a text stands, nearest first, not farther than anybody looks."""
        if not text:
            return []
        found: list[int] = []
        at = self.text.find(text, max(0, start + 1), start + _FARTHEST)
        while at >= 0 and len(found) < _OCCURRENCES:
            found.append(at)
            at = self.text.find(text, at + 1, start + _FARTHEST)
        low, after = max(0, start - _FARTHEST), len(found)
        at = self.text.rfind(text, low, max(0, start - 1 + len(text)))
        while at >= 0 and len(found) < after + _OCCURRENCES:
            found.append(at)
            at = self.text.rfind(text, low, at + len(text) - 1)
        return sorted(found, key=lambda place: (abs(place - start), place))

    def _counted(self, units: str) -> list[int] | None:
        if not _differs(self.text, units):
            return None
        codes = np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), "<u4")
        widths = np.ones(len(codes), np.int64)
        if units == "utf16":
            widths += codes > _HALF
        elif units == "bytes":
            widths += (codes > 0x7F).astype(np.int64) + (codes > 0x7FF) + (codes > _HALF)
        elif units == "bom":
            widths[codes == 0xFEFF] = 0
        else:
            pairs = np.flatnonzero((codes[:-1] == 13) & (codes[1:] == 10))
            if units == "one":
                widths[pairs] = 0
            else:
                widths[codes == 10] = 2
                widths[pairs + 1] = 1
        return [0, *np.cumsum(widths).tolist()]


def _differs(text: str, units: str) -> bool:
    if units in ("utf16", "bytes"):
        return not text.isascii() and (units == "bytes" or max(text) > "\uffff")
    if units == "bom":
        return "\ufeff" in text
    pairs = text.count("\r\n")
    return pairs > 0 if units == "one" else text.count("\n") > pairs


def as_counted(text: str, units: str) -> str:
    """How a piece of a note reads to whoever counts it in these units."""
    if units == "one":
        return text.replace("\r\n", "\n")
    if units == "two":
        return text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text.replace("\ufeff", "") if units == "bom" else text


class NoteViews:
    """Views of a data set's notes, made when they are asked for."""

    def __init__(self, dataset: DataSet) -> None:
        self._dataset = dataset
        self._kept: dict[int, NoteView] = {}
        self._held = 0

    def __len__(self) -> int:
        return len(self._dataset.roll)

    def of(self, note: int) -> NoteView:
        """The view of a note."""
        known = self._kept.get(note)
        if known is None:
            texts = self._dataset.texts
            known = NoteView(texts[note] if texts is not None else "")
            self._held += len(known.text)
            if self._held > _HELD:
                self._kept.clear()
                self._held = len(known.text)
            self._kept[note] = known
        return known

    def stands(self, spot: Spot) -> bool:
        """Whether the note has that text there."""
        said = spot.text
        if spot.start < 0 or spot.length != len(said) or not said:
            return False
        return self.of(spot.note).text.startswith(said, spot.start)


class FileSpots(msgspec.Struct):
    """What a file says, sorted by whether it is so; labels and confidences beside it."""

    right: list[Spot] = msgspec.field(default_factory=list)
    wrong: list[Spot] = msgspec.field(default_factory=list)
    records: list[int] = msgspec.field(default_factory=list)
    """The note of each record; -1 where there is none."""
    cut: bool = False
    """There are more that do not stand than are kept."""
    labels: Counter[tuple[str, str]] = msgspec.field(default_factory=Counter)
    confidences: int = 0
    fractions: bool = False
    """Whether a confidence was written as a fraction or a real number."""
    highest: float = 0.0


@cache
def _loose_type(task: Task) -> type[Any]:
    """A record of which nothing is asked but that its annotations are a list of objects."""
    fields = [(name, Any, None) for name in ("start", "length", "text", "confidence")]
    labels = [(f"label{number}", Any, None) for number, _ in enumerate(task.label_fields)]
    renamed = {attribute: name for (attribute, *_), name in zip(labels, task.label_fields, strict=True)}
    annotation = msgspec.defstruct("LooseAnnotation", [*fields, *labels], gc=False, rename=renamed)
    return msgspec.defstruct(
        "LooseRecord",
        [("source", Any, None), ("annotations", list[annotation], msgspec.field(default_factory=list))],  # type: ignore[valid-type]
        rename={"source": "annotationSource", "annotations": task.array},
    )


def name_in(source: Any) -> str | None:
    """The note that a record's source names."""
    for key in ("resourceSource", "name"):
        source = source.get(key) if isinstance(source, dict) else None
    return source if isinstance(source, str) else None


def number_of(dataset: DataSet, name: str | None) -> int:
    """The note of that name; -1 where there is none."""
    if name is None:
        return 0 if len(dataset.roll) == 1 else -1
    return dataset.numbers.get(name if dataset.whole_names else name.rpartition("/")[2], -1)


def whole_number(value: Any) -> int | None:
    """A number that an offset may be."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 40 else None


class SpotReader:
    """Takes the records of a file for what they say."""

    def __init__(self, task: Task, dataset: DataSet) -> None:
        self.shortest = shortest_record(task)
        self.found = FileSpots()
        self.views = NoteViews(dataset)
        self._task, self._dataset = task, dataset
        self._fields = [(f"label{number}", name) for number, name in enumerate(task.label_fields)]
        self._unread = 0

    def read(self, data: memoryview) -> FileSpots:
        """All of the file, up to where it breaks."""
        kind = _loose_type(self._task)
        try:
            walk(data, Decoder(lambda: kind), ("annotationSource", self._task.array), self)
        except JsonFault:
            self._unread = _UNREAD
        return self.found

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Records with lists of annotations."""
        for place, record in enumerate(records):
            self._record(record, number + place)
        return True

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        """A file of one record comes this way, and what is no record at all."""
        try:
            record = msgspec.json.decode(item.data, type=_loose_type(self._task))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._unread += 1
            self._name(number, -1)
        else:
            self._record(record, number)

    def enough(self) -> bool:
        """Whether nobody looks for more."""
        return self._unread >= _UNREAD

    def count(self, refused: int) -> None:
        """Records beyond that."""

    def _name(self, number: int, note: int) -> None:
        self.found.records += [-1] * (number - len(self.found.records)) + [note]

    def _record(self, record: Any, number: int) -> None:
        note = number_of(self._dataset, name_in(record.source))
        self._name(number, note)
        for annotation in record.annotations:
            self._beside(annotation)
        if note < 0 or self._dataset.texts is None:
            return
        for spot in _spots(record.annotations, number, note):
            stands = self.views.stands(spot)
            kept = self.found.right if stands else self.found.wrong
            if len(kept) < KEPT:
                kept.append(spot)
            elif not stands:
                self.found.cut = True

    def _beside(self, annotation: Any) -> None:
        for attribute, name in self._fields:
            label = getattr(annotation, attribute)
            if isinstance(label, str) and (len(self.found.labels) < KEPT or (name, label) in self.found.labels):
                self.found.labels[name, label] += 1
        confidence = annotation.confidence
        if isinstance(confidence, int | float) and not isinstance(confidence, bool):
            self.found.confidences += 1
            self.found.fractions |= isinstance(confidence, float)
            self.found.highest = max(self.found.highest, confidence if confidence >= 0 else 101.0)


def _spots(annotations: list[Any], record: int, note: int) -> Iterator[Spot]:
    for annotation in annotations:
        start, length = whole_number(annotation.start), whole_number(annotation.length)
        text = annotation.text
        if start is not None and length is not None and isinstance(text, str) and len(text) <= _LONGEST:
            yield Spot(record, note, start, length, text)
