"""Differences of two rows: between which bounds theirs lies, and on how many patients either is better.

The bounds are those that hold 95 % of the differences on the resamples that the board draws anyway, where both rows
always meet the same patients. A patient is won by the row whose own score is better there; nothing to find and nothing
marked is as good as a score can be.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.ranking.confidence_intervals import TAILS, Interval, quantile_interval
from sandscore.ranking.resampling import Floats
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.ranking_rules import RankingRules

Pair = tuple[int, int]
_VALUES = 1 << 22
"""Differences worked on at a time; the results do not depend on it."""


class PairDifferences(Struct, frozen=True):
    """By pair, the row further up first. What is not there is not known, or would say nothing."""

    intervals: dict[Pair, Interval]
    patients: dict[Pair, tuple[int, int, int]]


def pair_differences(
    table: ScoreTable, rules: RankingRules, order: Sequence[int], replicates: Floats, *, turned: bool
) -> PairDifferences:
    """Of rows in this order; ``turned``: the board shows lower scores as better, and so its differences the other way.

    The scores of a lexicographic board are only an order, and those made of ranks or of several measures are of no
    patient.
    """
    intervals = {} if rules.aggregation == "lexicographic" else _intervals(order, -replicates if turned else replicates)
    plain = rules.aggregation == "headline" and rules.sites != "mean_rank"
    return PairDifferences(intervals, _patients(table, table.measures.index(rules.headline), order) if plain else {})


def _intervals(order: Sequence[int], replicates: Floats) -> dict[Pair, Interval]:
    found: dict[Pair, Interval] = {}
    at_once = max(1, _VALUES // max(1, replicates.shape[1]))
    for at, a in enumerate(order):
        for start in range(at + 1, len(order), at_once):
            others = list(order[start : start + at_once])
            for b, interval in zip(others, _between_tails(replicates[a] - replicates[others]), strict=True):
                found[a, b] = interval
    return found


def _between_tails(differences: Floats) -> list[Interval]:
    """Of each line; to the bit what all of it in order would give, of which four places are wanted."""
    if np.isnan(differences).any():
        return [quantile_interval(line, TAILS) for line in differences]
    last = differences.shape[1] - 1
    places = [last * share for share in TAILS]
    wanted = sorted({min(int(place) + more, last) for place in places for more in (0, 1)})
    differences.partition(wanted, axis=1)
    ends = []
    for place in places:
        below = int(place)
        low, high, between = differences[:, below], differences[:, min(below + 1, last)], place - below
        ends.append(low + (high - low) * between if between < 0.5 else high - (high - low) * (1 - between))
    return [(float(low), float(high)) for low, high in zip(*ends, strict=True)]


def _patients(table: ScoreTable, measure: int, order: Sequence[int]) -> dict[Pair, tuple[int, int, int]]:
    """Scores are compared by cross-multiplication: whole numbers, never rounded."""
    counts = table.counts[:, :, measure]
    over, under = 2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]
    whole = np.all(table.scored[:, :, measure], axis=1) & np.any(under, axis=1)
    empty = under == 0
    over, under = np.where(empty, 1, over), np.where(empty, 1, under)
    found: dict[Pair, tuple[int, int, int]] = {}
    for at, a in enumerate(order):
        others = [b for b in order[at + 1 :] if whole[a] and whole[b]]
        ahead, behind = _products(over, under, a, others)
        won, lost = (np.count_nonzero(better, axis=1) for better in (ahead > behind, ahead < behind))
        for b, wins, losses in zip(others, won.tolist(), lost.tolist(), strict=True):
            found[a, b] = (wins, table.units - wins - losses, losses)
    return found


def _products(
    over: NDArray[np.int64], under: NDArray[np.int64], a: int, others: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of one row and each of the others, in whole numbers of any size."""
    small = max(int(np.abs(over).max(initial=0)), int(under.max(initial=0))) < 1 << 31
    top, base = (over, under) if small else (over.astype(object), under.astype(object))
    return top[a] * base[list(others)], top[list(others)] * base[a]
