"""Our own files: ``notes.json`` and one annotation file a task."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import AnnotatedNote, Corpus, CorpusNote, FormatFiles, LossJournal, Mark
from sandscore.formats.file_format import FileFormat
from sandscore.formats.format_files import read_json
from sandscore.formats.json_fields import (
    as_json,
    is_read,
    last_segment,
    mapping,
    marks_in,
    record_of,
    resource_name,
    tasks_of,
    text_of,
    text_or_none,
)

NAME = "ours"


def read_notes(path: InputFile) -> tuple[CorpusNote, ...]:
    """The notes of a data set."""
    held = read_json(path)
    notes = held if isinstance(held, list) else [held]
    made = tuple(_note(mapping(note, f"{path}[{i}]"), f"{path}[{i}]") for i, note in enumerate(notes))
    Corpus(tuple(AnnotatedNote(note) for note in made))
    return made


def _note(held: dict[str, Any], where: str) -> CorpusNote:
    patient, kind, name = (text_or_none(held, key, where) for key in ("patientId", "type", "note_name"))
    return CorpusNote(text_of(held, "identifier", where), text_of(held, "text", where), patient, kind, name)


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """The annotation files of one data set, or the directory that holds them and ``notes.json``.

    Without ``notes`` only what the files say of themselves is known.
    """
    if len(paths) == 1 and paths[0].is_dir():
        directory = paths[0]
        notes = read_notes(directory / "notes.json") if notes is None else notes
        paths = [path for task in journal.tasks if (path := directory / f"{task}.json").exists()]
    found: dict[str, CorpusNote] = {note.id: note for note in notes or ()}
    marks: dict[str, list[Mark]] = {identifier: [] for identifier in found}
    tasks: dict[str, None] = {}
    for path in paths:
        held = read_json(path)
        records = [mapping(r, f"{path}[{i}]") for i, r in enumerate(held if isinstance(held, list) else [held])]
        tasks |= dict.fromkeys(tasks_of(records, journal.tasks))
        seen: set[str] = set()
        for number, record in enumerate(journal.watch(records, len(records), NAME)):
            where = f"{path}[{number}]"
            note = _note_of(record, found, where, one=not isinstance(held, list), closed=notes is not None)
            if note.id in seen:
                raise ParticipantFault(f"{where}: a second entry for note {cited(note.id)}")
            seen.add(note.id)
            found.setdefault(note.id, note)
            marks.setdefault(note.id, []).extend(marks_in(record, note, where, NAME, journal))
    return Corpus(tuple(AnnotatedNote(note, tuple(marks[note.id])) for note in found.values()), tuple(tasks))


def _note_of(
    record: dict[str, Any], known: dict[str, CorpusNote], where: str, *, one: bool, closed: bool
) -> CorpusNote:
    if one and "annotationSource" not in record:
        if len(known) != 1 or not closed:
            raise ParticipantFault(f"{where}: does not say which note it is about; give --notes with that one note")
        return next(iter(known.values()))
    name = resource_name(record, where)
    identifier = last_segment(name)
    if identifier in known:
        return known[identifier]
    if closed:
        raise ParticipantFault(f"{where}: note {cited(identifier)} is not among the notes")
    return CorpusNote(identifier, None, name=name if name != identifier else None)


def write(corpus: Corpus, journal: LossJournal) -> FormatFiles:
    """``notes.json``, unless no text is known, and ``<task>.json`` for each task."""
    content: dict[str, bytes] = {}
    notes = [entry.note for entry in corpus.entries]
    if any(note.text is None for note in notes):
        journal.lose(NAME, "notes: without their text there is no notes.json", notes[0].id, len(notes))
    else:
        content["notes.json"] = as_json([_held(note) for note in notes])
    for name in journal.watch(corpus.tasks, len(corpus.tasks), NAME):
        task = journal.tasks[name]
        records = [record_of(entry, [task]) for entry in corpus.entries if is_read(entry)]
        content[f"{name}.json"] = as_json(records)
    return FormatFiles(content)


def _held(note: CorpusNote) -> dict[str, Any]:
    values = {
        "identifier": note.id,
        "text": note.text,
        "patientId": note.patient,
        "type": note.type,
        "note_name": note.name,
    }
    return {name: value for name, value in values.items() if value is not None}


class OwnFormat(FileFormat):
    """Our own files."""

    name = NAME
    description = "a directory of notes.json and <task>.json; read from the annotation files and --notes"
    source = "docs/formats.md"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".json",)
    flat = False
    directory = True
