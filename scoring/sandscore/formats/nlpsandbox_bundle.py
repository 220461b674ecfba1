"""NLP Sandbox: data-node annotation lists, and patient bundles that hold notes and annotations together."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import cited
from sandscore.formats import sandscore_json
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import (
    array_of,
    as_json,
    last_segment,
    listed,
    mapping,
    marks_in,
    resource_name,
    source_of,
    tasks_of,
    text_of,
    text_or_none,
)
from sandscore.task_table.task import Task

LIST = "nlpsandbox-list"
BUNDLE = "nlpsandbox-bundle"
_NO_PATIENT = "PATIENT_ID"
_NO_NAME = "NOTE_NAME"

read_list = sandscore_json.read


def write_list(corpus: Corpus, journal: LossJournal) -> bytes:
    """One record a note with an array for each task. The text stays behind: the data node has it."""
    tasks = _tasks(corpus, LIST, journal)
    records = []
    for entry in journal.watch(corpus.entries, len(corpus.entries), LIST):
        for what, value in (
            ("note text", entry.note.text),
            ("patientId", entry.note.patient),
            ("note type", entry.note.type),
        ):
            if value is not None:
                journal.lose(LIST, what, entry.note.id)
        records.append({"annotationSource": source_of(entry.note)} | {t.array: array_of(entry.marks, t) for t in tasks})
    return as_json(records)


def _tasks(corpus: Corpus, format_name: str, journal: LossJournal) -> list[Task]:
    if FLAT in corpus.tasks:
        raise UsageFault(f"{format_name} has no place for the task {FLAT}; name another task")
    return [journal.tasks[name] for name in corpus.tasks]


def read_bundle(paths: Sequence[Path], journal: LossJournal, _notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """Every note of every patient. A note is called as its annotations' ``noteId`` says, else as its resource."""
    path = one_path(paths, "a bundle")
    whole_file = mapping(read_json(path), f"{path}: the file")
    patients = listed(whole_file.get("patient_bundles"), f"{path}: patient_bundles")
    bundles = [
        held for number, patient in enumerate(patients) for held in _bundles(patient, f"{path}, patient {number}")
    ]
    entries = []
    records = []
    for where, patient_id, gender, bundle in journal.watch(bundles, len(bundles), BUNDLE):
        record = mapping(bundle.get("annotation"), f"{where}: annotation")
        note = _note(mapping(bundle.get("note"), f"{where}: note"), patient_id, record, where, journal.tasks)
        if gender:
            journal.lose(BUNDLE, "patient gender", note.id)
        entries.append(AnnotatedNote(note, tuple(marks_in(record, note, where, BUNDLE, journal))))
        records.append(record)
    return Corpus(tuple(entries), tasks_of(records, journal.tasks))


def _bundles(patient: Any, where: str) -> Iterator[tuple[str, str, bool, dict[str, Any]]]:
    held = mapping(patient, where)
    who = mapping(held.get("patient"), f"{where}: patient")
    bundles = listed(held.get("note_bundles"), f"{where}: note_bundles")
    for number, bundle in enumerate(bundles):
        place = f"{where}, note {number}"
        yield place, text_of(who, "identifier", where), "gender" in who, mapping(bundle, place)


def _note(
    held: dict[str, Any], patient: str, record: dict[str, Any], where: str, tasks: Mapping[str, Task]
) -> CorpusNote:
    kind = text_or_none(held, "type", where) or text_or_none(held, "noteType", where)
    own = text_or_none(held, "patientId", where)
    if own not in {None, _NO_PATIENT, patient}:
        raise ParticipantFault(f"{where}: patientId {cited(own or '')} is not the bundle's patient {cited(patient)}")
    name = resource_name(record, where)
    identifier = _identifier(record, name, where, tasks)
    return CorpusNote(identifier, text_of(held, "text", where), patient, kind, name if "/" in name else None)


def _identifier(record: dict[str, Any], name: str, where: str, tasks: Mapping[str, Task]) -> str:
    arrays = [record[task.array] for task in tasks.values() if isinstance(record.get(task.array), list)]
    items = (item for array in arrays for item in array if isinstance(item, dict) and "noteId" in item)
    names = {text_of(item, "noteId", where) for item in items}
    if name != _NO_NAME:
        names.add(last_segment(name))
    if len(names) != 1:
        raise ParticipantFault(f"{where}: expected one identifier in noteId and resource name, found {len(names)}")
    return names.pop()


def write_bundle(corpus: Corpus, journal: LossJournal) -> bytes:
    """Patients in order of first appearance. The record names the note, so that one without annotations has a name."""
    tasks = _tasks(corpus, BUNDLE, journal)
    patients: dict[str, list[dict[str, Any]]] = {}
    for entry in journal.watch(corpus.entries, len(corpus.entries), BUNDLE):
        note = entry.note
        if note.patient is None:
            journal.lose(BUNDLE, "missing patientId (the note stands in for its patient)", note.id)
        if note.type is None:
            journal.lose(BUNDLE, "missing note type (the NLP Sandbox requires one)", note.id)
        if not entry.marks:
            journal.lose(BUNDLE, "notes without annotations (a data node cannot load them)", note.id)
        patient = note.patient if note.patient is not None else note.id
        patients.setdefault(patient, []).append(_bundle(entry, tasks))
    held = [{"patient": {"identifier": who}, "note_bundles": bundles} for who, bundles in patients.items()]
    return as_json({"patient_bundles": held})


def _bundle(entry: AnnotatedNote, tasks: Sequence[Task]) -> dict[str, Any]:
    note = {"text": entry.note.text, "type": entry.note.type, "patientId": _NO_PATIENT}
    extra = {"noteId": entry.note.id}
    return {
        "note": {name: value for name, value in note.items() if value is not None},
        "annotation": {"annotationSource": source_of(entry.note)}
        | {task.array: array_of(entry.marks, task, extra) for task in tasks},
    }


class NlpsandboxBundleFormat(FileFormat):
    """Patient bundles."""

    name = BUNDLE
    description = "patient bundles of the NLP Sandbox, notes and annotations in one file"
    source = "NLP Sandbox, patient bundles"
    reads = staticmethod(read_bundle)
    writes = staticmethod(write_bundle)
    suffixes = (".json",)
    cannot_hold = ("annotations of task phi", "notes without a patient")
    flat = False

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return "patient_bundles" in glance.keys or b'"patient_bundles"' in glance.beginning[:200]


class NlpsandboxListFormat(FileFormat):
    """Annotation lists."""

    name = LIST
    description = "annotation lists of an NLP Sandbox data node, all tasks in one file"
    source = "NLP Sandbox, data node API"
    reads = staticmethod(read_list)
    writes = staticmethod(write_list)
    suffixes = (".json",)
    cannot_hold = ("annotations of task phi", "note text, patientId and type")
    flat = False
    text = False
