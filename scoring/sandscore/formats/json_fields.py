"""Annotation arrays as our files and the NLP Sandbox share them: ``{"textDateAnnotations": [...], ...}``.

Values taken out of decoded JSON, each with a sentence for the file that holds something else there.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import AnnotatedNote, CorpusNote, LossJournal, Mark, clipped
from sandscore.task_table.task import Task

JsonObject = dict[str, Any]
"""An object in somebody else's file."""


def as_json(value: object) -> bytes:
    """A file that a person can read too."""
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


def listed(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ParticipantFault(f"{where}: expected a list, found {_kind(value)}")
    return value


def mapping(value: Any, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ParticipantFault(f"{where}: expected an object, found {_kind(value)}")
    return value


def text_of(holder: JsonObject, key: str, where: str) -> str:
    value = holder.get(key)
    if not isinstance(value, str):
        raise ParticipantFault(f"{where}: {key} should be a string, found {_kind(value)}")
    return value


def text_or_none(holder: JsonObject, key: str, where: str) -> str | None:
    return None if holder.get(key) is None else text_of(holder, key, where)


def whole(holder: JsonObject, key: str, where: str) -> int:
    """An integer; ``9.0`` is one, ``true`` is none."""
    value = holder.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ParticipantFault(f"{where}: {key} should be an integer, found {_kind(value)}")
    return int(value)


def confidence_of(holder: JsonObject, where: str) -> float | None:
    value = holder.get("confidence")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise ParticipantFault(f"{where}: confidence should be a number from 0 to 100, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, bool | float):
        return str(value).lower()
    if isinstance(value, int):
        return clipped(value)
    return "a list" if isinstance(value, list) else "an object"


_COMMON = {"start", "length", "text", "confidence", "noteId"}
_ENTITY = "entityId", "entity_id"
"""What our own files call an annotation's entity, and marks."""


def tasks_of(records: Iterable[JsonObject], tasks: Mapping[str, Task]) -> tuple[str, ...]:
    """The tasks whose array occurs in any record, in the order of the task table."""
    arrays = {key for record in records for key in record}
    return tuple(task.id for task in tasks.values() if task.array in arrays)


def resource_name(record: JsonObject, where: str) -> str:
    source = mapping(record.get("annotationSource"), f"{where}: annotationSource")
    resource = mapping(source.get("resourceSource"), f"{where}: resourceSource")
    return text_of(resource, "name", where)


def last_segment(name: str) -> str:
    return name.rpartition("/")[2]


def marks_in(record: JsonObject, note: CorpusNote, where: str, format_name: str, journal: LossJournal) -> list[Mark]:
    """Everything marked in one record, task by task, each in file order."""
    marks: list[Mark] = []
    for task in journal.tasks.values():
        if record.get(task.array) is None:
            continue
        for number, item in enumerate(listed(record[task.array], f"{where}: {task.array}")):
            place = f"{where}, {task.array}[{number}]"
            mark = _mark(mapping(item, place), task, note, place, (format_name, journal))
            if mark:
                marks.append(mark)
    return marks


def _mark(item: JsonObject, task: Task, note: CorpusNote, where: str, told: tuple[str, LossJournal]) -> Mark | None:
    format_name, journal = told
    start = whole(item, "start", where)
    length = whole(item, "length", where)
    quoted = text_of(item, "text", where)
    annotation = journal.cut(format_name, note, (start, start + length), quoted, where)
    if annotation is None:
        return None
    entity = text_or_none(item, _ENTITY[0], where) if format_name == "ours" else None
    known_names = {task.label, task.second_label, *(_ENTITY if entity is not None else ())}
    for name in item.keys() - _COMMON - known_names:
        journal.lose(format_name, f"property {name!r}", note.id)
    label = text_or_none(item, task.label, where) if task.label else None
    second = text_or_none(item, task.second_label, where) if task.second_label else None
    known = replace(annotation, label=label or None, confidence=confidence_of(item, where))
    return Mark(task.id, known, second or None, ((_ENTITY[1], entity),) if entity is not None else ())


def array_of(marks: Sequence[Mark], task: Task, extra: JsonObject | None = None) -> list[JsonObject]:
    """The marks of one task as their JSON array."""
    return [_item(mark, task) | (extra or {}) for mark in marks if mark.task == task.id]


def record_of(entry: AnnotatedNote, tasks: Iterable[Task]) -> JsonObject:
    """A note's record in a file of ours, which says entities too."""
    arrays = {
        task.array: [_item(mark, task) | _entity(mark) for mark in entry.marks if mark.task == task.id]
        for task in tasks
    }
    return {"annotationSource": source_of(entry.note), **arrays}


def is_read(entry: AnnotatedNote) -> bool:
    """Whether the annotator who was asked for has read the note; else there is no record of it."""
    return dict(entry.note.more).get("annotators") != "[]"


def _entity(mark: Mark) -> JsonObject:
    entity = dict(mark.more).get(_ENTITY[1])
    return {} if entity is None else {_ENTITY[0]: entity}


def _item(mark: Mark, task: Task) -> JsonObject:
    span = mark.annotation
    values = {
        "start": span.start,
        "length": span.length,
        "text": span.text,
        task.label: span.label,
        task.second_label: mark.second_label,
        "confidence": span.confidence,
    }
    return {name: value for name, value in values.items() if name is not None and value is not None}


def source_of(note: CorpusNote) -> JsonObject:
    """The record's pointer to its note."""
    name = note.name if note.name is not None else note.id
    if last_segment(name) != note.id:
        raise ParticipantFault(f"note {note.id!a}: a resource name cannot hold an identifier with a slash")
    return {"resourceSource": {"name": name}}
