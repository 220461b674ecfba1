"""What the NLP Sandbox client makes of a file: two dictionaries, in which later entries replace earlier ones.

Nothing is validated, on purpose: whatever the client's own operations die of, these die of too.
"""

import re
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import partial
from posixpath import basename
from typing import Any, NamedTuple

from sandscore.measuring.profiles import treebank
from sandscore.measuring.profiles.stopping import stopping
from sandscore.records.errors import OrganiserFault, ParticipantFault
from sandscore.tasks import Task

NOT_A_TYPE = float("nan")
"""An absent type: equal to nothing, itself included."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a release looks: its name for the task, its list, and the names that our files use."""

    name: str
    list_name: str
    stored_list: str
    stored_type: str


_NAMES = {"person-name": "person", "address": "location"}
_TYPES = {"person-name": "personType"}


class Instance(NamedTuple):
    note: str
    text: str
    type: Any
    length: Any


class Token(NamedTuple):
    note: str
    text: str
    length: int
    off_text: bool


class Side(NamedTuple):
    """One file, read: ``read`` annotations became these entries, keyed by the client's strings."""

    notes: list[str]
    read: int
    instances: dict[str, Instance]
    tokens: dict[str, Token]


_Items = list[tuple[str, Any]]
_Keyed = Iterable[tuple[str, Token]]
Split = Callable[[str, str, Any], _Keyed]


def columns(task: Task, release: str) -> Columns:
    """Release 3.1.0 knows addresses, 4.3.0 locations; each reads the other's files under its own names."""
    name, list_name = _NAMES.get(task.id, task.id), task.array
    if name == "location":
        old = release == "3.1.0"
        name = "address" if old else "location"
        list_name = "textPhysicalAddressAnnotations" if old else "textLocationAnnotations"
    return Columns(name, list_name, task.array, _TYPES.get(task.id, task.label or ""))


def read_files(gold: Iterable[Any], predictions: Iterable[Any], where: Columns, split: Split) -> tuple[Side, Side]:
    """Gold and predictions, read in the client's order, so that what it dies of first we die of first."""
    in_gold = partial(stopping, "gold", OrganiserFault)
    in_predictions = partial(stopping, "predictions", ParticipantFault)
    with in_gold():
        gold_items, gold_notes = _flatten(gold, where)
    with in_predictions():
        items, notes = _flatten(predictions, where)
        instances = _instances(items, where)
    with in_gold():
        gold_instances = _instances(gold_items, where)
    with in_predictions():
        tokens = _tokens(items, split)
    with in_gold():
        gold_tokens = _tokens(gold_items, split)
    return (
        Side(gold_notes, len(gold_items), gold_instances, gold_tokens),
        Side(notes, len(items), instances, tokens),
    )


def treebank_tokens(note: str, text: str, start: Any) -> _Keyed:
    """Release 4.3.0: Treebank tokens at the place where the text holds them, or one before the cursor."""
    cursor = 0
    for word in treebank.tokenise(text):
        place = text.find(word, cursor)
        offset = place if place >= 0 else cursor - 1
        yield f"{note}-{offset + start}-{len(word)}", Token(note, word, len(word), place < 0)
        cursor = offset + len(word)


def white_space_tokens(note: str, text: str, start: Any) -> _Keyed:
    """Release 3.1.0: pieces between white space, as if every run of it were one character."""
    offset = 0
    for word in re.split(r"\s+", text):
        yield f"{note}-{start}-{len(word)}", Token(note, word, len(word), not text.startswith(word, offset))
        offset += len(word) + 1
        start = start + len(word) + 1


def _flatten(records: Iterable[Any], where: Columns) -> tuple[_Items, list[str]]:
    items: _Items = []
    notes: list[str] = []
    for record in records:
        name = record["annotationSource"]["resourceSource"]["name"]
        listed = _listed(record, where)
        if isinstance(name, str):
            notes.append(basename(name))
        for annotation in listed:
            note = basename(name)
            if not isinstance(annotation, dict):
                copy(annotation)["noteId"] = note
            items.append((note, annotation))
    return items, notes


def _listed(record: Any, where: Columns) -> Any:
    if isinstance(record, dict) and where.stored_list not in record:
        raise KeyError(where.list_name)
    return record[where.stored_list]


def _instances(items: _Items, where: Columns) -> dict[str, Instance]:
    found = {}
    for note, annotation in items:
        key = f"{note}-{annotation['start']}"
        text, length = annotation["text"], annotation["length"]
        found[key] = Instance(note, text, annotation.get(where.stored_type, NOT_A_TYPE), length)
    return found


def _tokens(items: _Items, split: Split) -> dict[str, Token]:
    found: dict[str, Token] = {}
    for note, annotation in items:
        found.update(split(note, annotation["text"], annotation["start"]))
    return found
