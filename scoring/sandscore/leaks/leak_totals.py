"""Leaks of a whole data set: counted with the other measures part by part, added up, and patient by patient.

What is asked for is prepared once: files are read and hashed, labels have classes, notes have patients.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import count
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.note_texts import NoteTexts
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, loads
from sandscore.leaks.identifier_classes import CLASSES, TaskClasses
from sandscore.leaks.leak_measures import (
    ALL,
    CharacterLeak,
    LeakMeasure,
    NoteLeakMeasure,
    OpenMentions,
    UnitLeakMeasure,
    refuse,
    summed,
)
from sandscore.leaks.masked_positions import MaskedCells, MaskedPart
from sandscore.leaks.open_rows import ColumnOpen, OpenPart, OpenRows
from sandscore.leaks.text_grids import TextGrid, plain_word
from sandscore.measures.aligned import Sides
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import Named

_SHOWN_OF_HASH = 12
_HEAVIEST = 1_000_000


class LeakPlan(Struct, frozen=True):
    """One measure that was asked for; ``shown`` as cards name it, files by their hashes."""

    shown: str
    row: type[LeakMeasure]
    settings: dict[str, Any]
    weights: dict[str, int] | None = None
    words: frozenset[str] | None = None

    @property
    def grid(self) -> TextGrid:
        return self.row.grid(self.settings, self.words)

    @property
    def only(self) -> str:
        """The class whose mentions count."""
        row = self.row
        return row.restricted(self.settings) if issubclass(row, UnitLeakMeasure) else self.settings.get("class", ALL)

    @property
    def by_entity(self) -> str | None:
        """How entities are told apart, where they matter."""
        matters = self.settings.get("quasi", 1) if "by" in self.settings else 0
        return str(self.settings["by"]) if matters and (self.row.name == "entity_leak" or matters > 1) else None

    @property
    def mentions(self) -> tuple[str, bool]:
        """Which mentions it counts: in what cells, and whether each for itself or by note and label."""
        return self.grid.unit, self.by_entity is not None


class LeakQuestion(Struct, frozen=True):
    """What is asked of all notes; ``classes`` by label, that of no label in front; the patient of each note."""

    plans: tuple[LeakPlan, ...]
    names: list[str]
    classes: Ints
    grouped: bool
    patients: Ints
    patient_names: list[str]
    texts: NoteTexts | None

    @property
    def on_columns(self) -> bool:
        """Whether the kernel cannot tell all of it."""
        return not all(map(_told, self.plans))

    @property
    def rooms(self) -> Callable[..., Any] | None:
        """Where the kernel can tell some of it, which asks for them."""
        from sandscore.leaks.kernel_open import OpenRooms

        return partial(OpenRooms, self.classes) if any(map(_told, self.plans)) else None

    def part(self, sides: Callable[[], Sides], border: tuple[int, int], told: OpenPart | None = None) -> "PartLeaks":
        """What some notes give to the whole; columns are made of them where the kernel has not ``told`` enough."""
        return LeakCount(self, sides, *border, told).all()

    def tables(self, parts: "Sequence[PartLeaks]", loaded: Loaded) -> "list[LeakTable]":
        """The parts as one."""
        return leak_tables(self, parts, loaded.dataset)


def _told(plan: LeakPlan) -> bool:
    """Whether the kernel can tell it."""
    return plan.grid.unit == "chars" and plan.by_entity is None


class PartLeaks(Struct, frozen=True):
    """What some notes give to the whole: by measure a row a note, a label and a class; mentions by grid."""

    rows: list[Ints | None]
    labels: list[Ints | None]
    classes: list[Ints | None]
    mentions: dict[tuple[str, bool], OpenMentions]
    weighed: list[Ints | None]


class LeakTable(Struct, frozen=True):
    """One measure of all notes: a row a note or, where ``by_patient``, a row a patient; sums by label and class."""

    plan: LeakPlan
    rows: Ints
    by_patient: bool
    labels: Ints | None
    classes: Ints | None
    patients: dict[str, Ints]
    """By class and overall (``all``): a row a patient."""
    label_patients: dict[int, Ints]
    weighed: tuple[int, int] | None = None


def leak_plans(measures: Iterable[Named], loaded: Loaded) -> tuple[LeakPlan, ...]:
    """The measures with what their files hold."""
    return tuple(_plan(measure, loaded) for measure in measures)


def _plan(measure: Named, loaded: Loaded) -> LeakPlan:
    row = MEASURES.find(measure.name)
    if not issubclass(row, LeakMeasure):
        raise TypeError(measure.name)
    refuse(measure, row, with_text=loaded.dataset.texts is not None)
    settings: dict[str, Any] = row.settle(measure)
    hashed = dict(measure.settings)
    weights = words = None
    if settings.get("weights"):
        weights, hashed["weights"] = _weights(str(settings["weights"]))
    if settings.get("words"):
        words, hashed["words"] = _words(str(settings["words"]))
    return LeakPlan(str(Named(measure.name, tuple(hashed.items()))), row, settings, weights, words)


def _read(path: str) -> tuple[bytes, str]:
    with opened(path) as source:
        return bytes(source.data), source.sha256()[:_SHOWN_OF_HASH]


def _weights(path: str) -> tuple[dict[str, int], str]:
    raw, digest = _read(path)
    try:
        value: Any = loads(raw)
    except JsonFault as fault:
        raise OrganiserFault(f"{path}: {fault}") from None
    right = isinstance(value, dict) and all(type(one) is int and 0 <= one <= _HEAVIEST for one in value.values())
    if not right:
        raise OrganiserFault(f'{path}: expected whole numbers from 0 by label, as in {{"PATIENT": 10, "DATE": 1}}')
    return value, digest


def _words(path: str) -> tuple[frozenset[str], str]:
    raw, digest = _read(path)
    try:
        written = raw.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise OrganiserFault(f"{path}: not UTF-8") from None
    words = frozenset(map(plain_word, written)) - {""}
    if not words:
        raise OrganiserFault(f"{path}: no word in it; expected one in each line")
    return words, digest


def leak_question(plans: tuple[LeakPlan, ...], loaded: Loaded, rules: TaskClasses) -> LeakQuestion:
    """Everything that is the same for all notes; the organiser's faults are told here."""
    gold, dataset = loaded.columns["gold"], loaded.dataset
    names = list(dataset.vocabulary.names)
    classes = rules.codes(names)
    used = sorted(gold.labels()) + ([-1] if any(bool((piece.label < 0).any()) for _, piece in gold.pieces()) else [])
    unknown = [code for code in used if classes[code + 1] < 0]
    for plan in plans:
        if plan.only != ALL and unknown:
            what = f"the label '{names[unknown[0]]}'" if unknown[0] >= 0 else "annotations without a label"
            raise OrganiserFault(f"{plan.shown} needs a class for {what} of gold: give a map with --class-map")
        if plan.by_entity == "id" and gold.entity is None and len(gold):
            told = Named(plan.row.name, (("by", "text"),))
            raise OrganiserFault(f"{plan.shown} needs gold's entityId, which it has none of; {told} goes by the text")
        lacking = [names[code] for code in used if code >= 0 and plan.weights and names[code] not in plan.weights]
        if lacking:
            raise OrganiserFault(f"{plan.shown} has no weight for the label '{lacking[0]}' of gold")
    units = dataset.roll.units
    numbers = dict(zip(dict.fromkeys(units), count(), strict=False))
    patients = np.fromiter(map(numbers.__getitem__, units), np.int64, len(units))
    return LeakQuestion(plans, names, classes, not unknown, patients, [*numbers], dataset.texts)


class LeakCount:
    """Every measure over some notes; columns are only made of them where the kernel has not told what is asked."""

    def __init__(
        self, question: LeakQuestion, sides: Callable[[], Sides], first: int, last: int, told: OpenPart | None
    ) -> None:
        self._question, self._sides, self._first, self._notes = question, sides, first, last - first
        self._parts: dict[TextGrid, OpenPart] = {} if told is None else {TextGrid("chars"): told}
        self._cells: dict[TextGrid, MaskedCells] = {}

    def all(self) -> PartLeaks:
        found: list[tuple[Ints | None, Ints | None, Ints | None, Ints | None]] = []
        mentions: dict[tuple[str, bool], OpenMentions] = {}
        for plan in self._question.plans:
            if issubclass(plan.row, NoteLeakMeasure):
                found.append(self._by_note(plan, plan.row))
                continue
            found.append((None, None, None, None))
            if plan.mentions not in mentions:
                single = plan.by_entity is not None
                mentions[plan.mentions] = self._mentions(plan.grid) if single else self._labels(plan.grid)
        rows, by_label, by_class, weighed_sums = map(list, zip(*found, strict=True))
        return PartLeaks(rows, by_label, by_class, mentions, weighed_sums)

    def _by_note(
        self, plan: LeakPlan, row: type[NoteLeakMeasure]
    ) -> tuple[Ints, Ints | None, Ints | None, Ints | None]:
        """A row a note; sums by label and class, and of weighed labels."""
        part, weights = self._part(plan.grid), _by_code(plan, self._question.names)
        if weights is not None:
            weighed = CharacterLeak.weighed(self._kept(plan, part.labels), self._notes, weights)
            if issubclass(row, CharacterLeak):
                return weighed, None, None, None
        rows = part.whole
        if plan.only != ALL:
            rows = part.classes.take(part.classes.group == CLASSES.index(plan.only))
        by_note = row.per_note(part, rows, self._totals(plan.grid) if row.needs_text else None, plan.settings)
        sums = None if weights is None else weighed.sum(axis=0)
        if not row.grouped:
            return by_note, None, None, sums
        labels = self._kept(plan, part.labels)
        labels = labels.take(labels.group >= 0)
        classes = rows if plan.only != ALL else part.classes
        by_label, by_class = (
            summed(group.group, row.tally(group, plan.settings), size)
            for group, size in ((labels, len(self._question.names)), (classes, len(CLASSES)))
        )
        return by_note, by_label, by_class, sums

    def _kept(self, plan: LeakPlan, labels: OpenRows) -> OpenRows:
        """Rows of the labels that count."""
        if plan.only == ALL:
            return labels
        return labels.take(self._question.classes[labels.group + 1] == CLASSES.index(plan.only))

    def _part(self, grid: TextGrid) -> OpenPart:
        if grid not in self._parts:
            self._parts[grid] = ColumnOpen(self._on(grid), self._question.classes)
        return self._parts[grid]

    def _on(self, grid: TextGrid) -> MaskedCells:
        return self._cells.get(grid) or self._cells.setdefault(grid, self._columns.on(grid))

    @cached_property
    def _columns(self) -> MaskedPart:
        return MaskedPart(self._sides())

    def _totals(self, grid: TextGrid) -> Ints | None:
        """How many cells each note has, where its text is known."""
        texts = self._question.texts
        return None if texts is None else grid.totals(texts, self._first, self._notes)

    def _labels(self, grid: TextGrid) -> OpenMentions:
        """As if each note had each of its labels once, which is enough for patients."""
        labels = self._part(grid).labels
        labels = labels.take(labels.mentions > 0)
        nothing = np.zeros(len(labels.note), np.int64)
        leaking = labels.leaking > 0
        return OpenMentions(labels.note + self._first, nothing, nothing, labels.group, nothing, nothing, leaking)

    def _mentions(self, grid: TextGrid) -> OpenMentions:
        cells = self._on(grid)
        which = np.flatnonzero(cells.counted)
        side = cells.part.mentions.take(which)
        nothing = np.zeros(len(which), np.int64)
        entity = nothing if side.entity is None else side.entity
        text = nothing if side.text is None else side.text
        note, leaking = side.note + self._first, cells.leaking[which]
        return OpenMentions(note, side.start, side.length, side.label, entity, text, leaking)


def _by_code(plan: LeakPlan, names: list[str]) -> Ints | None:
    """Weights by label, that of no label in front."""
    if plan.weights is None:
        return None
    return np.array([plan.weights.get("", 0), *(plan.weights.get(name, 0) for name in names)], np.int64)


def leak_tables(question: LeakQuestion, parts: Sequence[PartLeaks], dataset: DataSet) -> list[LeakTable]:
    """The parts as one."""
    kinds = {kind for part in parts for kind in part.mentions}
    mentions = {kind: _all_mentions([part.mentions[kind] for part in parts]) for kind in kinds}
    tables = []
    for at, plan in enumerate(question.plans):
        row = plan.row
        if issubclass(row, UnitLeakMeasure):
            tables.append(_by_patient(question, plan, row, mentions[plan.mentions], dataset))
            continue
        rows = np.concatenate([table for part in parts if (table := part.rows[at]) is not None])
        weighed = _summed([part.weighed[at] for part in parts])
        width = rows.shape[1]
        sums = np.stack([_sums(column, question) for column in rows.T], axis=1).reshape(-1, width)
        labels, classes = (_summed([getattr(part, name)[at] for part in parts]) for name in ("labels", "classes"))
        pair = None if weighed is None else (int(weighed[0]), int(weighed[1]))
        tables.append(LeakTable(plan, rows, False, labels, classes, {ALL: sums}, {}, pair))
    return tables


def _sums(column: Ints, question: LeakQuestion) -> Ints:
    return np.bincount(question.patients, weights=column, minlength=len(question.patient_names)).astype(np.int64)


def _summed(tables: list[Ints | None]) -> Ints | None:
    there = [table for table in tables if table is not None]
    return np.sum(there, axis=0) if there else None


def _all_mentions(parts: list[OpenMentions]) -> OpenMentions:
    fields = {name: np.concatenate([getattr(part, name) for part in parts]) for name in OpenMentions.__struct_fields__}
    return OpenMentions(**fields)


def _by_patient(
    question: LeakQuestion, plan: LeakPlan, row: type[UnitLeakMeasure], mentions: OpenMentions, dataset: DataSet
) -> LeakTable:
    """Patient by patient: overall, and by class and label for those who have such mentions."""
    entity = _by_text(mentions, dataset) if plan.by_entity == "text" else mentions.entity
    told = OpenMentions(
        mentions.note, mentions.start, mentions.length, mentions.label, entity, mentions.text, mentions.leaking
    )
    patient = question.patients[mentions.note]
    classes = question.classes[mentions.label + 1]
    kept = np.ones(len(patient), bool) if plan.only == ALL else classes == CLASSES.index(plan.only)

    patients = len(question.patient_names)

    def counted(group: Ints, groups: int) -> Ints:
        """By group a row a patient."""
        each = np.where(kept & (group >= 0), group * patients + patient, -1)
        pair = row.tally(told, patient, each, groups * patients, plan.settings)
        return np.stack(pair, axis=1).astype(np.int64).reshape(groups, patients, 2)

    by_class = counted(classes, len(CLASSES))
    by_label = counted(mentions.label, len(question.names))
    labels = np.flatnonzero(np.bincount(mentions.label[kept] + 1, minlength=1)[1:]).tolist()
    rows = counted(np.zeros_like(patient), 1)[0]
    return LeakTable(
        plan,
        rows,
        True,
        by_label.sum(axis=1),
        by_class.sum(axis=1),
        {ALL: rows} | dict(zip(CLASSES, by_class, strict=True)),
        {code: by_label[code] for code in labels},
    )


def _by_text(mentions: OpenMentions, dataset: DataSet) -> Ints:
    """Mentions of one label that are written alike, but for case and blanks, are one entity."""
    written = list(dataset.interned)
    known: dict[tuple[int, str], int] = {}
    found, last, text = [], -1, ""
    columns = (mentions.note, mentions.start, mentions.length, mentions.label, mentions.text)
    for note, start, length, label, number in zip(*(column.tolist() for column in columns), strict=True):
        if dataset.texts is None:
            words = written[number]
        else:
            if note != last:
                last, text = note, dataset.texts[note]
            words = text[start : start + length]
        key = label, " ".join(words.casefold().split())
        found.append(known.setdefault(key, len(known)))
    return np.array(found, np.int64)
