"""Leaks as score cards say them: shares with their bounds, by class and label, and their means."""

import math

from sandscore.annotations.columns import Ints
from sandscore.leaks.identifier_classes import CLASSES
from sandscore.leaks.leak_bounds import BOUNDED, LEVEL, bounds_of, exact_upper
from sandscore.leaks.leak_measures import ALL, CharacterF
from sandscore.leaks.leak_totals import LeakQuestion, LeakTable
from sandscore.records.counts import Counts, ratio
from sandscore.records.formula import F1
from sandscore.records.scorecard import AnyScore, GroupRatio, Macro, MeanRatios, MeasureScore, RatioScore


def leak_score(table: LeakTable, question: LeakQuestion, macro: Macro | None) -> AnyScore:
    """One measure of all notes; ``macro`` where it is made of tp, fp and fn."""
    if issubclass(table.plan.row, CharacterF):
        return _f_score(table, table.plan.row, macro)
    n, of = (int(number) for number in table.rows.sum(axis=0))
    wrong, patients = _against(table.patients[ALL], table.plan.row.direction)
    bounds = bounds_of(table.plan.shown, wrong, patients)
    told = RatioScore(
        n=n,
        of=of,
        value=ratio(n, of),
        direction=table.plan.row.direction,
        ci=None,
        bound=bounds["bound"],
        bound_level=bounds["bound_level"],
        by_class=_classes(table) if question.grouped and table.plan.only == ALL else {},
    )
    if table.plan.row.name not in BOUNDED:
        return told.model_copy(update={"means": _means(table)})
    clustered = bounds.get("bound_clustered")
    return told if clustered is None else told.model_copy(update={"bound_clustered": clustered})


def label_rows(table: LeakTable, names: list[str]) -> dict[str, dict[str, int | float | None]]:
    """By label: what of it, and of how much; bounds hold for all labels together."""
    if table.labels is None:
        return {}
    there = [code for code in range(len(names)) if table.labels[code, 1]]
    level = _shared(len(there))
    rows: dict[str, dict[str, int | float | None]] = {}
    for code in there:
        n, of = (int(number) for number in table.labels[code])
        rows[names[code]] = {"n": n, "of": of}
        if table.plan.row.name in BOUNDED and code in table.label_patients:
            rows[names[code]] |= {"bound": _upper(table.label_patients[code], level), "bound_level": level}
    return rows


def unit_rows(tables: list[LeakTable], question: LeakQuestion) -> dict[str, dict[str, tuple[int, ...]]]:
    """By patient, of the measures that do not add up over notes."""
    told = {table.plan.shown: table.rows.tolist() for table in tables if table.by_patient}
    if not told:
        return {}
    return {
        name: {measure: tuple(rows[at]) for measure, rows in told.items()}
        for at, name in enumerate(question.patient_names)
    }


def _f_score(table: LeakTable, row: type[CharacterF], macro: Macro | None) -> MeasureScore:
    tp, fp, fn = (int(number) for number in table.rows.sum(axis=0))
    counts, formula = Counts(tp, fp, fn), row.formula_for(table.plan.settings)
    told = MeasureScore(
        tp=tp,
        fp=fp,
        fn=fn,
        precision=counts.precision,
        recall=counts.recall,
        f1=counts.f1,
        f1_ci=None,
        macro=macro,
    )
    if formula == F1:
        return told
    value = row.value({"tp": tp, "fp": fp, "fn": fn}, table.weighed, table.plan.settings)
    ranked = {} if formula is None else {"formula": formula, "direction": "higher"}
    return told.model_copy(update={"value": value, **ranked})


def _against(rows: Ints, direction: str) -> tuple[list[int], list[int]]:
    """Patient by patient what counts against the submission, and of how much."""
    wrong = rows[:, 0] if direction == "lower" else rows[:, 1] - rows[:, 0]
    return wrong.tolist(), rows[:, 1].tolist()


def _means(table: LeakTable) -> MeanRatios:
    wrong, patients = _against(table.patients[ALL], table.plan.row.direction)
    by_note = None if table.by_patient else table.rows
    notes, notes_of = (None, 0) if by_note is None else _mean(by_note)
    mean, of = _mean(table.patients[ALL])
    there = [k for k, m in zip(wrong, patients, strict=True) if m]
    bounded = table.plan.row.name == "char_leak" and table.plan.weights is None
    bound = exact_upper(sum(k > 0 for k in there), len(there)) if bounded else None
    return MeanRatios(notes=notes, notes_of=notes_of, patients=mean, patients_of=of, patients_bound=bound)


def _mean(rows: Ints) -> tuple[float | None, int]:
    """Over the rows that define the ratio; exact sums, so that the order changes nothing."""
    defined = rows[rows[:, 1] > 0]
    values = (defined[:, 0] / defined[:, 1]).tolist()
    return (math.fsum(values) / len(values) if values else None), len(values)


def _classes(table: LeakTable) -> dict[str, GroupRatio]:
    if table.classes is None:
        return {}
    sums = {name: (int(row[0]), int(row[1])) for name, row in zip(CLASSES, table.classes, strict=True)}
    level = _shared(sum(of > 0 for _, of in sums.values()))
    bounded = table.plan.row.name in BOUNDED and table.by_patient
    return {
        name: GroupRatio(
            n=n,
            of=of,
            value=ratio(n, of),
            bound=_upper(table.patients[name], level) if bounded else None,
            bound_level=level if bounded and of else None,
        )
        for name, (n, of) in sums.items()
    }


def _upper(rows: Ints, level: float) -> float | None:
    """Of patients, each of whom leaks where anybody's gold says so."""
    return exact_upper(int((rows[:, 0] > 0).sum()), int((rows[:, 1] > 0).sum()), level)


def _shared(claims: int) -> float:
    """The level of each of several bounds that hold together, after Bonferroni."""
    return 1 - (1 - LEVEL) / max(1, claims)
