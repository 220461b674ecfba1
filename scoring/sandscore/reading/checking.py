"""What the schema cannot say: annotations against the note's text, against each other, and files against the notes."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from sandscore.reading.columns import Columns, Ints, ranked
from sandscore.reading.datasets import DataSet
from sandscore.reading.explaining import shortened
from sandscore.reading.findings import Findings
from sandscore.reading.hints import offset_hint
from sandscore.records.problems import Severity

PointTo = Callable[..., str]


def check_texts(
    dataset: DataSet, findings: Findings, columns: Columns, texts: list[str], sizes: Ints, point: PointTo
) -> None:
    """Every annotation's text against its note; where there are no notes, at least against its own length."""
    wrong = set(np.flatnonzero((sizes != columns.length) & (columns.note >= 0)).tolist())
    if dataset.texts is not None:
        wrong |= _misplaced(dataset.texts, columns, texts)
    for i in sorted(wrong):
        _explain_text(dataset, findings, columns, i, texts[i], point)


def _misplaced(notes: list[str], columns: Columns, texts: list[str]) -> set[int]:
    found: set[int] = set()
    starts = columns.start.tolist()
    edges = [0, *(np.flatnonzero(np.diff(columns.note)) + 1).tolist(), len(texts)] if texts else []
    for first, last in pairwise(edges):
        number = int(columns.note[first])
        if number >= 0:
            stands = notes[number].startswith
            found.update(i for i in range(first, last) if not stands(texts[i], starts[i]))
    return found


def _explain_text(dataset: DataSet, findings: Findings, columns: Columns, i: int, text: str, point: PointTo) -> None:
    record, place = int(columns.record[i]), int(columns.place[i])
    start, length, number = int(columns.start[i]), int(columns.length[i]), int(columns.note[i])
    note = dataset.texts[number] if dataset.texts is not None else None
    where = point(record, findings.array, place)
    code = "text-mismatch"
    if note is not None and start + length > len(note):
        code = "out-of-bounds"
        told = f"start {start} + length {length} is past the end of the note, which has {len(note)} characters"
    elif len(text) != length:
        told = f"length is {length}, but the text {shortened(text)} has {len(text)} characters"
    else:
        told = f"the text {shortened(text)} does not stand at {start} in the note"
    if findings.room(code):
        told += offset_hint(note, start, length, text) if note is not None else ""
    findings.add(code, (record, place), where, dataset.ids[number], told)


def check_columns(dataset: DataSet, findings: Findings, columns: Columns, point: PointTo) -> None:
    """Annotations of one note that repeat each other or overlap."""
    known = np.flatnonzero(columns.note >= 0)
    note, start, label = columns.note[known], columns.start[known], columns.label[known]
    end = start + columns.length[known]
    key = ranked([note, start, end, label + 1])
    order = np.argsort(key, kind="stable")
    same = np.zeros(len(known), bool)
    same[1:] = key[order[1:]] == key[order[:-1]]
    repeats = known[order[same]]
    _each(dataset, findings, columns, "duplicate", repeats, "repeats an earlier annotation: a false positive", point)
    kept = order[~same]
    overlapping = known[kept[_overlapping(note[kept], start[kept], end[kept])]]
    _each(dataset, findings, columns, "overlap", overlapping, "overlaps another annotation of the note", point)


def _overlapping(note: Ints, start: Ints, end: Ints) -> Ints:
    """Of spans sorted by note and start: those that begin before an earlier one of their note ends."""
    if len(note) < 2:
        return np.zeros(0, np.int64)
    room = int(end.max()) + 1
    reach = np.maximum.accumulate(end + note * room)
    return np.flatnonzero(start[1:] + note[1:] * room < reach[:-1]) + 1


def _each(
    dataset: DataSet, findings: Findings, columns: Columns, code: str, which: Ints, told: str, point: PointTo
) -> None:
    which = np.sort(which)
    room = findings.room(code)
    for i in which[:room].tolist():
        record, place = int(columns.record[i]), int(columns.place[i])
        where = point(record, findings.array, place)
        findings.add(code, (record, place), where, dataset.ids[int(columns.note[i])], told)
    findings.count_only(code, max(0, len(which) - room))


def check_entries(
    dataset: DataSet, findings: Findings, entries: set[int], annotations: int, missing: Severity | None
) -> None:
    """Notes the file says nothing about, and a file that says nothing at all."""
    absent = (n for n in range(len(dataset.ids)) if n not in entries)
    for number in absent if missing else ():
        note = dataset.ids[number]
        told = f"no entry for the note {shortened(note)}: scored as nothing found"
        findings.add("missing-note", (1 << 62, number), "", note, told, missing)
    if not annotations and not findings.counts["json"] and not findings.counts["schema"]:
        findings.add("empty", (-1, -1), "", None, "the file holds no annotation")
