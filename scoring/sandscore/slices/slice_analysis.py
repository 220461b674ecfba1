"""Counted slices to what a card says of them: scores with simultaneous intervals, and which slice is the worst."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints
from sandscore.ranking.resampling import seed_of
from sandscore.records.group_scores import Slice, SliceScore, SliceTable
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.scoring_flow import Scored
from sandscore.slices.patient_shares import rows_by_patient, shares_by_patient, table_by_patient
from sandscore.slices.simultaneous import LEVEL, RESAMPLES, GroupInterval, group_intervals, shares
from sandscore.slices.slice_counts import CountedSlices, Pairs, count_slices

FEW_PATIENTS = 10
"""A slice with gold of fewer patients is named, and no more is said of it."""


def with_slices(scored: Scored) -> Scorecard:
    """The card with the slices that were asked for."""
    card, question = scored.card, scored.question
    if question is None or not question.slices:
        return card
    counted = count_slices(question, scored.loaded, scored.notes)
    return card.model_copy(update={"slices": {one.slicing.name: _slice_table(card, one) for one in counted}})


def slices_again(card: Scorecard, name: str) -> SliceTable | None:
    """The slices of a card, made from its counts by patient; None where it has none of these."""
    said = card.slices[name]
    told = {group: one for group, one in said.slices.items() if not one.too_few}
    if any(not one.per_unit for one in told.values()):
        return None
    found = {measure: shares_by_patient(card, measure, card, recall=measure in said.recalls) for measure in said.whole}
    whole = {measure: table for measure, table in found.items() if table is not None}
    tables = {
        group: {measure: table_by_patient(card, one.per_unit, measure) for measure in whole}
        for group, one in told.items()
    }
    lower = {measure for measure in whole if getattr(card.measures[measure], "direction", None) == "lower"}
    made = _judged(whole, tables, lower, int(said.seed, 16))
    slices = {
        group: one if one.too_few else one.model_copy(update={"measures": made.slices[group]})
        for group, one in said.slices.items()
    }
    return said.model_copy(update={"whole": made.whole, "slices": slices, "worst": made.worst})


class _Judged(Struct, frozen=True):
    """The scores of all notes and of each slice, and by measure the worst slice."""

    whole: dict[str, SliceScore]
    slices: dict[str, dict[str, SliceScore]]
    worst: dict[str, str]


def _judged(whole: Pairs, slices: Mapping[str, Pairs], lower: Collection[str], seed: int) -> _Judged:
    """Slices that are told, in their order."""
    found = _Judged({}, {group: {} for group in slices}, {})
    for name, all_notes in whole.items():
        rows = [tables[name] for tables in slices.values()]
        intervals = _measured([*rows, all_notes], seed)
        found.whole[name] = _score(all_notes, GroupInterval(_value(all_notes), None, None, None))
        for group, row, interval in zip(slices, rows, intervals, strict=True):
            found.slices[group][name] = _score(row, interval)
        ranked = [(score, group) for group in slices if (score := found.slices[group][name].value) is not None]
        if ranked:
            side = max if name in lower else min
            found.worst[name] = side(ranked, key=lambda one: one[0])[1]
    return found


def _slice_table(card: Scorecard, counted: CountedSlices) -> SliceTable:
    """Every measure in every slice; the seed follows from the gold and the name of the slices."""
    by = counted.slicing
    gold = next((part for part in card.signature.split("|") if part.startswith("gold:")), "")
    seed = seed_of("slices", by.name, gold, by.sha256 or "")
    patients = [int(np.count_nonzero(row)) for row in counted.gold]
    tables = {
        group: {name: counted.slices[number][name] for name in counted.whole}
        for number, group in enumerate(by.groups)
        if patients[number] >= FEW_PATIENTS
    }
    made = _judged(counted.whole, tables, counted.lower, seed)
    slices = {
        group: Slice(
            notes=counted.notes[number],
            patients=patients[number],
            too_few=group not in tables,
            measures=made.slices.get(group, {}),
            per_unit=rows_by_patient(card, tables.get(group, {})),
        )
        for number, group in enumerate(by.groups)
    }
    return SliceTable(
        of="mentions" if by.of_mentions else "notes",
        sha256=by.sha256,
        unit="patients" if counted.grouped else "notes",
        seed=f"0x{seed:016x}",
        resamples=RESAMPLES,
        level=LEVEL,
        whole=made.whole,
        recalls=counted.recalls,
        slices=slices,
        worst=made.worst,
    )


def _measured(rows: Sequence[Ints], seed: int) -> list[GroupInterval]:
    """Each slice beside all notes, which are the last row."""
    n, of = (np.stack([row[:, at] for row in rows]) for at in (0, 1))
    return group_intervals(n, of, seed) if len(rows) > 1 else []


def _value(row: Ints) -> float | None:
    share = float(shares(row[None, :, 0], row[None, :, 1])[0])
    return None if np.isnan(share) else share


def _score(row: Ints, told: GroupInterval) -> SliceScore:
    n, of = (int(number) for number in row.sum(axis=0))
    return SliceScore(n=n, of=of, value=told.value, ci=told.ci, gap=told.gap, gap_ci=told.gap_ci)
