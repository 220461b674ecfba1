"""Our own files as the benchmark's corpus and masks: one annotator, an entity for each ``entityId``.

Whether an annotation has to be masked says its property ``identifierType`` (DIRECT, QUASI or NO_MASK); where it has
none, the class of its label.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sandscore.base.errors import UsageFault
from sandscore.documents.note_documents import last_segment, resource_name
from sandscore.profiles.profile import ProfileInput
from sandscore.profiles.tab.masked_corpus import DIRECT, NO_MASK, QUASI, MaskedCorpus, read_corpus
from sandscore.task_table.task import Task

Row = dict[str, Any]
_TYPES = {"direct": DIRECT, "quasi": QUASI, "none": NO_MASK}


def are_records(gold: Any) -> bool:
    """Whether decoded gold is a file of ours."""
    return isinstance(gold, list) and any(isinstance(one, dict) and "annotationSource" in one for one in gold)


def read_corpus_of(given: ProfileInput) -> tuple[MaskedCorpus, tuple[str, ...]]:
    """The notes with gold's annotations, and what has to be said about them."""
    if given.notes is None:
        raise UsageFault("the profiles tab and tab-2022 look at the notes' texts; give them with --notes")
    unknown: set[str] = set()
    mentions = {name: list(_mentions(rows, given.task, unknown)) for name, rows in _by_note(given.gold, given.task)}
    corpus = read_corpus(
        [
            {
                "doc_id": note["identifier"],
                "text": note["text"],
                "dataset_type": "",
                "annotations": {"gold": {"entity_mentions": mentions.get(note["identifier"], [])}},
            }
            for note in given.notes
        ]
    )
    return corpus, _said(unknown)


def read_masks_of(given: ProfileInput) -> dict[str, list[tuple[int, int]]]:
    """The predictions' spans, note by note in the order of their file."""
    return {
        name: [(row["start"], row["start"] + row["length"]) for row in rows]
        for name, rows in _by_note(given.predictions, given.task)
    }


def _by_note(records: list[Any], task: Task) -> Iterator[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for record in records:
        found.setdefault(last_segment(resource_name(record)), []).extend(record.get(task.array) or ())
    yield from found.items()


def _mentions(rows: list[Row], task: Task, unknown: set[str]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        kind = str((task.label and row.get(task.label)) or task.id)
        yield {
            "entity_id": f"id:{row['entityId']}" if "entityId" in row else f"row:{number}",
            "entity_type": kind,
            "identifier_type": row.get("identifierType") or _class_of(row, task, kind, unknown),
            "start_offset": row["start"],
            "end_offset": row["start"] + row["length"],
        }


def _class_of(row: Mapping[str, Any], task: Task, kind: str, unknown: set[str]) -> str:
    known = task.identifier_class(row.get(task.label) if task.label else None)
    if known is None:
        unknown.add(kind)
        return QUASI
    return _TYPES[known]


def _said(unknown: set[str]) -> tuple[str, ...]:
    if not unknown:
        return ()
    return (
        f"taken as quasi-identifiers, as nothing says otherwise: {', '.join(sorted(unknown))}; the property"
        " identifierType of a gold annotation says DIRECT, QUASI or NO_MASK",
    )
