"""nervaluate's greedy pairing, prediction by prediction in file order, on both sides of a corpus as columns.

The original looks at every true mention for every prediction, four times a note and four times more per type. Here
those that can meet at all are found once; a pair whose members have no other partner is decided at once, and only the
rest goes through the original's choices one by one.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.documents.note_documents import last_segment, resource_name
from sandscore.documents.note_spans import Column, SpanSide
from sandscore.records.document import Annotation, Document
from sandscore.span_measures.overlap_matching import Pair, overlapping_pairs
from sandscore.task_table.task import Task

UNLABELLED = "NONE"
"""The original takes labels that are words only, so "no label" is one."""

_WIDE = 2**61


class SpanColumns(Struct, frozen=True):
    """A corpus; ``notes`` and ``labels`` name the numbers."""

    notes: list[str]
    labels: list[str]
    gold: SpanSide
    predictions: SpanSide


class ListedSpans(Struct, frozen=True):
    """A side as listed: blocks of annotations, each of one note; several blocks may be of the same."""

    notes: list[str]
    sizes: list[int]
    starts: list[int]
    lengths: list[int]
    labels: list[str]


def of_records(
    notes: Sequence[str], task: Task, gold: Sequence[dict[str, Any]], predictions: Sequence[dict[str, Any]]
) -> SpanColumns:
    """The columns of decoded files; the notes named come first, then others as they appear."""
    return _columns(notes, _of_records(gold, task), _of_records(predictions, task))


def of_documents(documents: Sequence[Document]) -> SpanColumns:
    """The columns of documents, each a note of its own whatever it is called."""
    gold, predictions = [d.gold for d in documents], [d.predictions for d in documents]
    return _columns((), _of_annotations(gold), _of_annotations(predictions))


def _of_records(records: Sequence[dict[str, Any]], task: Task) -> ListedSpans:
    blocks = [record.get(task.array) or () for record in records]
    flat, label = list(chain.from_iterable(blocks)), task.label
    return ListedSpans(
        [last_segment(resource_name(record)) for record in records],
        [len(block) for block in blocks],
        list(map(itemgetter("start"), flat)),
        list(map(itemgetter("length"), flat)),
        [a.get(label) or UNLABELLED for a in flat] if label else [UNLABELLED] * len(flat),
    )


def _of_annotations(sides: Sequence[tuple[Annotation, ...]]) -> ListedSpans:
    flat = list(chain.from_iterable(sides))
    return ListedSpans(
        [str(number) for number in range(len(sides))],
        [len(side) for side in sides],
        [a.start for a in flat],
        [a.length for a in flat],
        [a.label or UNLABELLED for a in flat],
    )


def _columns(first: Sequence[str], gold: ListedSpans, predictions: ListedSpans) -> SpanColumns:
    notes = {note: n for n, note in enumerate(dict.fromkeys((*first, *gold.notes, *predictions.notes)))}
    labels = {label: n for n, label in enumerate(sorted({*gold.labels, *predictions.labels}))}
    gold_side, predicted_side = (_side(listed, notes, labels) for listed in (gold, predictions))
    return SpanColumns(list(notes), list(labels), gold_side, predicted_side)


def _side(listed: ListedSpans, notes: dict[str, int], labels: dict[str, int]) -> SpanSide:
    blocks = np.array([notes[note] for note in listed.notes], dtype=np.int64)
    note = np.repeat(blocks, np.array(listed.sizes, dtype=np.int64))
    label = np.array(list(map(labels.__getitem__, listed.labels)), np.int64)
    columns = [_whole(listed.starts), _whole(listed.lengths), label]
    if (note[1:] < note[:-1]).any():
        order = np.argsort(note, kind="stable")
        note, *columns = (column[order] for column in (note, *columns))
    first_of_note = np.searchsorted(note, note, side="left")
    return SpanSide(note, columns[0], columns[1], columns[2], np.arange(len(note)) - first_of_note)


def _whole(values: Sequence[int]) -> Column:
    """Machine integers where sums and differences of them stay machine integers, else Python's own."""
    try:
        column = np.frombuffer(array("q", values), dtype=np.int64)
    except (OverflowError, TypeError):
        return np.array([int(value) for value in values], dtype=object)
    fits = not len(column) or (column.max() < _WIDE and column.min() > -_WIDE)
    return column if fits else column.astype(object)


_CROWDED = 16
"""Looked-at pairs per annotation beyond which the sweep, which looks at overlapping ones only, is better."""


def meeting(true: SpanSide, found: SpanSide) -> tuple[Column, Column]:
    """Indices of pairs that share a unit, by prediction, then by true mention; more where lengths are odd."""
    if not len(true.note) or not len(found.note):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if (true.length < 1).any() or (found.length < 1).any():
        return _ordered(list(_everybody(true, found)))
    shifted = on_one_line(true, found)
    if object not in {column.dtype for column in shifted} and (near := _neighbours(*shifted)):
        return near
    gold, predictions = (
        zip(*(c.tolist() for c in shifted[:2]), strict=True),
        zip(*(c.tolist() for c in shifted[2:]), strict=True),
    )
    return _ordered(overlapping_pairs(list(gold), list(predictions)))


def on_one_line(true: SpanSide, found: SpanSide) -> tuple[Column, Column, Column, Column]:
    """Starts and ends with notes laid end to end, so that only those of one note can overlap."""
    least = min(int(true.start.min()), int(found.start.min()))
    width = max(int(true.end.max()), int(found.end.max())) - least
    notes = int(max(true.note[-1], found.note[-1])) + 1
    wide = max(width * notes, abs(least)) >= _WIDE
    shifted = []
    for side in (true, found):
        offset = (side.note.astype(object) if wide else side.note) * width - least
        shifted += [side.start + offset, side.end + offset]
    return shifted[0], shifted[1], shifted[2], shifted[3]


def _neighbours(starts: Column, ends: Column, found_starts: Column, found_ends: Column) -> tuple[Column, Column] | None:
    """By binary search: a prediction's partners start before its end and are not all over before its start."""
    order = None if bool((starts[1:] >= starts[:-1]).all()) else np.argsort(starts, kind="stable")
    if order is not None:
        starts, ends = starts[order], ends[order]
    first = np.searchsorted(np.maximum.accumulate(ends), found_starts, side="right")
    count = np.maximum(np.searchsorted(starts, found_ends, side="left") - first, 0)
    total = int(count.sum())
    if total > _CROWDED * (len(starts) + len(found_starts)):
        return None
    found = np.repeat(np.arange(len(found_starts)), count)
    before = np.cumsum(count) - count
    at = np.arange(total) + np.repeat(first - before, count)
    real = ends[at] > found_starts[found]
    true, found = at[real], found[real]
    if order is None:
        return true, found
    true = order[true]
    by = np.lexsort((true, found))
    return true[by], found[by]


def _everybody(true: SpanSide, found: SpanSide) -> Iterator[Pair]:
    """All pairs of a note: no sweep understands a mention that ends before it starts."""
    members: dict[int, list[int]] = {}
    for i, note in enumerate(true.note.tolist()):
        members.setdefault(note, []).append(i)
    for j, note in enumerate(found.note.tolist()):
        yield from ((i, j) for i in members.get(note, ()))


def _ordered(pairs: list[Pair]) -> tuple[Column, Column]:
    true, found = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    by = np.lexsort((true, found))
    return true[by], found[by]


SCHEMAS = ("strict", "partial", "ent_type", "exact")
SPURIOUS, CORRECT, OTHER = range(3)


class Pairs(Struct, frozen=True):
    """Who may take whom, in order of prediction, then of true mention; ``enough`` is enough overlap."""

    gold: Column
    prediction: Column
    enough: Column
    same_bounds: Column
    same_label: Column
    distance: Column

    def only(self, chosen: Column) -> "Pairs":
        return Pairs(
            self.gold[chosen],
            self.prediction[chosen],
            self.enough[chosen],
            self.same_bounds[chosen],
            self.same_label[chosen],
            self.distance[chosen],
        )

    def hits(self, schema: str) -> Column:
        """Pairs that are correct under a schema."""
        hits: Column = self.same_label & self.enough if schema == "ent_type" else self.same_bounds.copy()
        if schema == "strict":
            hits &= self.same_label
        if schema == "partial":
            hits &= self.enough
        return hits


class PairingOutcome(Struct, frozen=True):
    """What became of every prediction (SPURIOUS, CORRECT, OTHER), and which true mentions were taken."""

    state: Column
    taken: Column


def find_pairs(columns: SpanColumns, least: float, met: tuple[Column, Column] | None = None) -> Pairs:
    """All that can meet: enough overlap, in percent of the true mention, or equal bounds."""
    true, found = columns.gold, columns.predictions
    i, j = met or meeting(true, found)
    starts, ends = (true.start[i], found.start[j]), (true.end[i], found.end[j])
    touching = (starts[1] < ends[0]) & (ends[1] > starts[0])
    length = true.length[i]
    if (length[touching] == 0).any():
        raise ZeroDivisionError("division by zero")
    shared = np.minimum(*ends) - np.maximum(*starts)
    enough = touching.copy()
    enough[touching] = (shared[touching] / length[touching]) * 100.0 >= least
    same_bounds = (starts[0] == starts[1]) & (ends[0] == ends[1])
    distance = np.abs(starts[1] - starts[0]) + np.abs(ends[1] - ends[0])
    pairs = Pairs(i, j, enough, same_bounds, true.label[i] == found.label[j], distance)
    return pairs.only((enough | same_bounds).astype(bool))


def resolve_all(
    pairs: Pairs, true_count: int, found_count: int, schemas: Sequence[str] = SCHEMAS
) -> dict[str, PairingOutcome]:
    """Every prediction's lot under each schema."""
    rivals = np.bincount(pairs.gold, minlength=true_count)[pairs.gold]
    choices = np.bincount(pairs.prediction, minlength=found_count)[pairs.prediction]
    alone = (rivals == 1) & (choices == 1)
    return {schema: _resolve(pairs, alone, true_count, found_count, schema) for schema in schemas}


def _resolve(pairs: Pairs, alone: Column, true_count: int, found_count: int, schema: str) -> PairingOutcome:
    outcome = PairingOutcome(np.zeros(found_count, np.int8), np.zeros(true_count, bool))
    hits = pairs.hits(schema).astype(bool)
    usable = hits | pairs.enough.astype(bool)
    decided = alone & usable
    outcome.state[pairs.prediction[decided]] = np.where(hits[decided], CORRECT, OTHER)
    outcome.taken[pairs.gold[decided]] = True
    contested = ~alone & usable
    if contested.any():
        _greedy(pairs.only(contested), hits[contested], schema, outcome)
    return outcome


_ROUNDS = 8
"""Rounds of choosing after which whoever is left is looked at one by one."""


def _greedy(pairs: Pairs, hits: Column, schema: str, outcome: PairingOutcome) -> None:
    """In the order of predictions each takes of what is left what it likes best: hits, then what stands first."""
    far = np.where(hits, pairs.distance, 0) if schema == "ent_type" else np.zeros(len(hits), np.int64)
    order = np.lexsort((pairs.gold, far, ~hits, pairs.prediction))
    prediction, gold, hit = pairs.prediction[order], pairs.gold[order], hits[order]
    claimed = np.empty(len(outcome.taken), np.int64)
    chosen = np.zeros(len(outcome.state), bool)
    for _ in range(_ROUNDS):
        if not len(prediction):
            return
        # whoever is the first of all that could take what it likes best takes it, whatever the others do
        claimed[gold[::-1]] = prediction[::-1]
        takes = claimed[gold] == prediction
        takes[1:] &= prediction[1:] != prediction[:-1]
        _take(prediction[takes], gold[takes], hit[takes], outcome)
        chosen[prediction[takes]] = True
        left = ~(chosen[prediction] | outcome.taken[gold])
        prediction, gold, hit = prediction[left], gold[left], hit[left]
    _one_by_one(prediction, gold, hit, outcome)


def _take(prediction: Column, gold: Column, hit: Column, outcome: PairingOutcome) -> None:
    outcome.state[prediction] = np.where(hit, CORRECT, OTHER)
    outcome.taken[gold] = True


def _one_by_one(prediction: Column, gold: Column, hit: Column, outcome: PairingOutcome) -> None:
    """The same of pairs in order of prediction, then of liking."""
    rows = zip(*(column.tolist() for column in (prediction, gold, hit)), strict=True)
    taken, chosen = set[int](), dict[int, tuple[int, bool]]()
    for one, other, is_hit in rows:
        if one not in chosen and other not in taken:
            chosen[one] = other, is_hit
            taken.add(other)
    who = np.array([*chosen], np.int64)
    whom = np.array([*chosen.values()], np.int64).reshape(-1, 2)
    _take(who, whom[:, 0], whom[:, 1] > 0, outcome)
