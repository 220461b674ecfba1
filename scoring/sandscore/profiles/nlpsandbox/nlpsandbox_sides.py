"""A file as the NLP Sandbox client holds it: two dictionaries, in which later entries replace earlier ones.

Nothing is validated, on purpose: whatever the client's own operations die of, these die of too.
"""

import re
from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from posixpath import basename
from typing import Any

from msgspec import Struct

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.profiles.nlpsandbox import penn_treebank
from sandscore.profiles.nlpsandbox.nlpsandbox_words import (
    Split,
    TextParts,
    TextWords,
    misplaces,
    treebank_words,
    words_by_rules,
)
from sandscore.profiles.profile import stopping
from sandscore.task_table.task import TASKS, Task

NOT_A_TYPE = float("nan")
"""An absent type: equal to nothing, itself included."""


class EntryColumns(Struct, frozen=True):
    """Where a release looks: its name for the task, its list, and the names that our files use."""

    name: str
    list_name: str
    stored_list: str
    stored_type: str
    label: str | None = None


Instance = tuple[str, Any, Any, Any]
"""Note, text, type and length."""

Token = tuple[str, str]
"""Note and text."""


class ClientSide(Struct, frozen=True):
    """One file, read: ``read`` annotations became these entries, keyed by the client's strings."""

    notes: list[str]
    read: int
    instances: dict[str, Instance]
    tokens: dict[str, Token]
    misplacing: int
    """How many different texts have tokens that are keyed where the text does not hold them."""


_Items = list[tuple[str, Any]]
_Words = list[tuple[int, str]]


class Release(Struct, frozen=True):
    """How a release finds the words of a text, and of many, with their offsets, and adds offsets to a start."""

    split: Callable[[str], _Words]
    words: Callable[[TextParts, Split], TextWords]
    places: Callable[[Any, _Words], list[Any]]


def columns(task: Task, release: str) -> EntryColumns:
    """Release 3.1.0 knows addresses, 4.3.0 locations; each reads the other's files under its own names."""
    known = TASKS.get(dict(task.client.releases).get(release, task.id), task)
    return EntryColumns(
        known.client.name or known.id, known.array, task.array, task.type_field or task.label or "", task.label
    )


def read_files(
    gold: Iterable[Any], predictions: Iterable[Any], where: EntryColumns, release: Release
) -> tuple[ClientSide, ClientSide]:
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
        tokens = _tokens(items, release)
    with in_gold():
        gold_tokens = _tokens(gold_items, release)
    return (
        ClientSide(gold_notes, len(gold_items), gold_instances, *gold_tokens),
        ClientSide(notes, len(items), instances, *tokens),
    )


def _white_space_words(text: str) -> _Words:
    """Pieces between white space, as if every run of it were one character."""
    cursor, found = 0, []
    for word in re.split(r"\s+", text):
        found.append((cursor, word))
        cursor += len(word) + 1
    return found


def _sums(start: Any, words: _Words) -> list[Any]:
    return [offset + start for offset, _ in words]


def _first_as_given(start: Any, words: _Words) -> list[Any]:
    return [start, *[start + offset for offset, _ in words][1:]]


RELEASES = {
    "4.3.0": Release(penn_treebank.place_words, treebank_words, _sums),
    "3.1.0": Release(_white_space_words, words_by_rules, _first_as_given),
}


def _flatten(records: Iterable[Any], where: EntryColumns) -> tuple[_Items, list[str]]:
    items: _Items = []
    notes: list[str] = []
    for record in records:
        name = record["annotationSource"]["resourceSource"]["name"]
        note = basename(name) if isinstance(name, str) else None
        if note is not None:
            notes.append(note)
        for annotation in _listed(record, where):
            if note is None:
                basename(name)
            elif isinstance(annotation, dict):
                items.append((note, annotation))
            else:
                copy(annotation)["noteId"] = note
    return items, notes


def _listed(record: Any, where: EntryColumns) -> Any:
    if isinstance(record, dict) and where.stored_list not in record:
        raise KeyError(where.list_name)
    return record[where.stored_list]


def _instances(items: _Items, where: EntryColumns) -> dict[str, Instance]:
    found = {}
    for note, annotation in items:
        key = f"{note}-{annotation['start']}"
        text, length = annotation["text"], annotation["length"]
        found[key] = (note, text, annotation.get(where.stored_type, NOT_A_TYPE), length)
    return found


def _tokens(items: _Items, release: Release) -> tuple[dict[str, Token], int]:
    found: dict[str, Token] = {}
    seen: dict[str, _Words] = {}
    for note, annotation in items:
        start, text = annotation["start"], annotation["text"]
        words = seen.get(text) if isinstance(text, str) else None
        if words is None:
            words = seen[text] = release.split(text)
        if type(start) is int:
            for offset, word in words:
                found[f"{note}-{start + offset}-{len(word)}"] = (note, word)
        else:
            for place, (_, word) in zip(release.places(start, words), words, strict=True):
                found[f"{note}-{place}-{len(word)}"] = (note, word)
    return found, sum(map(misplaces, seen.items()))
