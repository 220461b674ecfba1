"""Both sides of a corpus as columns: one row an annotation, notes in order, inside a note in file order."""

from array import array
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandscore.measuring.profiles.inputs import last_segment, resource_name
from sandscore.measuring.profiles.result import ProfileInput
from sandscore.records.documents import Annotation, Document
from sandscore.tasks import Task

UNLABELLED = "NONE"
"""The original takes labels that are words only, so "no label" is one."""

Column = NDArray[Any]
_WIDE = 2**61


class Side(NamedTuple):
    """``note`` and ``label`` are numbers; ``place`` is an annotation's position in its note."""

    note: Column
    start: Column
    length: Column
    label: Column
    place: Column

    @property
    def end(self) -> Column:
        ends: Column = self.start + self.length
        return ends


class Columns(NamedTuple):
    """A corpus; ``notes`` and ``labels`` name the numbers."""

    notes: list[str]
    labels: list[str]
    gold: Side
    predictions: Side


class Listed(NamedTuple):
    """A side as listed: blocks of annotations, each of one note; several blocks may be of the same."""

    notes: list[str]
    sizes: list[int]
    starts: list[int]
    lengths: list[int]
    labels: list[str]


def of_input(given: ProfileInput) -> Columns:
    """The columns of decoded files; notes of the notes file come first, then others as they appear."""
    first = [note["identifier"] for note in given.notes or ()]
    return _columns(first, _of_records(given.gold, given.task), _of_records(given.predictions, given.task))


def of_documents(documents: Sequence[Document]) -> Columns:
    """The columns of documents, each a note of its own whatever it is called."""
    gold, predictions = [d.gold for d in documents], [d.predictions for d in documents]
    return _columns((), _of_annotations(gold), _of_annotations(predictions))


def _of_records(records: Sequence[dict[str, Any]], task: Task) -> Listed:
    blocks = [record.get(task.array) or () for record in records]
    flat, label = list(chain.from_iterable(blocks)), task.label
    return Listed(
        [last_segment(resource_name(record)) for record in records],
        [len(block) for block in blocks],
        list(map(itemgetter("start"), flat)),
        list(map(itemgetter("length"), flat)),
        [a.get(label) or UNLABELLED for a in flat] if label else [UNLABELLED] * len(flat),
    )


def _of_annotations(sides: Sequence[tuple[Annotation, ...]]) -> Listed:
    flat = list(chain.from_iterable(sides))
    return Listed(
        [str(number) for number in range(len(sides))],
        [len(side) for side in sides],
        [a.start for a in flat],
        [a.length for a in flat],
        [a.label or UNLABELLED for a in flat],
    )


def _columns(first: Sequence[str], gold: Listed, predictions: Listed) -> Columns:
    notes = {note: n for n, note in enumerate(dict.fromkeys((*first, *gold.notes, *predictions.notes)))}
    labels = {label: n for n, label in enumerate(sorted({*gold.labels, *predictions.labels}))}
    gold_side, predicted_side = (_side(listed, notes, labels) for listed in (gold, predictions))
    return Columns(list(notes), list(labels), gold_side, predicted_side)


def _side(listed: Listed, notes: dict[str, int], labels: dict[str, int]) -> Side:
    blocks = np.array([notes[note] for note in listed.notes], dtype=np.int64)
    note = np.repeat(blocks, np.array(listed.sizes, dtype=np.int64))
    label = np.array(list(map(labels.__getitem__, listed.labels)), np.int64)
    columns = [_whole(listed.starts), _whole(listed.lengths), label]
    if (note[1:] < note[:-1]).any():
        order = np.argsort(note, kind="stable")
        note, *columns = (column[order] for column in (note, *columns))
    first_of_note = np.searchsorted(note, note, side="left")
    return Side(note, columns[0], columns[1], columns[2], np.arange(len(note)) - first_of_note)


def _whole(values: Sequence[int]) -> Column:
    """Machine integers where sums and differences of them stay machine integers, else Python's own."""
    try:
        column = np.frombuffer(array("q", values), dtype=np.int64)
    except (OverflowError, TypeError):
        return np.array([int(value) for value in values], dtype=object)
    fits = not len(column) or (column.max() < _WIDE and column.min() > -_WIDE)
    return column if fits else column.astype(object)
