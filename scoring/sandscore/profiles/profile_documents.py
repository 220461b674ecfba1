"""Decoded files to documents, for the profiles whose originals work note by note.

What a type is, for the profiles whose originals know typed spans only.
"""

from collections.abc import Iterable
from typing import Any

from sandscore.documents.note_documents import annotations, last_segment, resource_name
from sandscore.measures.measure_syntax import Scalar
from sandscore.profiles.profile import ProfileInput
from sandscore.records.document import Annotation, Document
from sandscore.task_table.task import Task


def documents(given: ProfileInput) -> list[Document]:
    """One document a note: those of the notes file first, then others in order of appearance."""
    texts = {n["identifier"]: n["text"] for n in given.notes or ()}
    patients = {n["identifier"]: n.get("patientId") for n in given.notes or ()}
    sides = [_by_note(records, given.task) for records in (given.gold, given.predictions)]
    order = dict.fromkeys([*texts, *sides[0], *sides[1]])
    return [
        Document(i, texts.get(i), tuple(sides[0].get(i, ())), tuple(sides[1].get(i, ())), patients.get(i))
        for i in order
    ]


def _by_note(records: Iterable[dict[str, Any]], task: Task) -> dict[str, list[Annotation]]:
    found: dict[str, list[Annotation]] = {}
    for record in records:
        found.setdefault(last_segment(resource_name(record)), []).extend(annotations(record, task))
    return found


def type_of(annotation: Annotation, task: Task) -> str:
    """The annotation's label as written; the task's own name where it carries none."""
    return annotation.label or task.id.replace("-", "_").upper()


def types_in(documents: Iterable[Document], task: Task) -> list[str]:
    """Every type that occurs on either side, sorted."""
    return sorted({type_of(a, task) for d in documents for a in (*d.gold, *d.predictions)})


def chosen(written: Scalar) -> frozenset[str] | None:
    """The names in ``one|two|three``; None where nothing is named."""
    return frozenset(str(written).split("|")) if written else None
