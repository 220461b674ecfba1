"""The Text Anonymization Benchmark's JSON: documents with several annotators' entity mentions, or masks by document."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import (
    JsonObject,
    as_json,
    confidence_of,
    listed,
    mapping,
    text_of,
    text_or_none,
    whole,
)
from sandscore.formats.note_naming import (
    ANNOTATOR,
    ANNOTATORS,
    ENTITY_ID,
    EVERYBODY,
    FACTS,
    IDENTIFIER_TYPE,
    NoteNaming,
    beside,
    chosen,
    facts_of,
    more_of,
)
from sandscore.formats.type_maps import vocabulary
from sandscore.task_table.task import Task

NAME = "tab"
MASKS = "masks.json"
"""How the name of an output ends that is to hold masks."""
ALONE = "annotator1"
_CLASSES = {"direct": "DIRECT", "quasi": "QUASI", "none": "NO_MASK"}
_UNKNOWN = "QUASI"
_READ = frozenset({"start_offset", "end_offset", "span_text", "entity_type", "confidence", ENTITY_ID, IDENTIFIER_TYPE})
_PLAIN = {"edit_type": "correct", "confidential_status": "NOT_CONFIDENTIAL"}
_KEPT = ("entity_mention_id", *_PLAIN)
"""What is said of mentions beside that, and what we write where nothing else was said."""
_RECORD = frozenset({"doc_id", "text", "annotations", "meta"})
_SAID: JsonObject = {"dataset_type": "test", "quality_checked": [], "task": None}
"""What is written of documents that say nothing else; a task only where there was one."""


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """Documents with the mentions of one annotator, or of each (``*``); or masks, which have no type."""
    path = one_path(paths, "a file of the benchmark")
    held = read_json(path)
    if isinstance(held, dict) and "doc_id" not in held:
        return _masks(held, path, journal, notes)
    documents = listed([held] if isinstance(held, dict) else held, f"{path}: the file")
    classes = identifier_classes(journal.tasks)
    entries = []
    for number, document in enumerate(journal.watch(documents, len(documents), NAME)):
        where = f"{path}[{number}]"
        note = _note(mapping(document, where), where, journal)
        entries.append(AnnotatedNote(note, tuple(_mentions(document, note, where, (journal, classes)))))
    return Corpus(tuple(entries))


def _note(document: JsonObject, where: str, journal: LossJournal) -> CorpusNote:
    meta = mapping(document.get("meta") or {}, f"{where}: meta")
    facts: JsonObject = {ours: text_or_none(meta, key, where) for key, ours in FACTS.items()}
    said = {key: value for key, value in document.items() if key not in _RECORD and value != _SAID.get(key)}
    if rest := {key: value for key, value in meta.items() if key not in FACTS}:
        said["meta"] = rest
    name, text = text_of(document, "doc_id", where), text_of(document, "text", where)
    people = mapping(document.get("annotations"), f"{where}: annotations")
    if journal.annotator not in {None, EVERYBODY, *people}:
        said[ANNOTATORS] = []
    elif journal.annotator in {None, EVERYBODY} and people and not all(map(_has_mentions, people.values())):
        said |= {ANNOTATORS: [*people]} if [*people] != [ALONE] else {}
    more = ((key, json.dumps(value, ensure_ascii=False)) for key, value in said.items())
    return CorpusNote(name, text, **facts, more=tuple(more))


def _has_mentions(held: Any) -> bool:
    return isinstance(held, dict) and bool(held.get("entity_mentions"))


def _mentions(
    document: JsonObject, note: CorpusNote, where: str, told: tuple[LossJournal, Mapping[str, str]]
) -> Iterator[Mark]:
    journal, classes = told
    people = mapping(document.get("annotations"), f"{where}: annotations")
    for who, held in chosen(people, journal, NAME, note.id, where).items():
        place = f"{where}: {who[:40]}"
        mentions = listed(mapping(held, place).get("entity_mentions"), f"{place}: entity_mentions")
        for number, mention in enumerate(mentions):
            own = _mention_id(note, who, number)
            mark = _mention(mapping(mention, f"{place}[{number}]"), note, f"{place}[{number}]", (journal, own))
            if mark:
                yield _without_defaults(mark, who, number, note, classes)


def _mention(mention: JsonObject, note: CorpusNote, where: str, told: tuple[LossJournal, str]) -> Mark | None:
    """``told``: who is told of losses, and how the mention would be called if we had written it."""
    journal, own = told
    ends = whole(mention, "start_offset", where), whole(mention, "end_offset", where)
    annotation = journal.cut(NAME, note, ends, text_or_none(mention, "span_text", where), where)
    if annotation is None:
        return None
    said = [(key, text_of(mention, key, where)) for key in (ENTITY_ID, IDENTIFIER_TYPE) if key in mention]
    kept = {key: value for key in _KEPT if isinstance(value := mention.get(key), str)}
    said += [(key, value) for key, value in kept.items() if value not in ("", own, _PLAIN.get(key))]
    more = (*said, *beside(mention, _READ | {*_KEPT}, (NAME, note, journal)))
    kind = text_or_none(mention, "entity_type", where)
    return Mark(FLAT, replace(annotation, label=kind or None, confidence=confidence_of(mention, where)), more=more)


def _without_defaults(mark: Mark, who: str, number: int, note: CorpusNote, classes: Mapping[str, str]) -> Mark:
    """The mark without what would be written for it anyway; a class that no table knows is told when filled in."""
    said = more_of(mark)
    if said.get(ENTITY_ID) == _entity(note, who, number):
        del said[ENTITY_ID]
    if said.get(IDENTIFIER_TYPE) == classes.get((mark.annotation.label or "").casefold()):
        said.pop(IDENTIFIER_TYPE, None)
    beside_it = {ANNOTATOR: who} if who != ALONE else {}
    return replace(mark, more=tuple((said | beside_it).items()))


def identifier_classes(tasks: Mapping[str, Task]) -> dict[str, str]:
    """What the table of tasks says of types: whether they identify directly, with others, or not."""
    found: dict[str, str] = {}
    for task in tasks.values():
        words = vocabulary(NAME, task)
        named: list[tuple[str | None, str | None]] = [*words.reads.items()]
        named += [(words.kind(label), label) for label, _ in task.identifier_types]
        for kind, label in named:
            known = task.identifier_class(label)
            if kind is not None and known is not None:
                found.setdefault(kind.casefold(), _CLASSES[known])
    return found


def _class_of(mark: Mark, classes: Mapping[str, str]) -> str:
    return classes.get((mark.annotation.label or "").casefold(), _UNKNOWN)


def _entity(note: CorpusNote, who: str, number: int) -> str:
    return f"{note.id}_{who}_e{number}"


def _mention_id(note: CorpusNote, who: str, number: int) -> str:
    return f"{note.id}_{who}_em{number}"


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """Documents as the benchmark's own, where a mention that says no entity is one by itself; else masks."""
    if journal.output.endswith(MASKS):
        return _written_masks(corpus, journal)
    classes = identifier_classes(journal.tasks)
    entries = journal.watch(corpus.entries, len(corpus.entries), NAME)
    return as_json([_document(entry, classes, journal) for entry in entries])


def _document(entry: AnnotatedNote, classes: Mapping[str, str], journal: LossJournal) -> JsonObject:
    note = entry.note
    said = {name: json.loads(value) for name, value in note.more}
    people: dict[str, list[JsonObject]] = {who: [] for who in said.pop(ANNOTATORS, ())}
    for mark in entry.marks:
        who = more_of(mark).get(ANNOTATOR, ALONE)
        mentions = people.setdefault(who, [])
        mentions.append(_written(mark, note, who, len(mentions), (classes, journal)))
    return {
        "doc_id": note.id,
        "text": note.text,
        "dataset_type": said.pop("dataset_type", "test"),
        "meta": {key: value for key, value in facts_of(note).items() if key in FACTS} | said.pop("meta", {}),
        "quality_checked": said.pop("quality_checked", []),
        **said,
        "annotations": {who: {"entity_mentions": mentions} for who, mentions in people.items()}
        or {ALONE: {"entity_mentions": []}},
    }


def _written(
    mark: Mark, note: CorpusNote, who: str, number: int, told: tuple[Mapping[str, str], LossJournal]
) -> JsonObject:
    classes, journal = told
    span, said = mark.annotation, more_of(mark)
    known = _class_of(mark, classes)
    if IDENTIFIER_TYPE not in said and (span.label or "").casefold() not in classes:
        journal.lose(NAME, f"no class of identifier for type {span.label!a} (written as {known})", note.id)
    mention: JsonObject = {
        "entity_type": span.label or "",
        "entity_mention_id": _mention_id(note, who, number),
        "start_offset": span.start,
        "end_offset": span.end,
        "span_text": span.text,
        "edit_type": _PLAIN["edit_type"],
        IDENTIFIER_TYPE: said.pop(IDENTIFIER_TYPE, known),
        ENTITY_ID: said.pop(ENTITY_ID, _entity(note, who, number)),
        "confidential_status": _PLAIN["confidential_status"],
    }
    said.pop(ANNOTATOR, None)
    if span.confidence is not None:
        mention["confidence"] = span.confidence
    return mention | said


def _masks(held: JsonObject, path: Path, journal: LossJournal, notes: Sequence[CorpusNote] | None) -> Corpus:
    naming = NoteNaming(NAME, path, notes, journal)
    entries = []
    for number, (name, masks) in enumerate(journal.watch(held.items(), len(held), NAME), 1):
        where = f"{path}: {name[:60]}"
        note = naming.note({"note": name}, None, number, where)
        found = []
        for place, mask in enumerate(listed(masks, where)):
            if not isinstance(mask, list) or len(mask) != 2:
                raise ParticipantFault(f"{where}, mask {place}: expected [start, end]")
            ends = dict(zip(("start", "end"), mask, strict=True))
            at = f"{where}, mask {place}"
            annotation = journal.cut(NAME, note, (whole(ends, "start", at), whole(ends, "end", at)), None, at)
            found += [Mark(FLAT, annotation)] if annotation else []
        entries.append(AnnotatedNote(note, tuple(found)))
    return Corpus(tuple(entries))


def _written_masks(corpus: Corpus, journal: LossJournal) -> bytes:
    """What is masked of each document, in the order of its annotations."""
    masks: dict[str, list[list[int]]] = {}
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        masks[entry.note.id] = [[mark.annotation.start, mark.annotation.end] for mark in entry.marks]
        if entry.marks:
            journal.lose(NAME, "all but the places (these are masks)", entry.note.id, len(entry.marks))
    return (json.dumps(masks, ensure_ascii=False) + "\n").encode("utf-8")


class TabFormat(FileFormat):
    """Documents of the benchmark."""

    name = NAME
    description = "the Text Anonymization Benchmark's documents or, called *masks.json, its masks"
    source = "text-anonymization-benchmark, commit c5246a2"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".json",)
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return {"doc_id", "annotations"} <= glance.keys or _are_masks(glance.item)


def _are_masks(held: Any) -> bool:
    lists = list(held.values()) if isinstance(held, dict) else []
    masks = [mask for one in lists if isinstance(one, list) for mask in one]
    return bool(masks) and all(isinstance(one, list) for one in lists) and all(_is_mask(mask) for mask in masks)


def _is_mask(mask: Any) -> bool:
    return isinstance(mask, list) and len(mask) == 2 and all(isinstance(end, int) for end in mask)
