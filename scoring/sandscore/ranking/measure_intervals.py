"""The intervals of measures over patients, of a whole table or of one card.

They need no rules that were read, and nothing else of a board: beside a card they are to cost little.
"""

from collections.abc import Sequence

from sandscore.base.removable_rooms import needed_part
from sandscore.ranking.card_reading import RankedCard, ranked_measures
from sandscore.ranking.chosen_rows import effective_patients, studentised_intervals
from sandscore.ranking.confidence_intervals import Interval, percentile_intervals
from sandscore.ranking.resampling import Floats, f1_replicates, seed_of
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.records.interval_rules import INTERVAL, RESAMPLES, IntervalKind
from sandscore.records.scorecard import Scorecard

BLOCK_VALUES = 32_000_000
"""Replicates held at a time (256 MB of doubles): more measures are taken in turns, with the same draws."""


def card_intervals(card: Scorecard, headline: str) -> dict[str, Interval]:
    """The interval of every measure with counts, as on the board of this one card under that headline."""
    if not card.per_note or not ranked_measures(card):
        return {}
    entry = RankedCard.compared(card, "a", "the card")
    table = tabulate([entry])
    intervals = all_intervals(table, seed_of("", "", entry.signed("gold:") or "", headline))
    return {name: intervals[0, place] for place, name in enumerate(table.measures)}


def all_intervals(
    table: ScoreTable, seed: int, kind: IntervalKind = INTERVAL, resamples: int = RESAMPLES
) -> dict[tuple[int, int], Interval]:
    """The interval of every system's every measure, by (system, measure)."""
    systems, out = len(table.systems), {}
    at_once = max(1, BLOCK_VALUES // (systems * resamples))
    for start in range(0, len(table.measures), at_once):
        measures = list(range(start, min(start + at_once, len(table.measures))))
        replicates = f1_replicates(table, measures, seed, resamples)
        for at, measure in enumerate(measures):
            for system, interval in enumerate(_intervals(table, kind, measure, replicates[:, at])):
                shown = table.scale(measure).shown_interval(interval)
                told = table.scored[system, :, measure].any() and not table.has_few(system, measure)
                out[system, measure] = shown if told else None
    return out


def _intervals(table: ScoreTable, kind: IntervalKind, measure: int, replicates: Floats) -> Sequence[Interval]:
    if kind == "bca":
        found: list[Interval] = needed_part("optional_rules.bca_intervals:bca_intervals")(table, measure, replicates)
        return found
    effective = effective_patients(table.annotations(measure))
    if kind == "percentile" or effective is None:
        return percentile_intervals(replicates)
    return studentised_intervals(table.pooled_scores(measure), replicates, effective, table.scale(measure).bounded)
