"""An annotation file into columns, with everything that is wrong in it.

Which notes a file's records are about: found in the data set, each only once, and which of them are missing.
"""

import re
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from sandscore.annotations.column_builder import Gathered
from sandscore.annotations.columns import Columns, floats_of, small_of
from sandscore.annotations.data_set import DataSet, NoteNames
from sandscore.annotations.decoder import Decoder, quotes, record_type
from sandscore.annotations.json_blocks import JsonBlock, WholeJson
from sandscore.annotations.label_codes import ABSENT, vocabulary
from sandscore.annotations.note_checks import (
    COUNTED,
    HINTED,
    PointTo,
    Positions,
    Reporter,
    clashes,
    clashes_of_file,
    explain_text,
    misplaced,
)
from sandscore.annotations.problem_collector import LISTED, Described, Noted, ProblemCollector, what_it_is
from sandscore.annotations.record_reader import Progress, quiet, walk
from sandscore.annotations.slow_validation import Judge, JudgedRecord, meant, shortened
from sandscore.annotations.white_space_tokens import tokens_of
from sandscore.base.arrays import Floats, Small, Values, np
from sandscore.base.removable_rooms import compiled, part_of_a_room
from sandscore.base.strict_json import JsonFault, loads, pointer
from sandscore.records.problem import Severity
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.kernel.block_readers import KernelBlock


class NoteJoin:
    """The entries of one file, by the number of their note."""

    def __init__(self, dataset: DataSet, findings: ProblemCollector, point: PointTo) -> None:
        self._dataset, self._findings, self._point = dataset, findings, point
        self._names, self._next = NoteNames(whole=dataset.whole_names), 0
        self._seen, self._joined = bytearray(len(dataset.roll)), list[bytes]()
        self._plain: dict[str, str] | None = None

    def numbers(self, block: "KernelBlock", record: int) -> Values:
        """The notes of a block's records, by the kernel where nothing is to be said about any of them."""
        numbers = block.known.numbers(memoryview(self._seen), self._next)
        if numbers is None:
            return small_of(self.named(block.names, record))
        self._joined.append(block.written_names)
        self._next = numbers[-1] + 1 if numbers else 0
        return numbers

    def _catch_up(self) -> None:
        """Learn of the names that only the kernel looked at."""
        for written in self._joined:
            self._names.fresh(str(written, "utf-8").split("\0"))
        self._joined.clear()

    def _note(self, number: int) -> None:
        self._seen.extend(bytes(max(0, number + 1 - len(self._seen))))
        self._seen[number] = 1

    def named(self, names: list[str], record: int) -> list[int]:
        """The notes of records that follow one another; in one go where nothing is to be said about any of them."""
        self._catch_up()
        keys = self._names.fresh(names)
        if keys is None:
            return [self.number(name, record + i) for i, name in enumerate(names)]
        return [self._numbered(key, record + i) for i, key in enumerate(keys)]

    def number(self, name: str | None, record: int) -> int:
        """The note a record is about; -1 where there is no such note."""
        self._catch_up()
        key, repeated = self._names.key(name) if name is not None else (None, False)
        number = self._numbered(key, record)
        if repeated and number >= 0:
            told = f"a second entry for the note {shortened(key)}"
            self._findings.add("duplicate-note", (record, -1), self._point(record), key, told)
        return number

    def _numbered(self, key: str | None, record: int) -> int:
        number = self._dataset.find(key)
        if number is not None:
            self._note(number)
            return number
        told = f"{shortened(key)} is not a note of the data set"
        if key is not None and self._findings.counts["unknown-note"] < HINTED:
            near = self._near(key)
            told += f"; did you mean {shortened(near)}?" if near is not None else ""
        if key is None:
            told = f"the one-note form is for a data set of one note; this one has {len(self._dataset.roll)}"
        self._findings.add("unknown-note", (record, -1), self._point(record), key, told)
        return -1

    def _near(self, key: str) -> str | None:
        """The only note that is called so but for case, blanks, marks and an ending such as ``.txt``."""
        if self._plain is None:
            plain = [_plain(name) for name in self._dataset.roll.ids]
            often = Counter(plain)
            self._plain = {
                one: name for one, name in zip(plain, self._dataset.roll.ids, strict=True) if often[one] == 1
            }
        return self._plain.get(_plain(key)) or self._plain.get(_plain(_ENDING.sub("", key)))

    def close(self, annotations: int, missing: Severity | None) -> bytearray:
        """Notes the file says nothing about, and a file that says nothing at all; names are let go of.

        The value is 1 for each note that it has an entry for.
        """
        if missing:
            say_missing(self._findings, self._dataset, self._seen, missing)
        counts = self._findings.counts
        if not annotations and not counts["json"] and not counts["schema"]:
            self._findings.add("empty", (-1, -1), "", None, "the file holds no annotation")
        self._names = NoteNames(whole=self._dataset.whole_names)
        seen, self._seen, self._joined = self._seen, bytearray(), []
        return seen


def say_missing(findings: ProblemCollector, dataset: DataSet, spoken_of: bytes | bytearray, severity: Severity) -> None:
    """Which notes a file has no entry for."""
    for number in (n for n, mark in enumerate(spoken_of) if not mark) if 0 in spoken_of else ():
        note = dataset.roll.ids[number]
        told = f"no entry for the note {shortened(note)}: scored as nothing found"
        findings.add("missing-note", (1 << 62, number), "", note, told, severity)


def say_clashes(
    findings: ProblemCollector, repeats: Noted, overlaps: Noted, describe: Callable[[int], Described]
) -> None:
    """Which annotations repeat or overlap others; each is described when somebody looks."""
    findings.describe = describe
    findings.add_late("duplicate", repeats, "repeats an earlier annotation: a false positive")
    findings.add_late("overlap", overlaps, "overlaps another annotation of the note")


_ENDING = re.compile(r"\.[A-Za-z]{2,5}$")


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


class EntityNumbers:
    """The entities that a file's annotations name, where they name any: equal ids are equal numbers."""

    def __init__(self, numbers: dict[str | None, int]) -> None:
        self._numbers = numbers
        self._runs: list[tuple[int, Small]] = []

    def add(self, first: int, ids: list[str | None]) -> None:
        """Those of annotations that are numbered from ``first`` on."""
        if ids.count(None) < len(ids):
            numbers = [self._numbers.setdefault(one, len(self._numbers) - 1) for one in ids]
            self._runs.append((first, small_of(numbers)))

    def on(self, columns: Columns) -> Columns:
        """The columns, with a column of entities where there are some."""
        if not self._runs:
            return columns
        entity = np.full(len(columns), ABSENT, np.int32)
        for first, numbers in self._runs:
            entity[first : first + len(numbers)] = numbers
        return columns.replace(entity=entity)


_SHORTEST = '{"annotationSource":{"resourceSource":{"name":""}},"":[]}'


def shortest_record(task: Task) -> int:
    """The bytes of a record that says nothing: whatever has fewer is none."""
    return len(_SHORTEST) + len(task.array)


_RECORD_STRINGS = 5
_ANNOTATION_STRINGS = 4
_ABOUT_ANNOTATIONS = ("text-mismatch", "out-of-bounds", "schema")


class AnnotationLoader:
    """Loads one file of one task against a data set."""

    def __init__(
        self,
        task: Task,
        dataset: DataSet,
        findings: ProblemCollector,
        *,
        want_tokens: bool = True,
        gathered: Gathered | None = None,
    ) -> None:
        self._task, self._dataset, self._findings = task, dataset, findings
        self._want_tokens = want_tokens
        self._judge, self._second = Judge(task), vocabulary(task, task.second_label)
        self._gathered = gathered or Gathered()
        self._repeats, self._overlaps = Noted(), Noted()
        self._places = Positions()
        self._report = Reporter(dataset, findings, self._places, self._pointer)
        self._one_note = False
        self._unknown: Counter[str] = Counter()
        self._first_unknown: dict[str, str] = {}
        self._entries = NoteJoin(dataset, findings, self._pointer)
        self._entities = EntityNumbers(dataset.entities)
        self.shortest = shortest_record(task)
        self._counted = self._bytes = self._taken = 0
        self._plain = True
        self._quick = compiled().annotation_reader(task, dataset, want_tokens=want_tokens)

    def load(self, data: memoryview, *, missing: Severity | None = None, progress: Progress = quiet) -> Columns:
        """All the annotations that could be read; what is wrong is in the findings."""
        self._bytes = len(data)
        decoder = Decoder(lambda: record_type(self._task, exact=True), lambda: record_type(self._task))
        try:
            walk(data, decoder, ("annotationSource", self._task.array), self, progress, self.at_once)
        except JsonFault as fault:
            self._findings.add("json", (-1, -1), "", None, what_it_is(data, str(fault)))
            missing = None
        if self._counted:
            missing = None  # nobody looked whom those records are about
        columns = self._entities.on(self._gathered.columns())
        self._report_unknown()
        self._report_clashes(columns)
        self.spoken_of = self._entries.close(len(columns), missing)
        return columns

    @property
    def says_no_more(self) -> bool:
        """Whether the columns, the notes and the names of labels are all that was written, and written as usual."""
        return self._plain and self._quick is not None and self._quick.spelt_out

    def diagnose(self, data: memoryview, columns: Columns) -> None:
        """Find out why what the file says is not so; of one that is right hardly more than a confidence is seen."""
        about = any(self._findings.counts[code] for code in _ABOUT_ANNOTATIONS) and not self._findings.counts["json"]
        if about or bytes(data[:3]) == b"\xef\xbb\xbf" or _are_fractions(columns):
            diagnosed = part_of_a_room("remedies.file_diagnosis:file_diagnosis")
            if diagnosed is None:
                return
            self._findings.diagnosis, self._findings.remedy = diagnosed(self._task, self._dataset, data)
            if any(one.scope == "file" and one.cause not in ("utf16", "bytes") for one in self._findings.diagnosis):
                self._findings.cut(COUNTED)  # one text after the other is no witness against its file

    def at_once(self, data: memoryview, number: int, *, lines: bool) -> int:
        """Take a block that the kernel reads; how many records there were, 0 where it refuses."""
        block = self._quick.read(data, lines=lines) if self._quick else None
        if block is None:
            return 0
        numbers = self._entries.numbers(block, number)
        self._places.add_run(number, self._gathered.size, block.sizes)
        self._keep(block.columns(numbers), block.misplaced(numbers), block.clashes(numbers), self._rest(data))
        return len(numbers)

    def _rest(self, block: memoryview) -> float:
        """How many times as much as a block holds is still to be read."""
        self._taken += len(block)
        return max(0, self._bytes - self._taken) / len(block)

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Records the quick decoder made; False where they hold a wrong label or a key twice."""
        self._plain = False
        lists = [record.annotations for record in records]
        annotations = list(chain.from_iterable(lists))
        try:
            codes = self._codes(annotations)
            if self._task.second_label:
                for annotation in annotations:
                    self._second[annotation.second]
        except KeyError:
            return False
        confidence = floats_of([a.confidence for a in annotations])
        strings = _RECORD_STRINGS * len(records) + _ANNOTATION_STRINGS * len(annotations)
        strings += len(confidence) - int(np.count_nonzero(np.isnan(confidence)))
        strings += 2 * self._labelled(annotations, codes) + (2 * len(annotations) if self._task.second_label else 0)
        strings += 2 * sum(a.entity is not None for a in annotations)
        if quotes(data) != 2 * strings:
            return False
        numbers = self._entries.named([record.source.resource.name for record in records], number)
        ends = list(accumulate(map(len, lists)))
        self._places.add_run(number, self._gathered.size, small_of([*map(len, lists)]))
        self._take(annotations, numbers, ends, codes, confidence)
        return True

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        """One record by the book: strict JSON first, then the schema, keeping the annotations that are right."""
        self._plain = False
        try:
            value = loads(item.data)
        except JsonFault as fault:
            where = "" if len(item.data) == len(whole) else self._pointer(number)
            within, last = whole.within(fault, item.offset), item.offset + len(item.data) >= len(whole) - 2
            said = what_it_is(whole.data, str(within)) if last else str(within)
            self._findings.add("json", (number, -1), where, None, said)
            return
        alone = len(item.data) == len(whole)
        self._one_note = alone and isinstance(value, dict) and "annotationSource" not in value
        judged = self._judge.record(value, named=not self._one_note, explained=self._findings.room("schema"))
        self._complain(judged, number)
        if judged.name is not None or self._one_note:
            if self._one_note and self._task.array not in value:
                return  # what that is about nobody can say
            confidence = floats_of([a.confidence for a in judged.annotations])
            codes = self._codes(judged.annotations)
            self._places.add(number, self._gathered.size, judged.places)
            note = self._entries.number(judged.name, number)
            self._take(judged.annotations, [note], [len(judged.annotations)], codes, confidence)

    def enough(self) -> bool:
        """Whether records that cannot be read are only counted from now on."""
        return self._findings.crowded() is not None

    def count(self, refused: int) -> None:
        """Further records that cannot be read."""
        self._plain = False
        self._counted += refused
        self._findings.add_counted(self._findings.crowded() or "schema", refused)

    def _codes(self, annotations: list[Any]) -> Small:
        if not self._task.label:
            return np.full(len(annotations), ABSENT, np.int32)
        return small_of(list(map(self._dataset.vocabulary.__getitem__, [a.label for a in annotations])))

    def _labelled(self, annotations: list[Any], codes: Small) -> int:
        """How many annotations were written with a label, be it an empty one."""
        if not self._task.label:
            return 0
        bare = np.flatnonzero(codes == ABSENT).tolist()
        return len(annotations) - sum(annotations[i].label is None for i in bare)

    def _complain(self, judged: JudgedRecord, record: int) -> None:
        note = None if judged.name is None else judged.name.rpartition("/")[2]
        for complaint in judged.complaints:
            place = next((p for p in complaint.path if isinstance(p, int)), -1)
            where = self._pointer(record, *complaint.path)
            self._findings.add("schema", (record, place), where, note, complaint.message)
        self._findings.add_counted("schema", judged.counted)
        for name, path in judged.unknown:
            if name not in self._first_unknown and len(self._first_unknown) >= LISTED:
                self._findings.add_counted("unknown-property", 1)
                continue
            self._unknown[name] += 1
            self._first_unknown.setdefault(name, self._pointer(record, *path, name))

    def _take(
        self, annotations: list[Any], numbers: list[int], ends: list[int], codes: Small, confidence: Floats
    ) -> None:
        texts = [a.text for a in annotations]
        self._entities.add(self._gathered.size, [a.entity for a in annotations])
        starts = [a.start for a in annotations]
        length = small_of([a.length for a in annotations])
        sizes = small_of(list(map(len, texts)))
        note = np.repeat(small_of(numbers), np.diff(small_of(ends), prepend=0))
        notes = self._dataset.texts
        wrong = set(np.flatnonzero((sizes != length) & (note >= 0)).tolist())
        wrong.update(misplaced(notes, numbers, texts, starts, ends) if notes is not None else ())
        part = Columns(
            note=note,
            start=small_of(starts),
            length=length,
            label=codes,
            confidence=confidence,
            text=small_of(self._dataset.intern(texts)) if notes is None else None,
            tokens=tokens_of("\n".join(["", *texts, ""]), sizes) if self._want_tokens else None,
        )
        self._keep(part, {i: texts[i] for i in sorted(wrong)})

    def _keep(
        self,
        part: Columns,
        wrong: dict[int, str],
        clashing: tuple[Values, Values] | None = None,
        rest: float = 0,
    ) -> None:
        """Columns of annotations, the texts of those whose text and span do not agree, and what is known to clash."""
        for i, text in wrong.items():
            note, start, length = (int(part.held[name][i]) for name in ("note", "start", "length"))
            explain_text(self._report, self._gathered.size + i, note, start, length, text)
        for noted, found in zip((self._repeats, self._overlaps), clashing or clashes(part), strict=True):
            noted.add(found, self._gathered.size)
        self._gathered.add(part, rest)

    def _pointer(self, record: int, *path: str | int) -> str:
        return pointer(path if self._one_note else (record, *path))

    def _report_unknown(self) -> None:
        for number, (name, count) in enumerate(self._unknown.items()):
            times = "" if count == 1 else f" ({count} times)"
            hint = meant(name, self._task) if number < HINTED else ""
            told = f"unknown property {shortened(name)}{times}{hint}"
            self._findings.add("unknown-property", (0, 0), self._first_unknown[name], None, told)

    def _report_clashes(self, columns: Columns) -> None:
        """Blocks were looked at one by one, which is enough unless a note has several entries."""
        if self._findings.counts["duplicate-note"]:
            self._repeats, self._overlaps = clashes_of_file(columns)

        def describe(annotation: int) -> Described:
            return self._report.describe(annotation, int(columns.held["note"][annotation]))

        say_clashes(self._findings, self._repeats, self._overlaps, describe)


def _are_fractions(columns: Columns) -> bool:
    """Whether there are confidences, and none above one."""
    seen = False
    for _, piece in columns.pieces():
        told = piece.held["confidence"]
        highest = compiled().highest(told)
        highest = np.fmax.reduce(told, initial=-1.0) if highest is None else highest
        if highest > 1:
            return False
        seen |= highest > 0
    return seen
