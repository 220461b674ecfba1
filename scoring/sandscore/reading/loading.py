"""An annotation file into columns, with everything that is wrong in it."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from sandscore.reading.blocks import Block, moved
from sandscore.reading.checking import check_columns, check_entries, check_texts
from sandscore.reading.columns import Columns, ColumnsBuilder, Floats, Ints, Tokens, tokens_of
from sandscore.reading.datasets import DataSet, Names
from sandscore.reading.decoding import Decoder, quotes, record_type
from sandscore.reading.explaining import Judge, Judged, meant, shortened
from sandscore.reading.findings import Findings
from sandscore.reading.labels import vocabulary
from sandscore.reading.pointers import pointer
from sandscore.reading.strictjson import JsonFault, loads
from sandscore.reading.walking import Progress, quiet, walk
from sandscore.records.problems import Severity
from sandscore.tasks import Task

_RECORD_STRINGS = 5
_ANNOTATION_STRINGS = 4


@dataclass(frozen=True, slots=True)
class _Entry:
    """One note's entry: its number in the file, the note's name, its annotations and where they stand in it."""

    record: int
    name: str | None
    annotations: list[Any]
    places: list[int] | None = None


class AnnotationLoader:
    """Loads one file of one task against a data set."""

    def __init__(self, task: Task, dataset: DataSet, findings: Findings, *, want_tokens: bool = True) -> None:
        self._task, self._dataset, self._findings = task, dataset, findings
        self._want_tokens = want_tokens
        self._judge = Judge(task)
        self._second = vocabulary(task, task.second_label)
        self._names = Names(whole=dataset.whole_names)
        self._builder = ColumnsBuilder()
        self._one_note = False
        self._unknown: Counter[str] = Counter()
        self._first_unknown: dict[str, str] = {}
        self._entries: set[int] = set()

    def load(self, data: memoryview, *, missing: Severity | None = None, progress: Progress = quiet) -> Columns:
        """All the annotations that could be read; what is wrong is in the findings."""
        decoder = Decoder(record_type(self._task))
        try:
            walk(data, decoder, ("annotationSource", self._task.array), self, progress)
        except JsonFault as fault:
            self._findings.add("json", (-1, -1), "", None, str(fault))
            missing = None
        columns = self._builder.columns()
        self._report_unknown()
        check_columns(self._dataset, self._findings, columns, self._pointer)
        check_entries(self._dataset, self._findings, self._entries, len(columns), missing)
        return columns

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Records the quick decoder made; False where they hold a wrong label or a key twice."""
        entries = [_Entry(number + i, r.source.resource.name, r.annotations) for i, r in enumerate(records)]
        annotations = [a for entry in entries for a in entry.annotations]
        labels = self._labels(annotations)
        try:
            codes = self._codes(labels)
            if self._task.second_label:
                for annotation in annotations:
                    self._second[annotation.second]
        except KeyError:
            return False
        confidence = np.array([a.confidence for a in annotations], np.float64)
        strings = _RECORD_STRINGS * len(entries) + _ANNOTATION_STRINGS * len(annotations)
        strings += len(confidence) - int(np.count_nonzero(np.isnan(confidence)))
        strings += 2 * (len(labels) - labels.count(None)) + (2 * len(annotations) if self._task.second_label else 0)
        if quotes(data) != 2 * strings:
            return False
        self._take(entries, annotations, codes, confidence)
        return True

    def explain(self, item: Block, whole: memoryview, number: int) -> None:
        """One record by the book: strict JSON first, then the schema, keeping the annotations that are right."""
        try:
            value = loads(item.data)
        except JsonFault as fault:
            where = "" if len(item.data) == len(whole) else self._pointer(number)
            self._findings.add("json", (number, -1), where, None, str(moved(fault, whole, item.offset)))
            return
        alone = len(item.data) == len(whole)
        self._one_note = alone and isinstance(value, dict) and "annotationSource" not in value
        judged = self._judge.record(value, named=not self._one_note)
        self._complain(judged, number)
        if judged.name is not None or self._one_note:
            confidence = np.array([a.confidence for a in judged.annotations], np.float64)
            codes = self._codes(self._labels(judged.annotations))
            entry = _Entry(number, judged.name, judged.annotations, judged.places)
            self._take([entry], judged.annotations, codes, confidence)

    def _labels(self, annotations: list[Any]) -> list[str | None]:
        return [a.label for a in annotations] if self._task.label else [None] * len(annotations)

    def _codes(self, labels: list[str | None]) -> Ints:
        known = self._dataset.vocabulary
        return np.array([known[label] for label in labels], np.int64)

    def _complain(self, judged: Judged, record: int) -> None:
        note = None if judged.name is None else judged.name.rpartition("/")[2]
        for complaint in judged.complaints:
            place = next((p for p in complaint.path if isinstance(p, int)), -1)
            where = self._pointer(record, *complaint.path)
            self._findings.add("schema", (record, place), where, note, complaint.message)
        for name, path in judged.unknown:
            self._unknown[name] += 1
            self._first_unknown.setdefault(name, self._pointer(record, *path, name))

    def _take(self, entries: list[_Entry], annotations: list[Any], codes: Ints, confidence: Floats) -> None:
        per = np.array([len(entry.annotations) for entry in entries], np.int64)
        ends = np.cumsum(per)
        places = np.arange(len(annotations)) - np.repeat(ends - per, per)
        if entries and entries[0].places is not None:
            places = np.array(entries[0].places, np.int64)
        texts = [a.text for a in annotations]
        start = np.array([a.start for a in annotations], np.int64)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        numbers = np.array([self._number(entry) for entry in entries], np.int64)
        without_notes = self._dataset.texts is None
        columns = Columns(
            note=np.repeat(numbers, per),
            start=start,
            length=np.array([a.length for a in annotations], np.int64),
            label=codes,
            confidence=confidence,
            record=np.repeat(np.array([e.record for e in entries], np.int64), per),
            place=places,
            text=np.array(self._dataset.intern(texts), np.int64) if without_notes else None,
            tokens=self._tokens(texts, start, sizes) if self._want_tokens else None,
        )
        check_texts(self._dataset, self._findings, columns, texts, sizes, self._pointer)
        self._builder.add(columns)

    def _number(self, entry: _Entry) -> int:
        key, repeated = self._names.key(entry.name) if entry.name is not None else (None, False)
        number = self._dataset.find(key)
        if number is None:
            told = f"{shortened(key)} is not a note of the data set"
            if key is None:
                told = f"the one-note form is for a data set of one note; this one has {len(self._dataset.ids)}"
            self._findings.add("unknown-note", (entry.record, -1), self._pointer(entry.record), key, told)
            return -1
        if repeated:
            told = f"a second entry for the note {shortened(key)}"
            self._findings.add("duplicate-note", (entry.record, -1), self._pointer(entry.record), key, told)
        self._entries.add(number)
        return number

    def _tokens(self, texts: list[str], start: Ints, sizes: Ints) -> Tokens:
        owner, begins, lengths = tokens_of(texts, start, sizes)
        if self._dataset.texts is not None:
            return Tokens(owner, begins, lengths, None)
        words = [word for text in texts for word in text.split()]
        return Tokens(owner, begins, lengths, np.array(self._dataset.intern(words), np.int64))

    def _pointer(self, record: int, *path: str | int) -> str:
        return pointer(path if self._one_note else (record, *path))

    def _report_unknown(self) -> None:
        for name, count in self._unknown.items():
            times = "" if count == 1 else f" ({count} times)"
            told = f"unknown property {shortened(name)}{times}{meant(name, self._task)}"
            self._findings.add("unknown-property", (0, 0), self._first_unknown[name], None, told)
