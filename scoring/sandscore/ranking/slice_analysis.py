"""Counted slices to what a card says of them: scores with simultaneous intervals, and which slice is the worst."""

from collections.abc import Sequence

import numpy as np

from sandscore.annotations.columns import Ints
from sandscore.ranking.resampling import seed_of
from sandscore.ranking.simultaneous import LEVEL, RESAMPLES, GroupInterval, group_intervals, shares
from sandscore.records.group_scores import Slice, SliceScore, SliceTable
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.slice_counts import CountedSlices

FEW_PATIENTS = 10
"""A slice with gold of fewer patients is named, and no more is said of it."""


def with_slices(card: Scorecard, counted: Sequence[CountedSlices]) -> Scorecard:
    """The card with its slices."""
    if not counted:
        return card
    gold = next((part for part in card.signature.split("|") if part.startswith("gold:")), "")
    return card.model_copy(update={"slices": {one.slicing.name: slice_table(one, gold) for one in counted}})


def slice_table(counted: CountedSlices, gold: str) -> SliceTable:
    """Every measure in every slice; the seed follows from the gold and the name of the slices."""
    by = counted.slicing
    seed = seed_of("slices", by.name, gold, by.sha256 or "")
    patients = [int(np.count_nonzero(row)) for row in counted.gold]
    told = [number for number, people in enumerate(patients) if people >= FEW_PATIENTS]
    scores: dict[int, dict[str, SliceScore]] = {number: {} for number in told}
    whole: dict[str, SliceScore] = {}
    worst: dict[str, str] = {}
    for name, all_notes in counted.whole.items():
        rows = [counted.slices[number][name] for number in told]
        found = _measured([*rows, all_notes], seed)
        whole[name] = _score(all_notes, GroupInterval(_value(all_notes), None, None, None))
        for number, row, interval in zip(told, rows, found, strict=True):
            scores[number][name] = _score(row, interval)
        ranked = [(score, number) for number in told if (score := scores[number][name].value) is not None]
        if ranked:
            side = max if name in counted.lower else min
            worst[name] = by.groups[side(ranked, key=lambda one: one[0])[1]]
    slices = {
        group: Slice(
            notes=counted.notes[number],
            patients=patients[number],
            too_few=number not in scores,
            measures=scores.get(number, {}),
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
        whole=whole,
        recalls=counted.recalls,
        slices=slices,
        worst=worst,
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
