"""Decoded files to documents, for the profiles whose originals work note by note."""

from collections.abc import Iterable
from typing import Any

from sandscore.measuring.profiles.result import ProfileInput
from sandscore.records.documents import Annotation, Document
from sandscore.tasks import Task


def resource_name(record: dict[str, Any]) -> str:
    """The whole resource name a record is about."""
    return str(record["annotationSource"]["resourceSource"]["name"])


def last_segment(name: str) -> str:
    """The part of a resource name that files are joined on."""
    return name.rpartition("/")[2]


def annotations(record: dict[str, Any], task: Task) -> tuple[Annotation, ...]:
    """A record's annotations in file order; a missing or empty label is "not given"."""
    return tuple(
        Annotation(
            start=a["start"],
            length=a["length"],
            text=a["text"],
            label=(a.get(task.label) or None) if task.label else None,
            confidence=a.get("confidence"),
        )
        for a in record.get(task.array) or ()
    )


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
