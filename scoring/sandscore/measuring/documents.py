"""Columns back to documents, for whoever works note by note and looks at texts."""

from collections.abc import Sequence

from sandscore.reading.columns import Columns
from sandscore.reading.files import Loaded
from sandscore.records.documents import Annotation, Document


def documents_of(loaded: Loaded) -> list[Document]:
    """Every note of the data set, in its order, with both sides' annotations in file order."""
    dataset = loaded.dataset
    gold, predicted = (_by_note(loaded, loaded.columns[role]) for role in ("gold", "predictions"))
    texts: Sequence[str | None] = dataset.texts if dataset.texts is not None else [None] * len(dataset.ids)
    return [
        Document(note, text, tuple(gold.get(number, ())), tuple(predicted.get(number, ())), patient)
        for number, (note, text, patient) in enumerate(zip(dataset.ids, texts, dataset.patients, strict=True))
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
