"""doccano's JSON Lines: a text and its labels as [start, end, type], or as entities of a project with relations."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import JsonObject, confidence_of, listed, mapping, text_of, whole
from sandscore.formats.note_naming import FACTS, NOTE_KEYS, NoteNaming, beside, facts_of, more_of

NAME = "doccano"
_LABELS = ("label", "labels", "entities")
_BESIDE = "annotations"
"""Ours: what stands beside each label, in the order of the labels; doccano keeps it as metadata."""
_EMPTY = ("Comments", "comments", "cats", "relations")
_RECORD = frozenset({"id", "text", _BESIDE, *_LABELS, *_EMPTY, *NOTE_KEYS, *FACTS})
_READ = frozenset({"confidence"})


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a line; doccano numbers texts, so that one is known by its text unless it says its note."""
    path = one_path(paths, "a doccano file")
    naming = NoteNaming(NAME, path, notes, journal)
    held = read_json(path)
    records = held if isinstance(held, list) else [held]
    entries = []
    for number, record in enumerate(journal.watch(records, len(records), NAME), 1):
        where = f"{path}, text {number}"
        text = text_of(mapping(record, where), "text", where)
        note = naming.note(record, text, number, where)
        for key in record.keys() - _RECORD:
            journal.lose(NAME, f"property {key!r} of notes", note.id)
        for key in _EMPTY:
            if record.get(key):
                journal.lose(NAME, key.casefold(), note.id)
        entries.append(AnnotatedNote(note, tuple(_marks(record, note, where, journal))))
    naming.done()
    return Corpus(tuple(entries))


def _marks(record: JsonObject, note: CorpusNote, where: str, journal: LossJournal) -> Iterator[Mark]:
    labels = [one for key in _LABELS for one in listed(record.get(key) or [], f"{where}: {key}")]
    extras = listed(record.get(_BESIDE) or [], f"{where}: {_BESIDE}")
    if extras and len(extras) != len(labels):
        journal.lose(NAME, "what stood beside labels (there are now others)", note.id, len(extras))
        extras = []
    for number, one in enumerate(labels):
        place = f"{where}, label {number}"
        start, end, kind = _label(one, place)
        annotation = journal.cut(NAME, note, (start, end), None, place)
        if annotation is None:
            continue
        extra = mapping(extras[number] or {}, f"{where}: {_BESIDE}") if extras else {}
        more = tuple(beside(extra, _READ, (NAME, note, journal)))
        found = replace(annotation, label=kind or None, confidence=confidence_of(extra, place))
        yield Mark(FLAT, found, more=more)


def _label(held: Any, where: str) -> tuple[int, int, str]:
    if isinstance(held, list):
        if len(held) != 3:
            raise ParticipantFault(f"{where}: expected [start, end, label]")
        held = {"start_offset": held[0], "end_offset": held[1], "label": held[2]}
    label = mapping(held, where)
    return whole(label, "start_offset", where), whole(label, "end_offset", where), text_of(label, "label", where)


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """A line a note, as doccano imports and exports them; what a label cannot say stands beside."""
    lines = []
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        labels = [[mark.annotation.start, mark.annotation.end, mark.annotation.label or ""] for mark in entry.marks]
        extras = [_extra(mark) for mark in entry.marks]
        record: JsonObject = {"text": entry.note.text, "label": labels, **facts_of(entry.note)}
        if any(extras):
            record[_BESIDE] = extras
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode("utf-8") or b"[]\n"


def _extra(mark: Mark) -> JsonObject:
    confidence = mark.annotation.confidence
    return more_of(mark) | ({} if confidence is None else {"confidence": confidence})


class DoccanoFormat(FileFormat):
    """Texts with their labels."""

    name = NAME
    description = "doccano's JSON Lines, text and [start, end, label]"
    source = "doccano 1.8, sequence labelling export"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".jsonl", ".json")
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        held = [glance.item[key] for key in _LABELS if key in glance.keys]
        return isinstance(glance.item, dict) and "text" in glance.keys and any(_is_labels(one) for one in held)


def _is_labels(held: Any) -> bool:
    if not isinstance(held, list):
        return False
    return all(isinstance(one, list) and len(one) == 3 for one in held) or all(
        isinstance(one, dict) and "start_offset" in one for one in held
    )
