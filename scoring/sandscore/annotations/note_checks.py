"""Checks that the schema cannot state: annotations against the note's text and each other, files against the notes.

Why an annotation's text does not stand where it says: the usual miscounts, tried one by one.

Positions of annotations in their file.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, islice

from msgspec import Struct

from sandscore.annotations.columns import Columns, order_of, ranked
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.note_runs import runs_of
from sandscore.annotations.problem_collector import Described, Noted, ProblemCollector
from sandscore.annotations.slow_validation import shortened
from sandscore.base.arrays import Ints, Values, as_bytes, laid_end_to_end, np, seen_as


class Positions:
    """Where in the file annotations stand: each record's number and its first annotation's."""

    def __init__(self) -> None:
        self._firsts = array("q")
        self._records = array("q")
        self._kept: dict[int, list[int]] = {}
        self._runs: list[tuple[int, int, Values]] = []
        """What was added last, as it was told: hardly ever does somebody ask."""

    def add(self, record: int, first: int, kept: list[int] | None = None) -> None:
        """A record whose annotations are numbered from ``first`` on; ``kept`` where some were left out."""
        self._unfold()
        self._firsts.append(first)
        self._records.append(record)
        if kept is not None:
            self._kept[record] = kept

    def add_run(self, record: int, first: int, sizes: Values) -> None:
        """Records that follow one another and have so many annotations each, numbered from ``first`` on."""
        self._runs.append((record, first, seen_as(bytearray(as_bytes(laid_end_to_end(sizes, "i"))), "i")))

    def _unfold(self) -> None:
        for record, first, sizes in self._runs:
            self._firsts.extend(islice(accumulate(sizes.tolist(), initial=first), len(sizes)))
            self._records.extend(range(record, record + len(sizes)))
        self._runs.clear()

    def find(self, annotation: int) -> tuple[int, int]:
        """The record of an annotation and its place in it."""
        self._unfold()
        at = bisect_right(self._firsts, annotation) - 1
        record, offset = self._records[at], annotation - self._firsts[at]
        kept = self._kept.get(record)
        return record, offset if kept is None else kept[offset]


FARTHEST = 1000
COUNTED = "; it stands there counted in "


def offset_hint(note: str, start: int, length: int, text: str) -> str:
    """A clause that names the miscount, or nothing."""
    if not text:
        return ""
    if not note.isascii():
        if _counted(note, start, length, text, "utf-16-le", 2):
            return f"{COUNTED}UTF-16 units, but offsets count code points"
        if _counted(note, start, length, text, "utf-8", 1):
            return f"{COUNTED}UTF-8 bytes, but offsets count code points"
    near = _nearest(note, start, text)
    if near is not None and near != start:
        side = "later" if near > start else "earlier"
        distance = f"{abs(near - start)} character{'' if abs(near - start) == 1 else 's'}"
        return f"; it stands {distance} {side}, at {near}"
    return ""


def _counted(note: str, start: int, length: int, text: str, encoding: str, width: int) -> bool:
    encoded = note[: start + len(text)].encode(encoding, "surrogatepass")
    wanted = text.encode(encoding, "surrogatepass")
    here = encoded[start * width : start * width + len(wanted)]
    return here == wanted and length * width in (len(wanted), len(text) * width)


def _nearest(note: str, start: int, text: str) -> int | None:
    after = note.find(text, start, start + FARTHEST + len(text))
    before = note.rfind(text, max(0, start - FARTHEST), min(start + len(text), len(note)))
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: (abs(place - start), place), default=None)


PointTo = Callable[..., str]
HINTED = 1000
"""So many misplaced texts are looked for elsewhere in their notes; searching costs."""
_TOGETHER = 1 << 20


class Reporter(Struct, frozen=True):
    """Says what is wrong with an annotation, given its number in the file."""

    dataset: DataSet
    findings: ProblemCollector
    places: Positions
    point: PointTo

    def say(self, code: str, annotation: int, note: int, told: str) -> None:
        """Record a problem of one annotation."""
        self.findings.add(code, *self.describe(annotation, note), told)

    def describe(self, annotation: int, note: int) -> Described:
        """Where an annotation stands, in numbers, as a pointer and by its note."""
        record, place = self.places.find(annotation)
        return (record, place), self.point(record, self.findings.array, place), self.dataset.roll.ids[note]


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
    if whole is not None:
        _, where, _ = reporter.describe(annotation, note)
        reporter.findings.quote(where, text, whole[start : start + length])


def clashes(columns: Columns) -> tuple[Ints, Ints]:
    """Annotations that repeat an earlier one of their note, and those that overlap one."""
    known = np.flatnonzero(columns.note >= 0)
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
    repeats, overlaps = (known[np.sort(which)] for which in (order[same], overlapping))
    return repeats, overlaps


def clashes_of_file(columns: Columns) -> tuple[Noted, Noted]:
    """The same in a whole file, whose notes may have several entries each."""
    repeats, overlaps = Noted(), Noted()
    runs = runs_of(columns)
    for first, last in runs.parts(_TOGETHER):
        rows = runs.rows(first, last)
        for noted, found in zip((repeats, overlaps), clashes(runs.take(first, last)), strict=True):
            noted.add(np.add(found, rows.start) if isinstance(rows, slice) else np.sort(rows[found]))
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
