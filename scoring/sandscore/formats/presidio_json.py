"""Presidio Evaluator's InputSample JSON: full_text and typed spans, end offsets exclusive."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import TYPES_ONLY, FileFormat, Glance
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import listed, mapping, text_of, text_or_none, whole
from sandscore.records.document import Annotation

NAME = "presidio"
_NOTE_FIELDS = {"identifier": "id", "patientId": "patient", "type": "type", "note_name": "name"}


def read(paths: Sequence[Path], journal: LossJournal, _notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a sample. Its identifier is looked for in ``metadata``; a sample without one gets its number."""
    path = one_path(paths, "a Presidio file")
    samples = listed(read_json(path), f"{path}: the file")
    entries = []
    for number, sample in enumerate(journal.watch(samples, len(samples), NAME), 1):
        where = f"{path}, sample {number}"
        note = _note(mapping(sample, where), number, where, journal)
        spans = enumerate(listed(sample.get("spans") or [], f"{where}: spans"))
        marks = (_mark(mapping(s, f"{where}, span {i}"), note, f"{where}, span {i}", journal) for i, s in spans)
        entries.append(AnnotatedNote(note, tuple(mark for mark in marks if mark)))
    return Corpus(tuple(entries))


def _note(sample: dict[str, Any], number: int, where: str, journal: LossJournal) -> CorpusNote:
    metadata = mapping(sample.get("metadata") or {}, f"{where}: metadata")
    known = {ours: text_or_none(metadata, key, where) for key, ours in _NOTE_FIELDS.items()}
    if known["id"] is None:
        known["id"] = str(number)
        journal.lose(NAME, "identifiers: samples without one are numbered", known["id"])
    note = CorpusNote(text=text_of(sample, "full_text", where), **known)  # type: ignore[arg-type]
    for what in ("masked", "template_id"):
        if sample.get(what) is not None:
            journal.lose(NAME, what, note.id)
    for key in metadata.keys() - _NOTE_FIELDS.keys():
        journal.lose(NAME, f"metadata {key!r}", note.id)
    return note


def _mark(span: dict[str, Any], note: CorpusNote, where: str, journal: LossJournal) -> Mark | None:
    ends = whole(span, "start_position", where), whole(span, "end_position", where)
    annotation = journal.cut(NAME, note, ends, text_or_none(span, "entity_value", where), where)
    if annotation is None:
        return None
    kind = text_of(span, "entity_type", where)
    return Mark(FLAT, replace(annotation, label=kind or None))


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """What a sample has no field for, identifier and patient among it, goes into its metadata."""
    entries = journal.watch(corpus.entries, len(corpus.entries), NAME)
    return (json.dumps([_sample(entry) for entry in entries], ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def _sample(entry: AnnotatedNote) -> dict[str, Any]:
    known = {key: getattr(entry.note, ours) for key, ours in _NOTE_FIELDS.items()}
    return {
        "full_text": entry.note.text,
        "masked": None,
        "spans": [_span(mark.annotation) for mark in entry.marks],
        "template_id": None,
        "metadata": {key: value for key, value in known.items() if value is not None},
    }


def _span(annotation: Annotation) -> dict[str, Any]:
    return {
        "entity_type": annotation.label or "",
        "entity_value": annotation.text,
        "start_position": annotation.start,
        "end_position": annotation.end,
    }


class PresidioFormat(FileFormat):
    """Presidio's samples."""

    name = NAME
    description = "Presidio Evaluator's InputSample JSON"
    source = "presidio-evaluator, InputSample"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".json",)
    cannot_hold = TYPES_ONLY

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return "full_text" in glance.keys
