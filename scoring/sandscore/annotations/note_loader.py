"""The notes file: identifiers, texts and patients, numbered in the file's order."""

from typing import Any

import msgspec

from sandscore.annotations.data_set import DataSet, NoteNames
from sandscore.annotations.decoder import ClosedNote, Decoder, NoteRecord, quotes
from sandscore.annotations.json_blocks import JsonBlock, WholeJson
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.annotations.problem_collector import ProblemCollector, what_it_is
from sandscore.annotations.record_reader import Progress, quiet, walk
from sandscore.annotations.slow_validation import note_complaints, shortened
from sandscore.base.removable_rooms import compiled
from sandscore.base.strict_json import JsonFault, loads, pointer

NOTE_KEYS = ("identifier", "text", "note_name", "patientId")
"""What notes may begin with."""


class NotesLoader:
    """Fills a data set from a notes file."""

    shortest = len('{"identifier":"","text":""}')

    def __init__(self, dataset: DataSet, findings: ProblemCollector, texts: GatheredTexts) -> None:
        self._dataset, self._findings, self._texts = dataset, findings, texts
        self._names = NoteNames(whole=dataset.whole_names)
        self._quick = compiled().note_reader(texts)

    def load(self, data: memoryview, progress: Progress = quiet) -> None:
        """Read the file; afterwards the data set knows its notes and grows no more."""
        try:
            walk(data, Decoder(lambda: ClosedNote), NOTE_KEYS, self, progress, self.at_once)
        except JsonFault as fault:
            self._findings.add("json", (-1, -1), "", None, what_it_is(data, str(fault)))
        self._dataset.texts = self._texts.all()
        self._dataset.growing = False

    def at_once(self, data: memoryview, number: int, *, lines: bool) -> int:
        """Take a block whose notes the kernel reads, none of which came before; how many there were, or 0."""
        found = self._quick.read(data, lines=lines) if self._quick else None
        if self._quick is None or found is None or "/" in "\n".join(found[0]):
            return 0
        keys = self._names.fresh(found[0], found[0])
        if keys is None:
            return 0
        self._dataset.extend(keys, found[1])
        self._quick.keep()
        return len(keys)

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        """Notes the quick decoder made; False where they hold a key twice."""
        if quotes(data) != 2 * _strings(records):
            return False
        names = [note.identifier if note.note_name is msgspec.UNSET else note.note_name for note in records]
        identifiers = [note.identifier for note in records]
        keys = None if "/" in "\n".join(identifiers) else self._names.fresh(names, identifiers)
        if keys is None:
            for i, note in enumerate(records):
                self._add(note, number + i)
        else:
            self._dataset.extend(keys, [None if note.patient is msgspec.UNSET else note.patient for note in records])
            self._texts.add([note.text for note in records])
        return True

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        """One note by the book; properties we do not know are none of our business."""
        try:
            value = loads(item.data)
        except JsonFault as fault:
            self._findings.add("json", (number, -1), pointer([number]), None, str(whole.within(fault, item.offset)))
            return
        try:
            self._add(msgspec.convert(value, NoteRecord), number)
        except msgspec.ValidationError:
            for complaint in note_complaints(value):
                where = pointer([number, *complaint.path])
                self._findings.add("schema", (number, -1), where, None, complaint.message)

    def enough(self) -> bool:
        """Whether notes that cannot be read are only counted from now on."""
        return self._findings.crowded() is not None

    def count(self, refused: int) -> None:
        """Further notes that cannot be read."""
        self._findings.add_counted(self._findings.crowded() or "schema", refused)

    def _add(self, note: NoteRecord, number: int) -> None:
        if "/" in note.identifier:
            self._findings.add("schema", (number, -1), pointer([number, "identifier"]), None, slashed(note.identifier))
            return
        name = note.identifier if note.note_name is msgspec.UNSET else str(note.note_name)
        key, repeated = self._names.key(name, note.identifier)
        if repeated:
            told = f"a second note {shortened(key)}"
            self._findings.add("duplicate-note", (number, -1), pointer([number]), key, told)
            return
        self._dataset.add(key, None if note.patient is msgspec.UNSET else str(note.patient))
        self._texts.add([note.text])


def slashed(identifier: str) -> str:
    """Why such an identifier is refused."""
    return f"the identifier {shortened(identifier)} has a '/': only what follows the last one would be compared"


def _strings(notes: list[ClosedNote]) -> int:
    """Keys and string values that notes have in JSON."""
    optional = (
        [note.patient for note in notes],
        [note.type for note in notes],
        [note.note_name for note in notes],
        [note.old_type for note in notes],
    )
    return 4 * len(notes) + 2 * sum(len(values) - values.count(msgspec.UNSET) for values in optional)
