"""Notes and gold as files: one record a line, so that a change shows where it is."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.make_example.notes import Note, make_notes

from sandscore.base.whole_files import write_file
from sandscore.task_table.task import Task, find_task

EXAMPLE_TASKS = ("date", "person-name", "address")
CHECKSUMS = "SHA256SUMS"


def lines_of(records: Iterable[dict[str, Any]]) -> str:
    """A JSON list with one record a line."""
    return "[\n" + ",\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n]\n"


def annotation_record(task: Task, note_name: str, annotations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": note_name}}, task.array: list(annotations)}


def write_example(folder: Path) -> None:
    notes = tuple(make_notes())
    texts = {"notes.json": lines_of(_note_record(note) for note in notes)}
    for name in EXAMPLE_TASKS:
        task = find_task(name)
        texts[f"{name}.json"] = lines_of(annotation_record(task, note.name, _gold(task, note)) for note in notes)
    folder.mkdir(parents=True, exist_ok=True)
    sums = ""
    for name, text in sorted(texts.items()):
        write_file(folder / name, text.encode())
        sums += f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n"
    write_file(folder / CHECKSUMS, sums.encode())


def _note_record(note: Note) -> dict[str, Any]:
    return {
        "identifier": note.identifier,
        "note_name": note.name,
        "patientId": note.patient,
        "type": f"loinc:{note.loinc}",
        "text": note.text,
    }


def _gold(task: Task, note: Note) -> list[dict[str, Any]]:
    return [
        {"start": span.start, "length": len(span.text), "text": span.text}
        | ({task.label: span.label} if task.label and span.label else {})
        for span in note.spans
        if span.task == task.id
    ]
