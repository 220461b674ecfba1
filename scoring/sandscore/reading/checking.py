"""What the schema cannot say: annotations against the note's text, against each other, and files against the notes."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from sandscore.reading.columns import Columns, Ints, Small, order_of, ranked
from sandscore.reading.datasets import DataSet
from sandscore.reading.explaining import shortened
from sandscore.reading.findings import Described, Findings, Noted
from sandscore.reading.hints import offset_hint
from sandscore.reading.places import Places
from sandscore.reading.runs import runs_of

PointTo = Callable[..., str]
HINTED = 1000
"""So many misplaced texts are looked for elsewhere in their notes; searching costs."""
_TOGETHER = 1 << 20


class Reporter(Struct, frozen=True):
    """Says what is wrong with an annotation, given its number in the file."""

    dataset: DataSet
    findings: Findings
    places: Places
    point: PointTo

    def say(self, code: str, annotation: int, note: int, told: str) -> None:
        """Record a problem of one annotation."""
        self.findings.add(code, *self.describe(annotation, note), told)

    def describe(self, annotation: int, note: int) -> Described:
        """Where an annotation stands, in numbers, as a pointer and by its note."""
        record, place = self.places.find(annotation)
        return (record, place), self.point(record, self.findings.array, place), self.dataset.ids[note]


def misplaced(
    notes: Sequence[str], numbers: list[int], texts: list[str], starts: list[int], ends: list[int]
) -> list[int]:
    """The annotations whose text does not stand where they say; ``ends`` closes each note's run of them."""
    found: list[int] = []
    first = 0
    for number, last in zip(numbers, ends, strict=True):
        if number >= 0:
            text = notes[number]
            text.find("\0")  # one walk through the text from end to end: what follows then finds it in the cache
            stands = text.startswith
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
    if whole is not None and reporter.findings.counts[code] < HINTED:
        told += offset_hint(whole, start, length, text)
    reporter.say(code, annotation, note, told)


def clashes(columns: Columns, first: int = 0, among: Small | None = None) -> tuple[Ints, Ints]:
    """Annotations that repeat an earlier one of their note, and those that overlap one; counted from ``first``.

    ``among``: those that may do so at all.
    """
    known = np.flatnonzero(columns.note >= 0) if among is None else among[columns.note[among] >= 0].astype(np.int64)
    if not len(known):
        return known, known
    note, start = (column[known].astype(np.int64) for column in (columns.note, columns.start))
    end = start + columns.length[known]
    label = columns.label[known].astype(np.int64) + 1
    keys, size = ranked([note - note.min(), start, end - start, label])
    order = order_of(keys, size)
    keys = keys[order]
    same = np.concatenate(([False], keys[1:] == keys[:-1]))
    kept = _by_place(order[~same], keys[~same] // (1 + int(label.max())))
    overlapping = kept[_overlapping(note[kept], start[kept], end[kept])]
    repeats, overlaps = (known[np.sort(which)] + first for which in (order[same], overlapping))
    return repeats, overlaps


def clashes_of_file(columns: Columns) -> tuple[Noted, Noted]:
    """The same in a whole file, whose notes may have several entries each."""
    repeats, overlaps = Noted(), Noted()
    runs = runs_of(columns)
    for first, last in runs.parts(_TOGETHER):
        rows = runs.rows(first, last)
        for noted, found in zip((repeats, overlaps), clashes(runs.take(first, last)), strict=True):
            noted.add(found + rows.start if isinstance(rows, slice) else rows[found])
        columns.forget()
    return repeats, overlaps


def _by_place(rows: Ints, spans: Ints) -> Ints:
    """Rows in order of their spans; of equal spans, which differ in their labels, the first in the file comes first."""
    if not bool((spans[1:] == spans[:-1]).any()):
        return rows
    return rows[np.lexsort((rows, spans))]


def _overlapping(note: Ints, start: Ints, end: Ints) -> Ints:
    """Of spans sorted by note and start: those that begin before an earlier one of their note ends."""
    if len(note) < 2:
        return np.zeros(0, np.int64)
    room = int(end.max()) + 1
    reach = np.maximum.accumulate(end + note * room)
    return np.flatnonzero(start[1:] + note[1:] * room < reach[:-1]) + 1
