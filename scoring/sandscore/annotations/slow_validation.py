"""The explaining path: one record that was not accepted at once, judged by the published JSON Schema.

It may still be right (``1.0`` is an integer, unknown properties are allowed); where it is not, every
annotation that is wrong is named and the others are kept, so that they can be checked further.
"""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from sandscore.annotations.decoder import annotation_type
from sandscore.annotations.label_codes import vocabulary
from sandscore.task_table.task import TASKS, Task
from sandscore.task_table.task_schema import ENTITY, schema_of

_CLOSE = 0.75
_SAID_AS = {
    "start": ("begin", "offset", "start_offset", "start_char", "startOffset", "from"),
    "length": ("end", "stop", "end_offset", "end_char", "endOffset", "to"),
    "text": ("word", "span", "mention", "covered_text", "entity_value", "value"),
    "annotationSource": ("note", "note_id", "id", "identifier", "doc_id"),
}
"""What others call our properties."""
_MIND = {
    "length": "; the length is the end less the start",
    "annotationSource": '; the note is named as {"resourceSource": {"name": "…"}}',
}
"""What else differs where these are there instead."""
_ALL = 1 << 62


class Complaint(msgspec.Struct, frozen=True):
    """One way in which a value breaks the schema: path below the record, and the sentence."""

    path: tuple[str | int, ...]
    message: str


class JudgedRecord(msgspec.Struct):
    """What is left of a record: its name, the annotations that are right and where they stood."""

    name: str | None = None
    annotations: list[Any] = msgspec.field(default_factory=list)
    places: list[int] = msgspec.field(default_factory=list)
    complaints: list[Complaint] = msgspec.field(default_factory=list)
    counted: int = 0
    """Annotations that are wrong, beyond those that were to be explained."""
    unknown: list[tuple[str, tuple[str | int, ...]]] = msgspec.field(default_factory=list)


class Judge:
    """Judges records of one task."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._labels = [(name, vocabulary(task, name)) for name in task.label_fields]
        self._known = {"start", "length", "text", "confidence", ENTITY, *task.label_fields}
        self._known_in_record = {"annotationSource", "name", task.array, *(row.array for row in TASKS.values())}

    def record(self, value: Any, *, named: bool, explained: int = _ALL) -> JudgedRecord:
        """Judge one note's entry; ``named`` where it must say which note it is about.

        So many complaints are ``explained``; annotations that give rise to more are counted.
        """
        judged = JudgedRecord()
        shell = value
        if isinstance(value, dict) and isinstance(value.get(self._task.array), list):
            shell = value | {self._task.array: []}
            for place, annotation in enumerate(value[self._task.array]):
                self._one(judged, annotation, place, explained)
        rule = "record" if named or (isinstance(value, dict) and "annotationSource" in value) else "oneNote"
        shape = _shape(value, self._task.array)
        for complaint in complaints(self._task, rule, shell):
            away = complaint.message.startswith(f"'{self._task.array}' is missing")
            judged.complaints.append(
                Complaint((), f"'{self._task.array}' is missing{shape}") if away and shape else complaint
            )
        if isinstance(value, dict):
            judged.unknown += [(key, ()) for key in value if key not in self._known_in_record]
            judged.name = self._source(judged, value.get("annotationSource"))
        return judged

    def _source(self, judged: JudgedRecord, source: Any) -> str | None:
        path: tuple[str, ...] = ("annotationSource",)
        inner = source
        for inside in ("resourceSource", "name"):
            if not isinstance(inner, dict):
                return None
            judged.unknown += [(key, path) for key in inner if key != inside]
            inner, path = inner.get(inside), (*path, inside)
        return inner if isinstance(inner, str) else None

    def _one(self, judged: JudgedRecord, value: Any, place: int, explained: int) -> None:
        path = (self._task.array, place)
        if isinstance(value, dict):
            judged.unknown += [(key, path) for key in value if key not in self._known]
            accepted = self._accepted(value)
            if accepted is not None:
                judged.annotations.append(accepted)
                judged.places.append(place)
                return
        if len(judged.complaints) >= explained:
            judged.counted += 1
            return
        found = complaints(self._task, "annotation", value)
        judged.complaints += [Complaint(path + c.path, c.message) for c in found]

    def _accepted(self, value: dict[str, Any]) -> Any | None:
        whole = {
            key: int(number)
            for key in ("start", "length")
            if isinstance(number := value.get(key), float) and number.is_integer()
        }
        try:
            accepted = msgspec.convert(value | whole, annotation_type(self._task, open_ended=True))
            for name, labels in self._labels:
                labels[value.get(name)]
        except (msgspec.ValidationError, KeyError):
            return None
        return accepted


def complaints(task: Task, rule: str, value: Any) -> list[Complaint]:
    """All ways in which a value breaks one definition of the task's schema."""
    return _complaints(_validator(task, rule), value)


def note_complaints(value: Any) -> list[Complaint]:
    """All ways in which a value is not a note."""
    return _complaints(_validator(None, "note"), value)


def _complaints(validator: Any, value: Any) -> list[Complaint]:
    errors = sorted(validator.iter_errors(value), key=lambda e: [str(p) for p in e.absolute_path])
    return [Complaint(tuple(e.absolute_path), sentence) for e in errors for sentence in _sentences(e)]


@cache
def _validator(task: Task | None, rule: str) -> Any:
    """Of a task's annotations, or of notes."""
    from jsonschema import Draft202012Validator

    from sandscore.base.bundled_content import schema_path

    schema: Any = schema_of(task) if task else json.loads(schema_path("note").read_text(encoding="utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{rule}", "$defs": schema["$defs"]})


def _sentences(error: Any) -> Iterator[str]:
    shown = "" if error.validator == "required" else shortened(error.instance)
    match error.validator:
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            named = next(name for name in missing if error.message.startswith(repr(name)))
            yield f"'{named}' is missing{did_you_mean(named, error.instance)}"
        case "type":
            yield f"{shown} is not {_kind(error.validator_value)}"
        case "minimum":
            yield f"{shown} is less than {error.validator_value}"
        case "maximum":
            yield f"{shown} is more than {error.validator_value}"
        case "anyOf":
            values = error.validator_value[0]["enum"]
            close = _nearest(str(error.instance).lower(), values)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            yield f"{shown} is not one of {', '.join(values)}{hint}"
        case _:
            yield f"{shown} breaks the rule '{error.validator}'"


def _shape(value: Any, array: str) -> str:
    """What a record without a list of annotations is instead, as the end of a sentence; nothing where nobody knows."""
    if not isinstance(value, dict) or array in value:
        return ""
    if {"identifier", "text"} <= value.keys():
        return ": this is a note itself, not what was found in it"
    if "signature" in value and "measures" in value:
        return ": this is a score card, not predictions"
    if "$schema" in value or "$defs" in value:
        return ": this is a JSON Schema, not predictions"
    if "start" in value and "annotationSource" not in value:
        return ": this is an annotation by itself; it belongs into the list of its note's entry"
    lists = [name for name, held in value.items() if isinstance(held, list) and held]
    wrapped = [name for name in lists if isinstance(value[name][0], dict) and "annotationSource" in value[name][0]]
    if wrapped:
        return (
            f": the entries stand within {shortened(wrapped[0])}; write their array by itself, with no object around it"
        )
    if lists and "annotationSource" not in value and all(isinstance(held, list) for held in value.values()):
        return ": this is an object of lists by note; write an array with one entry for each note"
    return ""


def _kind(name: str) -> str:
    return {"integer": "an integer", "array": "an array", "object": "an object"}.get(name, f"a {name}")


def shortened(value: Any, limit: int = 60) -> str:
    """A participant's own value, as JSON, cut where it gets long."""
    if isinstance(value, dict | list) and len(value) > 3:
        return f"an {'object' if isinstance(value, dict) else 'array'} of {len(value)}"
    if isinstance(value, str):
        value = value[: limit + 1]  # nobody reads the rest
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if shown.isprintable() else json.dumps(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def did_you_mean(known: str, written: Any) -> str:
    """A hint where a property that is there looks like the one that is missing."""
    if not isinstance(written, dict):
        return ""
    same = [key for key in written if key.lower() == known.lower()]
    foreign = [key for key in _SAID_AS.get(known, ()) if key in written]
    if foreign and not same:
        return f" (there is {shortened(foreign[0])}{_MIND.get(known, '')})"
    close = same or _nearest(known, list(written)[:100])
    return f" (there is {shortened(close[0])})" if close else ""


def meant(written: str, task: Task) -> str:
    """A hint where an unknown property looks like a known one."""
    known = [name for name in (task.array, task.label, task.second_label) if name]
    known += ["start", "length", "text", "confidence", ENTITY, "annotationSource", "resourceSource", "name"]
    if written in known:
        return " at this place"
    same = [name for name in known if name.lower() == written.lower()]
    close = same or _nearest(written, known)
    return f"; did you mean '{close[0]}'?" if close else ""


def _nearest(word: str, known: list[str]) -> list[str]:
    """The known word that looks most like it, if any does."""
    from difflib import get_close_matches

    return get_close_matches(word, known, n=1, cutoff=_CLOSE)
