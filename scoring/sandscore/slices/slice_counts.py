"""Every measure in every slice, counted patient by patient: ``n`` of ``of``, whole numbers.

A slice of notes has the measures of those notes. A slice of gold annotations has what each measure says of gold: shares
of what leaks, and the recall of what is counted in tp, fp and fn; a prediction that hits nothing is in no slice. Gold
is restricted before it is counted, predictions stay whole.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Columns, Ints, Mask, Tokens
from sandscore.annotations.input_files import Loaded
from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import UsageFault
from sandscore.leaks.identifier_classes import classes_of
from sandscore.leaks.leak_totals import LeakQuestion, leak_plans, leak_question
from sandscore.measures.dataset_counts import measured
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_registry import MEASURES, document_measure, measures_for
from sandscore.measures.measure_syntax import Named
from sandscore.records.formula import F1, parse_formula
from sandscore.scoring.card_building import Question
from sandscore.slices.slice_files import MOST_GROUPS
from sandscore.slices.slice_rules import Slicing, slicing
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.span_measures.document_counts import CountedGeneral

Pairs = Mapping[str, Ints]
"""By measure: n and of, a row a patient."""


class CountedSlices(Struct, frozen=True):
    """What each slice of one kind holds, and all notes together; ``lower``: measures of which less is better.

    Every slice has the measures of the whole, of which nothing is counted where one is undefined in it."""

    slicing: Slicing
    whole: Pairs
    slices: tuple[Pairs, ...]
    notes: tuple[int, ...]
    gold: Ints
    """Gold annotations by slice and patient."""
    grouped: bool
    """Whether notes have patients."""
    recalls: tuple[str, ...]
    lower: frozenset[str]


class _Asked(Struct, frozen=True):
    """The measures, sorted by how they are counted."""

    task: Task
    hipaa: HipaaMap | None
    columnar: list[Named]
    general: list[Named]
    leaks: LeakQuestion | None


def count_slices(question: Question, loaded: Loaded, notes: InputFile | None) -> tuple[CountedSlices, ...]:
    """All slices that were asked for."""
    asked = _asked(question, loaded)
    numbers: dict[str, int] = {}
    patients = np.array([numbers.setdefault(unit, len(numbers)) for unit in loaded.dataset.roll.units], np.int64)
    return tuple(
        _counted(slicing(name, loaded, notes), asked, loaded, patients) for name in dict.fromkeys(question.slices)
    )


def _asked(question: Question, loaded: Loaded) -> _Asked:
    wanted = measures_for(question.task, question.measures)
    general = [measure for measure in wanted if document_measure(measure.name) is not None]
    leaks = [measure for measure in wanted if MEASURES.find(measure.name).of_positions]
    columnar = [measure for measure in wanted if measure not in general and measure not in leaks]
    hipaa = question.hipaa if question.task.hipaa else None
    rules = question.rules or classes_of(question.task, question.classes, question.hipaa)
    told = leak_question(leak_plans(leaks, loaded), loaded, rules) if leaks else None
    return _Asked(question.task, hipaa, columnar, general, told)


def _counted(by: Slicing, asked: _Asked, loaded: Loaded, patients: Ints) -> CountedSlices:
    if not by.groups:
        raise UsageFault(f"slices by {by.name}: there is nothing to slice")
    if len(by.groups) > MOST_GROUPS:
        raise UsageFault(f"slices by {by.name}: {len(by.groups):,} groups, where at most {MOST_GROUPS} are told")
    gold = loaded.columns["gold"]
    note_group = by.codes if not by.of_mentions else None
    mention_group = by.codes if note_group is None else note_group[gold.note]
    counter = _Counter(asked, loaded, patients, by.of_mentions)
    slices, notes = [], []
    people = int(patients.max(initial=-1)) + 1
    annotations = np.zeros((len(by.groups), people), np.int64)
    for code in range(len(by.groups)):
        rows = mention_group == code
        np.add.at(annotations[code], patients[gold.note[rows]], 1)
        there = note_group == code if note_group is not None else None
        slices.append(counter.pairs(rows, there))
        notes.append(len({*gold.note[rows].tolist()}) if there is None else int(there.sum()))
    whole = {name: rows for name, rows in counter.pairs(np.ones(len(gold), bool), None).items() if _is_share(rows)}
    grouped = any(patient is not None for patient in loaded.dataset.roll.patients)
    recalls = tuple(name for name in whole if name in counter.recalls)
    lower = frozenset(counter.lower)
    nothing = np.zeros((people, 2), np.int64)
    each = tuple({name: rows.get(name, nothing) for name in whole} for rows in slices)
    return CountedSlices(by, whole, each, tuple(notes), annotations, grouped, recalls, lower)


def _is_share(rows: Ints) -> bool:
    return bool((rows[:, 0] <= rows[:, 1]).all())


class _Counter:
    """Counts some of a data set."""

    def __init__(self, asked: _Asked, loaded: Loaded, patients: Ints, of_mentions: bool) -> None:
        self._asked, self._loaded, self._patients, self._of_mentions = asked, loaded, patients, of_mentions
        self._people = int(patients.max(initial=-1)) + 1
        self.recalls: set[str] = set()
        self.lower: set[str] = set()

    def pairs(self, gold: Mask, notes: Mask | None) -> Pairs:
        """Of these gold annotations and, where ``notes`` says which, of these notes alone."""
        columns = dict(self._loaded.columns)
        columns["gold"] = picked(columns["gold"], gold)
        if notes is not None:
            note = columns["predictions"].note
            columns["predictions"] = picked(columns["predictions"], (note >= 0) & notes[note])
        some = replace(self._loaded, columns=columns)
        found: dict[str, Ints] = {}
        for name, rows, by_patient in self._counted(some):
            if by_patient:
                found[name] = rows
            else:
                kept = rows if notes is None else np.where(notes[:, None], rows, 0)
                sums = np.zeros((self._people, 2), np.int64)
                np.add.at(sums, self._patients, kept)
                found[name] = sums
        return found

    def _counted(self, some: Loaded) -> Iterator[tuple[str, Ints, bool]]:
        """Measure by measure n and of: a row a note or, where the value says so, a row a patient."""
        asked = self._asked
        whole = measured(asked.task, some, asked.columnar, asked.hipaa, 1, asked.leaks)
        for one in whole.counted:
            if one.reason is None:
                yield str(one.measure), self._ratio(str(one.measure), one.per_note, F1), False
        if asked.general:
            from sandscore.span_measures.document_counts import count_general

            for told in count_general(asked.general, some):
                yield from self._general(told)
        for table in whole.leaks:
            if self._of_mentions and not table.plan.row.grouped:
                continue
            if table.rows.shape[1] == 2:
                if table.plan.row.direction == "lower":
                    self.lower.add(table.plan.shown)
                yield table.plan.shown, table.rows, table.by_patient
            elif (formula := table.plan.row.formula_for(table.plan.settings)) is not None:
                yield table.plan.shown, self._ratio(table.plan.shown, table.rows, formula), False

    def _general(self, told: "CountedGeneral") -> Iterator[tuple[str, Ints, bool]]:
        """Where it is made of whole numbers that add up to a share; of gold annotations in tp, fp and fn alone."""
        written = str(told.shown.get("formula") or (F1 if told.in_counts else ""))
        if not told.per_note or not written or (self._of_mentions and not told.in_counts):
            return
        if told.shown.get("direction") == "lower":
            self.lower.add(str(told.measure))
        if parse_formula(written).kind != "sum":
            yield str(told.measure), self._ratio(str(told.measure), np.array(told.per_note, np.int64), written), False

    def _ratio(self, name: str, rows: Ints, written: str) -> Ints:
        """What is divided by what: of gold annotations alone the recall, else what the formula says."""
        if self._of_mentions:
            self.recalls.add(name)
            return np.stack((rows[:, 0], rows[:, 0] + rows[:, 2]), axis=1)
        formula = parse_formula(written)
        columns = dict(zip(formula.components, rows.T, strict=True))
        nothing = np.zeros(len(rows), np.int64)
        parts = (
            sum((weight * columns[name] for name, weight in part), nothing) for part in (formula.above, formula.below)
        )
        return np.stack([*parts], axis=1)


def picked(columns: Columns, kept: Mask) -> Columns:
    """Some rows, with all that belongs to them."""
    rows = np.flatnonzero(kept)
    text, entity = (None if one is None else one[rows] for one in (columns.text, columns.entity))
    return Columns(
        columns.note[rows],
        columns.start[rows],
        columns.length[rows],
        columns.label[rows],
        columns.confidence[rows],
        text,
        None if columns.tokens is None else _picked_tokens(columns.tokens, rows),
        entity,
    )


def _picked_tokens(tokens: Tokens, rows: Ints) -> Tokens:
    words = tokens.words.astype(np.int64)
    first = np.cumsum(words) - words
    sizes = words[rows]
    ends = np.cumsum(sizes)
    which = np.repeat(first[rows] - (ends - sizes), sizes) + np.arange(int(ends[-1]) if len(ends) else 0)
    return Tokens(tokens.words[rows], tokens.begin[which], tokens.size[which])
