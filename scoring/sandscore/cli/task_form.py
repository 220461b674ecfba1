"""The form of a task's annotation file: the smallest one that is complete, its fields, and what to do with it."""

import json
from typing import Any

from msgspec import Struct

from sandscore.task_table.task import Task
from sandscore.task_table.task_schema import schema_of

NOTE = "n1"
_BEFORE, _AFTER = "Noted: ", "."
_SAID = {
    "start": "where the text begins: characters (Unicode code points) before it, so the first is 0",
    "length": "how many characters it has, at least 1",
    "text": "exactly what stands there in the note",
    "confidence": "how sure you are, from 0 to 100",
}


class FormField(Struct, frozen=True):
    """One property of an annotation."""

    name: str
    required: bool
    told: str


def note_text(task: Task) -> str:
    """The text of the note that the smallest file is about."""
    return f"{_BEFORE}{_sample(task)}{_AFTER}"


def smallest_file(task: Task) -> list[dict[str, Any]]:
    """A file with one annotation of one note, which says all that is required and nothing else."""
    annotation: dict[str, Any] = {"start": len(_BEFORE), "length": len(_sample(task)), "text": _sample(task)}
    required = schema_of(task)["$defs"]["annotation"]["required"]
    for name, allowed in task.label_fields.items():
        if name in required:
            annotation[name] = allowed[0] if allowed else "any word"
    if "confidence" in required:
        annotation["confidence"] = 90
    return [{"annotationSource": {"resourceSource": {"name": NOTE}}, task.array: [annotation]}]


def written(task: Task) -> str:
    """The smallest file as people would write it: an annotation a line."""
    [record] = smallest_file(task)
    lines = ",\n".join(f"      {json.dumps(one, ensure_ascii=False)}" for one in record[task.array])
    source = json.dumps(record["annotationSource"])
    return f'[\n  {{\n    "annotationSource": {source},\n    "{task.array}": [\n{lines}\n    ]\n  }}\n]'


def fields(task: Task) -> list[FormField]:
    """The properties of an annotation, as the schema has them, those that are required first."""
    rules = schema_of(task)["$defs"]["annotation"]
    found = [FormField(name, name in rules["required"], _told(task, name)) for name in rules["properties"]]
    return sorted(found, key=lambda one: not one.required)


def next_commands(task: Task) -> list[str]:
    """What to go on with, once there is a file."""
    own = " --challenge challenge.toml" if task.own else ""
    files = "--predictions predictions.json --notes notes.json"
    return [
        f"sandscore validate {task.id} predictions.json --notes notes.json{own}",
        f"sandscore score {task.id} --gold gold.json {files}{own}",
        f"sandscore init {task.id} my-{task.id}-annotator{own}",
    ]


def _told(task: Task, name: str) -> str:
    if name in _SAID:
        return _SAID[name]
    allowed = task.label_fields.get(name)
    return f"one of {', '.join(allowed)}" if allowed else "a word of your own"


def _sample(task: Task) -> str:
    return task.sample or task.kind
