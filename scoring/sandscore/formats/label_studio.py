"""Label Studio's JSON: tasks with a text in their data, and regions with labels in annotations or predictions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import JsonObject, as_json, confidence_of, listed, mapping, text_or_none, whole
from sandscore.formats.note_naming import (
    ANNOTATOR,
    FACTS,
    NOTE_KEYS,
    NoteNaming,
    as_confidence,
    beside,
    chosen,
    facts_of,
    more_of,
    score_fields,
)

NAME = "label-studio"
_REGIONS = ("labels", "hypertextlabels")
_PEOPLE = ("completed_by", "model_version")
_READ = frozenset({"text", "confidence"})
"""A region's ``meta`` is what its annotator noted, as ``text``, and where we keep what is said beside its label."""


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a task; its annotations, or where nobody has annotated it, its predictions."""
    path = one_path(paths, "a Label Studio file")
    naming = NoteNaming(NAME, path, notes, journal)
    tasks = listed(read_json(path), f"{path}: the file")
    entries = []
    for number, task in enumerate(journal.watch(tasks, len(tasks), NAME), 1):
        where = f"{path}, task {number}"
        data = mapping(mapping(task, where).get("data"), f"{where}: data")
        note = naming.note(_named(data), _text(data, where), number, where)
        for key in data.keys() - {"text", "id", *NOTE_KEYS, *FACTS}:
            if data[key] != note.text:
                journal.lose(NAME, f"data {key!r}", note.id)
        entries.append(AnnotatedNote(note, tuple(_marks(task, note, where, journal))))
    naming.done()
    return Corpus(tuple(entries))


def _named(data: JsonObject) -> JsonObject:
    """What the data say of the note; the task's own number is Label Studio's."""
    return {key: data[key] for key in ("id", *NOTE_KEYS, *FACTS) if key in data}


def _text(data: JsonObject, where: str) -> str:
    if isinstance(data.get("text"), str):
        return str(data["text"])
    texts = [value for key, value in data.items() if isinstance(value, str) and key not in {"id", *NOTE_KEYS, *FACTS}]
    if len(texts) != 1:
        raise ParticipantFault(f"{where}: data should have one text, called 'text'")
    return texts[0]


def _marks(task: JsonObject, note: CorpusNote, where: str, journal: LossJournal) -> Iterator[Mark]:
    found: dict[str, list[Any]] = {}
    for role in ("annotations", "completions", "predictions"):
        for number, held in enumerate(listed(task.get(role) or [], f"{where}: {role}")):
            place = f"{where}, {role}[{number}]"
            if not mapping(held, place).get("was_cancelled"):
                found.setdefault(_person(held, number), []).extend(listed(held.get("result") or [], f"{place}: result"))
        if found:
            break
    picked = chosen(found, journal, NAME, note.id, where)
    for who, regions in picked.items():
        for number, region in enumerate(regions):
            place = f"{where}, {who[:40]}, region {number}"
            yield from _region(mapping(region, place), note, place, journal, who if len(picked) > 1 else None)


def _person(held: JsonObject, number: int) -> str:
    who = next((held[key] for key in _PEOPLE if held.get(key) is not None), number)
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    return str(who)[:100]


def _region(region: JsonObject, note: CorpusNote, where: str, journal: LossJournal, who: str | None) -> Iterator[Mark]:
    if region.get("type") not in _REGIONS:
        journal.lose(NAME, f"results of type {str(region.get('type'))[:40]!r}", note.id)
        return
    value = mapping(region.get("value"), f"{where}: value")
    place = mapping(value.get("globalOffsets") or value, f"{where}: globalOffsets")
    quoted = text_or_none(value, "text", where)
    annotation = journal.cut(NAME, note, (whole(place, "start", where), whole(place, "end", where)), quoted, where)
    if annotation is None:
        return
    meta = mapping(region.get("meta") or {}, f"{where}: meta")
    if meta.get("text"):
        journal.lose(NAME, "notes on regions", note.id)
    score = None if region.get("score") is None else as_confidence(region["score"], where)
    confidence = confidence_of(meta, where) if meta.get("confidence") is not None else score
    more = (*beside(meta, _READ, (NAME, note, journal)), *([(ANNOTATOR, who)] if who else []))
    kinds = listed(value.get(str(region["type"])) or [], f"{where}: labels") or [""]
    for kind in kinds:
        if not isinstance(kind, str):
            raise ParticipantFault(f"{where}: a label should be a string")
        yield Mark(FLAT, replace(annotation, label=kind or None, confidence=confidence), more=more)


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """A task a note, its regions in one annotation for each annotator, for ``<Labels name="label" toName="text"/>``."""
    entries = journal.watch(corpus.entries, len(corpus.entries), NAME)
    return as_json([_task(number, entry) for number, entry in enumerate(entries, 1)])


def _task(number: int, entry: AnnotatedNote) -> JsonObject:
    people: dict[str | None, list[JsonObject]] = {}
    for place, mark in enumerate(entry.marks, 1):
        people.setdefault(more_of(mark).get(ANNOTATOR), []).append(_written(mark, f"{number}-{place}"))
    made = [{"result": regions} | ({"completed_by": {"email": who}} if who else {}) for who, regions in people.items()]
    return {
        "id": number,
        "data": {"text": entry.note.text, **facts_of(entry.note)},
        "annotations": made or [{"result": []}],
    }


def _written(mark: Mark, identifier: str) -> JsonObject:
    span = mark.annotation
    score = score_fields(span.confidence)
    meta: JsonObject = {name: value for name, value in mark.more if name != ANNOTATOR}
    if "confidence" in score:
        meta["confidence"] = score.pop("confidence")
    return {
        "id": identifier,
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {
            "start": span.start,
            "end": span.end,
            "text": span.text,
            "labels": [span.label] if span.label else [],
        },
        **score,
        **({"meta": meta} if meta else {}),
    }


class LabelStudioFormat(FileFormat):
    """Tasks with their annotations."""

    name = NAME
    description = "Label Studio's JSON, tasks with regions in their annotations or predictions"
    source = "Label Studio 1.21, JSON export"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".json",)
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return "data" in glance.keys and bool(glance.keys & {"annotations", "predictions", "completions"})
