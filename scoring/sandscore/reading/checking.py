"""What the schema cannot say: annotations against the note's text, against each other, and files against the notes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sandscore.reading.columns import Columns, Ints, Places, ranked
from sandscore.reading.datasets import DataSet
from sandscore.reading.explaining import shortened
from sandscore.reading.findings import Findings
from sandscore.reading.hints import offset_hint
from sandscore.records.problems import Severity

PointTo = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Reporter:
    """Says what is wrong with an annotation, given its number in the file."""

    dataset: DataSet
    findings: Findings
    places: Places
    point: PointTo

    def say(self, code: str, annotation: int, note: int, told: str) -> None:
        """Record a problem of one annotation."""
        record, place = self.places.find(annotation)
        where = self.point(record, self.findings.array, place)
        self.findings.add(code, (record, place), where, self.dataset.ids[note], told)


def misplaced(notes: list[str], numbers: list[int], texts: list[str], starts: list[int], ends: list[int]) -> list[int]:
    """The annotations whose text does not stand where they say; ``ends`` closes each note's run of them."""
    found: list[int] = []
    first = 0
    for number, last in zip(numbers, ends, strict=True):
        if number >= 0:
            stands = notes[number].startswith
            if not all(map(stands, texts[first:last], starts[first:last])):
                found += [i for i in range(first, last) if not stands(texts[i], starts[i])]
        first = last
    return found


def explain_text(reporter: Reporter, annotation: int, note: int, start: int, length: int, text: str) -> None:
    """Why a text and its span do not agree."""
    whole = reporter.dataset.texts[note] if reporter.dataset.texts is not None else None
    code = "text-mismatch"
    if whole is not None and start + length > len(whole):
        code = "out-of-bounds"
        told = f"start {start} + length {length} is past the end of the note, which has {len(whole)} characters"
    elif len(text) != length:
        told = f"length is {length}, but the text {shortened(text)} has {len(text)} characters"
    else:
        told = f"the text {shortened(text)} does not stand at {start} in the note"
    if whole is not None and reporter.findings.room(code):
        told += offset_hint(whole, start, length, text)
    reporter.say(code, annotation, note, told)


def check_columns(reporter: Reporter, columns: Columns) -> None:
    """Annotations of one note that repeat each other or overlap."""
    known = np.flatnonzero(columns.note >= 0)
    note, start, label = columns.note[known], columns.start[known], columns.label[known]
    end = start + columns.length[known]
    key = ranked([note, start, end, label + 1])
    in_order = bool((key[1:] >= key[:-1]).all())
    order = np.arange(len(key)) if in_order else np.argsort(key, kind="stable")
    same = np.zeros(len(known), bool)
    same[1:] = key[order[1:]] == key[order[:-1]]
    repeats = known[order[same]]
    _each(reporter, columns, "duplicate", repeats, "repeats an earlier annotation: a false positive")
    kept = order[~same]
    overlapping = known[kept[_overlapping(note[kept], start[kept], end[kept])]]
    _each(reporter, columns, "overlap", overlapping, "overlaps another annotation of the note")


def _overlapping(note: Ints, start: Ints, end: Ints) -> Ints:
    """Of spans sorted by note and start: those that begin before an earlier one of their note ends."""
    if len(note) < 2:
        return np.zeros(0, np.int64)
    room = int(end.max()) + 1
    reach = np.maximum.accumulate(end + note * room)
    return np.flatnonzero(start[1:] + note[1:] * room < reach[:-1]) + 1


def _each(reporter: Reporter, columns: Columns, code: str, which: Ints, told: str) -> None:
    which = np.sort(which)
    room = reporter.findings.room(code)
    for i in which[:room].tolist():
        reporter.say(code, i, int(columns.note[i]), told)
    reporter.findings.count_only(code, max(0, len(which) - room))


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
