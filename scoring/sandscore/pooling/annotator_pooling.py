"""Gold of several annotators as one data set, and its counts back by note: every measure is micro over annotators.

Each note stands there once for every annotator who has an entry for it (a reading), with the predictions beside it;
a note that nobody has an entry for is the first annotator's. Patients and entities are told apart by annotator while
they are counted, so that a patient whose gold leaks to one of two annotators counts as one of two.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from sandscore.annotations.columns import Columns, Ints, Mask, Small, Tokens
from sandscore.annotations.data_set import DataSet, NoteRoll, Readings
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.label_codes import renumber
from sandscore.annotations.note_texts import GatheredTexts, NoteTexts
from sandscore.measures.challenge_measures import Counted
from sandscore.measures.dataset_counts import DataSetCounts

if TYPE_CHECKING:
    from sandscore.leaks.leak_totals import LeakQuestion, LeakTable
    from sandscore.span_measures.document_counts import CountedGeneral


class AnnotatorReadings(Readings, frozen=True):
    """What each annotator's reading of a note counts for the note."""

    def by_note(
        self, whole: DataSetCounts, general: "Sequence[CountedGeneral]", leaks: "LeakQuestion | None"
    ) -> "tuple[DataSetCounts, list[CountedGeneral], LeakQuestion | None]":
        """Added up note by note."""
        leaks, tables = (None, []) if leaks is None else leaks_by_note(self, leaks, whole.leaks)
        return replace(counts_by_note(self, whole), leaks=tables), general_by_note(self, general), leaks


_TOGETHER = 1024
"""Notes that are copied at once."""
_PLAIN = ("note", "start", "length", "label", "confidence")


def pooled(parts: Sequence[Loaded]) -> Loaded:
    """One data set of all readings: ``parts`` hold an annotator's gold each, the first the predictions too."""
    first = parts[0]
    notes, labels = first.dataset, first.dataset.vocabulary.copy()
    numbers = _numbered(parts, len(notes.roll.ids))
    who, note = np.nonzero(numbers >= 0)
    entities: dict[str | None, int] = {None: -1}
    gold = []
    for at, part in enumerate(parts):
        columns = part.columns["gold"]
        if at:
            labels.learn(part.dataset.vocabulary.names)
            renumber(columns, part.dataset.vocabulary, labels)
        entity = _entities(columns, part.dataset, at, entities)
        gold.append(columns.replace(note=numbers[at][columns.note].astype(np.int32), entity=entity))
    predicted = first.columns["predictions"]
    seen = [(row[predicted.note], _kept(predicted, row[predicted.note] >= 0)) for row in numbers]
    shown = [kept.replace(note=at[at >= 0].astype(np.int32)) for at, kept in seen]
    units = notes.roll.units
    dataset = replace(
        notes,
        vocabulary=labels,
        growing=False,
        roll=NoteRoll(
            [f"{notes.roll.ids[n]} ({at + 1})" if at else notes.roll.ids[n] for at, n in zip(who, note, strict=True)],
            [f"{at + 1}:{units[n]}" for at, n in zip(who.tolist(), note.tolist(), strict=True)],
        ),
        texts=_picked(notes.texts, note) if notes.texts is not None else None,
        entities=entities,
    )
    digests = "\n".join(part.sha256["gold"] for part in parts)
    hashes = {"gold": sha256(digests.encode()).hexdigest(), "predictions": first.sha256["predictions"]}
    columns_of = {"gold": _joined(gold), "predictions": _joined(shown)}
    return Loaded(dataset, columns_of, first.findings, hashes, AnnotatorReadings(notes, note))


def _picked(texts: NoteTexts, numbers: Ints) -> NoteTexts:
    """Some of them in this order, each as often as it is named."""
    gathered = GatheredTexts(int(np.diff(texts.laid.begin)[numbers].sum()))
    for first in range(0, len(numbers), _TOGETHER):
        gathered.add([texts[number] for number in numbers[first : first + _TOGETHER].tolist()])
    return gathered.all()


def _numbered(parts: Sequence[Loaded], notes: int) -> Ints:
    """A row an annotator: the number of the reading of every note, -1 where there is none."""
    there = np.zeros((len(parts), notes), bool)
    for row, part in zip(there, parts, strict=True):
        row[:] = np.frombuffer(part.spoken_of, bool)
    there[0, ~there.any(axis=0)] = True
    return np.where(there, np.cumsum(there.ravel()).reshape(there.shape) - 1, -1)


def _entities(columns: Columns, dataset: DataSet, at: int, known: dict[str | None, int]) -> Small | None:
    """Two annotators' entities are not the same, whatever they are called."""
    if columns.entity is None:
        return None
    names = [name for name in dataset.entities if name is not None]
    codes = [known.setdefault(f"{at + 1}:{name}", len(known) - 1) for name in names]
    return np.array([-1, *codes], np.int32)[columns.entity + 1]


def _kept(columns: Columns, which: Mask) -> Columns:
    """Some of the annotations, with their tokens."""
    tokens = columns.tokens
    if tokens is not None:
        theirs = np.repeat(which, tokens.words)
        tokens = Tokens(tokens.words[which], tokens.begin[theirs], tokens.size[theirs])
    note, start, length, label, confidence = (getattr(columns, name)[which] for name in _PLAIN)
    return Columns(note, start, length, label, confidence, tokens=tokens)


def _joined(columns: Sequence[Columns]) -> Columns:
    note, start, length, label, confidence = (
        np.concatenate([getattr(one, name) for one in columns]) for name in _PLAIN
    )
    tokens = [one.tokens for one in columns if one.tokens is not None]
    words, begin, size = (np.concatenate([getattr(one, name) for one in tokens]) for name in Tokens.__annotations__)
    entity = None if all(one.entity is None for one in columns) else np.concatenate([*map(_entity_of, columns)])
    return Columns(note, start, length, label, confidence, tokens=Tokens(words, begin, size), entity=entity)


def _entity_of(columns: Columns) -> Small:
    return np.full(len(columns), -1, np.int32) if columns.entity is None else columns.entity


def counts_by_note(readings: Readings, whole: DataSetCounts) -> DataSetCounts:
    """Counts of readings as those of their notes; leaks are brought there by ``leaks_by_note``."""
    return replace(whole, counted=[_counted(one, readings) for one in whole.counted])


def _counted(one: Counted, readings: Readings) -> Counted:
    return one.replace(per_note=_by_note(one.per_note, readings))


def general_by_note(readings: Readings, counted: "Sequence[CountedGeneral]") -> "list[CountedGeneral]":
    """The same of measures that are counted document by document."""
    return [
        one
        if one.per_note is None
        else replace(
            one, per_note=[tuple(row) for row in _by_note(np.array(one.per_note, np.int64), readings).tolist()]
        )
        for one in counted
    ]


def leaks_by_note(
    readings: Readings, question: "LeakQuestion", tables: "Sequence[LeakTable]"
) -> "tuple[LeakQuestion, list[LeakTable]]":
    """Leaks of readings as those of their notes and patients."""
    known: dict[str, int] = {}
    patients = np.array([known.setdefault(unit, len(known)) for unit in readings.notes.roll.units], np.int64)
    owner = np.zeros(len(question.patient_names), np.int64)
    owner[question.patients] = patients[readings.note]

    def by_patient(rows: Mapping[str, Ints] | Mapping[int, Ints]) -> dict[str | int, Ints]:
        return {name: _added(table, owner, len(known)) for name, table in rows.items()}

    found = [
        replace(
            table,
            rows=_added(table.rows, owner, len(known)) if table.by_patient else _by_note(table.rows, readings),
            patients=by_patient(table.patients),
            label_patients=by_patient(table.label_patients),
        )
        for table in tables
    ]
    return replace(question, patients=patients, patient_names=[*known]), found


def _by_note(rows: Ints, readings: Readings) -> Ints:
    return _added(rows, readings.note, len(readings.notes.roll.ids))


def _added(rows: Ints, to: Ints, size: int) -> Ints:
    sums = np.zeros((size, *rows.shape[1:]), np.int64)
    np.add.at(sums, to, rows)
    return sums
