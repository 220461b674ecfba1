"""Columns back to documents, for whoever works note by note and looks at texts."""

from collections.abc import Sequence
from typing import Any

from sandscore.annotations.columns import Columns
from sandscore.annotations.input_files import Loaded
from sandscore.records.document import Annotation, Document
from sandscore.task_table.task import Task


def documents_of(loaded: Loaded) -> list[Document]:
    """Every note of the data set, in its order, with both sides' annotations in file order."""
    dataset = loaded.dataset
    gold, predicted = (_by_note(loaded, loaded.columns[role]) for role in ("gold", "predictions"))
    texts: Sequence[str | None] = dataset.texts if dataset.texts is not None else [None] * len(dataset.roll)
    return [
        Document(note, text, tuple(gold.get(number, ())), tuple(predicted.get(number, ())), patient)
        for number, (note, text, patient) in enumerate(zip(dataset.roll.ids, texts, dataset.roll.patients, strict=True))
    ]


def _by_note(loaded: Loaded, columns: Columns) -> dict[int, list[Annotation]]:
    names = [*loaded.dataset.vocabulary.names, None]
    written = list(loaded.dataset.interned)
    found: dict[int, list[Annotation]] = {}
    ids = columns.text.tolist() if columns.text is not None else [-1] * len(columns)
    rows = (columns.note, columns.start, columns.length, columns.label, columns.confidence)
    for note, start, length, label, confidence, text in zip(*(row.tolist() for row in rows), ids, strict=True):
        whole = loaded.dataset.texts[note] if loaded.dataset.texts is not None else None
        words = written[text] if whole is None else whole[start : start + length]
        sure = None if confidence != confidence else confidence  # noqa: PLR0124 (NaN is absent)
        found.setdefault(note, []).append(Annotation(start, length, words, names[label], sure))
    return found


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
