"""Leaks of a whole data set: counted with the other measures part by part, added up, and patient by patient.

What is asked for is prepared once: files are read and hashed, labels have classes, notes have patients.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Loaded
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, loads
from sandscore.measures.aligned import Sides
from sandscore.measures.identifier_classes import CLASSES, TaskClasses
from sandscore.measures.leak_measures import (
    ALL,
    CharacterLeak,
    LeakMeasure,
    NoteLeakMeasure,
    OpenMentions,
    UnitLeakMeasure,
    refuse,
)
from sandscore.measures.masked_positions import MaskedCells, MaskedPart
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import Named
from sandscore.measures.text_grids import TextGrid, plain_word

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


class LeakQuestion(Struct, frozen=True):
    """What is asked of all notes; ``classes`` by label, that of no label in front; the patient of each note."""

    plans: tuple[LeakPlan, ...]
    names: list[str]
    classes: Ints
    grouped: bool
    patients: Ints
    patient_names: list[str]


class PartLeaks(Struct, frozen=True):
    """What some notes give to the whole: by measure a row a note, a label and a class; mentions by grid."""

    rows: list[Ints | None]
    labels: list[Ints | None]
    classes: list[Ints | None]
    mentions: dict[str, OpenMentions]
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
    numbers: dict[str, int] = {}
    patients = np.array([numbers.setdefault(unit, len(numbers)) for unit in dataset.units], np.int64)
    return LeakQuestion(plans, names, classes, not unknown, patients, [*numbers])


def count_leaks(question: LeakQuestion, sides: Sides) -> PartLeaks:
    """Every measure over some notes."""
    part = MaskedPart(sides)
    cells: dict[TextGrid, MaskedCells] = {}
    mentions: dict[str, OpenMentions] = {}
    found: list[tuple[Ints | None, Ints | None, Ints | None, Ints | None]] = []
    label = part.mentions.label
    classes = question.classes[label + 1]
    for plan in question.plans:
        on = cells.get(plan.grid) or cells.setdefault(plan.grid, part.on(plan.grid))
        row = plan.row
        if not issubclass(row, NoteLeakMeasure):
            mentions.setdefault(plan.grid.unit, _open(on))
            found.append((None, None, None, None))
            continue
        kept = np.ones(len(label), bool) if plan.only == ALL else classes == CLASSES.index(plan.only)
        group = np.where(kept, part.mentions.note, -1)
        weights = _by_code(plan, question.names)
        if weights is not None and issubclass(row, CharacterLeak):
            found.append((row.weighed(on, np.where(kept, group, -1), weights), None, None, None))
            continue
        weighed = CharacterLeak.weighed(on, group, weights).sum(axis=0) if weights is not None else None
        tables = _grouped(row, on, kept, (label, classes), (len(question.names), len(CLASSES)), plan.settings)
        found.append((row.per_note(on, group, plan.settings), *tables, weighed))
    rows, by_label, by_class, weighed_sums = map(list, zip(*found, strict=True))
    return PartLeaks(rows, by_label, by_class, mentions, weighed_sums)


def _grouped(
    row: type[NoteLeakMeasure],
    on: MaskedCells,
    kept: Any,
    groups: tuple[Ints, Ints],
    sizes: tuple[int, int],
    settings: Any,
) -> tuple[Ints | None, Ints | None]:
    if not row.grouped:
        return None, None
    tables = [
        np.stack(row.tally(on, np.where(kept, group, -1), size, settings), axis=1)
        for group, size in zip(groups, sizes, strict=True)
    ]
    return tables[0], tables[1]


def _by_code(plan: LeakPlan, names: list[str]) -> Ints | None:
    """Weights by label, that of no label in front."""
    if plan.weights is None:
        return None
    return np.array([plan.weights.get("", 0), *(plan.weights.get(name, 0) for name in names)], np.int64)


def _open(cells: MaskedCells) -> OpenMentions:
    which = np.flatnonzero(cells.counted)
    side = cells.part.mentions.take(which)
    nothing = np.zeros(len(which), np.int64)
    entity = nothing if side.entity is None else side.entity
    text = nothing if side.text is None else side.text
    first = cells.part.sides.first
    return OpenMentions(side.note + first, side.start, side.length, side.label, entity, text, cells.leaking[which])


def leak_tables(question: LeakQuestion, parts: Sequence[PartLeaks], dataset: DataSet) -> list[LeakTable]:
    """The parts as one."""
    units = {unit for part in parts for unit in part.mentions}
    mentions = {unit: _all_mentions([part.mentions[unit] for part in parts]) for unit in units}
    tables = []
    for at, plan in enumerate(question.plans):
        row = plan.row
        if issubclass(row, UnitLeakMeasure):
            tables.append(_by_patient(question, plan, row, mentions[plan.grid.unit], dataset))
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
    sums = np.zeros(len(question.patient_names), np.int64)
    np.add.at(sums, question.patients, column)
    return sums


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

    def counted(which: Any) -> Ints:
        group = np.where(which, patient, -1)
        return np.stack(row.tally(told, patient, group, len(question.patient_names), plan.settings), axis=1)

    by_class = {name: counted(kept & (classes == code)) for code, name in enumerate(CLASSES)}
    labels = np.flatnonzero(np.bincount(mentions.label[kept] + 1, minlength=1)[1:]).tolist()
    by_label = {code: counted(kept & (mentions.label == code)) for code in labels}
    rows = counted(kept)
    return LeakTable(
        plan,
        rows,
        True,
        np.array([by_label[code].sum(axis=0) if code in by_label else (0, 0) for code in range(len(question.names))]),
        np.array([by_class[name].sum(axis=0) for name in CLASSES]),
        {ALL: rows} | {name: by_class[name] for name in CLASSES},
        by_label,
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
