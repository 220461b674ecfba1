"""Shares patient by patient: n and of, as tables with a row a patient and as cards write them."""

from collections.abc import Mapping

import numpy as np

from sandscore.annotations.columns import Ints
from sandscore.ranking.card_reading import formula_of, is_ranked, rows_of
from sandscore.records.formula import F1, parse_formula
from sandscore.records.group_scores import PatientRows
from sandscore.records.scorecard import Scorecard


def patients_of(card: Scorecard) -> dict[str, int]:
    """The patients' numbers, in the order of their first notes."""
    return {unit: number for number, unit in enumerate(dict.fromkeys(card.units.values()))}


def shares_by_patient(scored: Scorecard, name: str, original: Scorecard, *, recall: bool = False) -> Ints | None:
    """What a measure divides, a row a patient in the order of the original; of what is counted in tp, fp and fn the
    recall where that is asked for. None where the measure is no share of whole numbers."""
    score = scored.measures.get(name)
    if score is None or score.reason is not None or not is_ranked(score):
        return None
    formula = formula_of(score) or parse_formula(F1)
    if formula.kind == "sum":
        return None
    numbers = patients_of(original)
    rows = np.zeros((len(numbers), 2), np.int64)
    for unit, row in rows_of(scored, name):
        counts = dict(zip(formula.components, row, strict=True))
        pair = (counts["tp"], counts["tp"] + counts["fn"]) if recall else formula.quotient(counts)
        rows[numbers[unit]] += pair
    return rows if bool((rows[:, 0] <= rows[:, 1]).all()) else None


def rows_by_patient(card: Scorecard, tables: Mapping[str, Ints]) -> PatientRows:
    """Tables as a card writes them, without the patients who add nothing."""
    told: PatientRows = {}
    for unit, at in patients_of(card).items():
        rows = {name: (int(table[at, 0]), int(table[at, 1])) for name, table in tables.items() if table[at].any()}
        if rows:
            told[unit] = rows
    return told


def table_by_patient(card: Scorecard, rows: PatientRows, name: str) -> Ints:
    """The table that was written so; a patient the card does not know is left out."""
    numbers = patients_of(card)
    table = np.zeros((len(numbers), 2), np.int64)
    for unit, of in rows.items():
        if unit in numbers and name in of:
            table[numbers[unit]] = of[name]
    return table
