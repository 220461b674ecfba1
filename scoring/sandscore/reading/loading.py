"""An annotation file into columns, with everything that is wrong in it."""

from collections import Counter
from itertools import accumulate, chain
from typing import Any

import numpy as np

from sandscore.reading.blocks import Block, moved
from sandscore.reading.checking import Reporter, check_columns, check_entries, explain_text, misplaced
from sandscore.reading.columns import Columns, ColumnsBuilder, Floats, Ints, Places, Tokens, tokens_of
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


class AnnotationLoader:
    """Loads one file of one task against a data set."""

    def __init__(self, task: Task, dataset: DataSet, findings: Findings, *, want_tokens: bool = True) -> None:
        self._task, self._dataset, self._findings = task, dataset, findings
        self._want_tokens = want_tokens
        self._judge = Judge(task)
        self._second = vocabulary(task, task.second_label)
        self._names = Names(whole=dataset.whole_names)
        self._builder = ColumnsBuilder()
        self._places = Places()
        self._report = Reporter(dataset, findings, self._places, self._pointer)
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
        check_columns(self._report, columns)
        check_entries(self._dataset, self._findings, self._entries, len(columns), missing)
        return columns

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Records the quick decoder made; False where they hold a wrong label or a key twice."""
        lists = [record.annotations for record in records]
        annotations = list(chain.from_iterable(lists))
        labels = self._labels(annotations)
        try:
            codes = self._codes(labels)
            if self._task.second_label:
                for annotation in annotations:
                    self._second[annotation.second]
        except KeyError:
            return False
        confidence = np.array([a.confidence for a in annotations], np.float64)
        strings = _RECORD_STRINGS * len(records) + _ANNOTATION_STRINGS * len(annotations)
        strings += len(confidence) - int(np.count_nonzero(np.isnan(confidence)))
        strings += 2 * (len(labels) - labels.count(None)) + (2 * len(annotations) if self._task.second_label else 0)
        if quotes(data) != 2 * strings:
            return False
        numbers = [self._number(record.source.resource.name, number + i) for i, record in enumerate(records)]
        ends = list(accumulate(map(len, lists)))
        firsts = accumulate(map(len, lists[:-1]), initial=self._builder.size) if lists else ()
        self._places.add_run(number, list(firsts))
        self._take(annotations, numbers, ends, codes, confidence)
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
            self._places.add(number, self._builder.size, judged.places)
            note = self._number(judged.name, number)
            self._take(judged.annotations, [note], [len(judged.annotations)], codes, confidence)

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

    def _take(
        self, annotations: list[Any], numbers: list[int], ends: list[int], codes: Ints, confidence: Floats
    ) -> None:
        texts = [a.text for a in annotations]
        starts = [a.start for a in annotations]
        start, length = np.array(starts, np.int64), np.array([a.length for a in annotations], np.int64)
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        note = np.repeat(np.array(numbers, np.int64), np.diff(np.array(ends, np.int64), prepend=0))
        notes = self._dataset.texts
        wrong = set(np.flatnonzero((sizes != length) & (note >= 0)).tolist())
        wrong.update(misplaced(notes, numbers, texts, starts, ends) if notes is not None else ())
        for i in sorted(wrong):
            explain_text(self._report, self._builder.size + i, int(note[i]), starts[i], int(length[i]), texts[i])
        self._builder.add(
            Columns(
                note=note,
                start=start,
                length=length,
                label=codes,
                confidence=confidence,
                text=np.array(self._dataset.intern(texts), np.int64) if notes is None else None,
                tokens=self._tokens(texts, start, sizes) if self._want_tokens else None,
            )
        )

    def _number(self, name: str | None, record: int) -> int:
        key, repeated = self._names.key(name) if name is not None else (None, False)
        number = self._dataset.find(key)
        if number is None:
            told = f"{shortened(key)} is not a note of the data set"
            if key is None:
                told = f"the one-note form is for a data set of one note; this one has {len(self._dataset.ids)}"
            self._findings.add("unknown-note", (record, -1), self._pointer(record), key, told)
            return -1
        if repeated:
            told = f"a second entry for the note {shortened(key)}"
            self._findings.add("duplicate-note", (record, -1), self._pointer(record), key, told)
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
