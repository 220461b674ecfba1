"""The JSON Schema of a task's annotation files, made from its row in the task table."""

import json
import re
from functools import cache
from typing import Any

from sandscore.task_table.task import Task

_SPACE = r"[\t-\r\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*"
"""What ``str.strip`` takes away, as a pattern of ECMA-262."""
_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_LAST = 2147483647
ENTITY = "entityId"
"""The property of gold that says which annotations of a patient name the same."""


@cache
def schema_of(task: Task) -> dict[str, Any]:
    """The published JSON Schema of the task's annotation files."""
    follows = f" The annotation follows NLP Sandbox schema {task.follows}." if task.follows else ""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sandscore:schema:{task.id}",
        "title": f"Annotations of the task {task.id}",
        "description": f"Gold or predictions, of one note (an object) or of many (an array).{follows}",
        "if": {"type": "array"},
        "then": {"$ref": "#/$defs/manyNotes"},
        "else": {"$ref": "#/$defs/oneNote"},
        "$defs": {
            "manyNotes": {"type": "array", "items": {"$ref": "#/$defs/record"}},
            "record": {"$ref": "#/$defs/oneNote", "required": ["annotationSource"]},
            "oneNote": _one_note(task.array),
            "annotationSource": _source(),
            "annotation": _annotation(task),
        },
    }


def schema_text(task: Task) -> str:
    """The published file of that schema."""
    return json.dumps(schema_of(task), indent=2) + "\n"


def _one_note(array: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [array],
        "properties": {
            "annotationSource": {"$ref": "#/$defs/annotationSource"},
            array: {"type": "array", "items": {"$ref": "#/$defs/annotation"}},
        },
    }


def _source() -> dict[str, Any]:
    said = "dataset/<d>/fhirStores/<s>/fhir/Note/<id>; files are joined on <id>."
    name = {"type": "string", "description": said}
    resource = {"type": "object", "required": ["name"], "properties": {"name": name}}
    return {"type": "object", "required": ["resourceSource"], "properties": {"resourceSource": resource}}


def _annotation(task: Task) -> dict[str, Any]:
    required = ["start", "length", "text"]
    required += ["confidence"] if task.confidence_required else []
    required += list(task.label_fields) if task.label_required else []
    first = "First character, counted in Unicode code points from 0."
    size = "Number of Unicode code points."
    properties: dict[str, Any] = {
        "start": {"type": "integer", "minimum": 0, "maximum": _LAST, "description": first},
        "length": {"type": "integer", "minimum": 1, "maximum": _LAST, "description": size},
        "text": {"type": "string", "description": "The annotated text, exactly as it stands in the note."},
        "confidence": {"type": "number", "minimum": 0, "maximum": 100},
        ENTITY: {"type": "string", "description": "In gold: whom or what it names, the same throughout a patient."},
    }
    for name, values in task.label_fields.items():
        aliases = dict(task.aliases) if name == task.label else {}
        properties[name] = _label(values, aliases) if values else {"type": "string"}
    return {"type": "object", "required": required, "properties": properties}


def _label(values: tuple[str, ...], aliases: dict[str, str]) -> dict[str, Any]:
    """A label from a list, in any of the ways it may be written."""
    told = "".join(f" {alias!r} is an alias of {label!r};" for alias, label in aliases.items())
    written = "|".join(map(_any_case, (*values, *aliases)))
    return {
        "type": "string",
        "description": "One of the values listed, in any ASCII case and with surrounding white space;"
        f"{told} an empty string means that no label is given.",
        "anyOf": [{"enum": list(values)}, {"pattern": f"^{_SPACE}(?:(?:{written}){_SPACE})?$"}],
    }


def _any_case(label: str) -> str:
    """A pattern for a label in any ASCII case; one with other letters is only ever written as it is."""
    return "".join(f"[{letter.upper()}{letter}]" if _is_cased(letter, label) else _plain(letter) for letter in label)


def _is_cased(letter: str, label: str) -> bool:
    return label.isascii() and letter.isalpha()


def _plain(letter: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", letter)
