"""Exact order and its numbers: scores are fractions, compared by cross-multiplication, never as floats.

Several measures or data sets make one score by rules that a challenge chooses, in the room ``optional_rules``.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from sandscore.base.removable_rooms import needed_part
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.ranking_rules import MissingRule, Numbering, RankingRules

Score = tuple[Fraction | None, ...] | None
"""One or several exact numbers, compared in order; None is undefined."""
Key = tuple[tuple[bool, Fraction], ...]


def f1_fraction(tp: int, fp: int, fn: int) -> Fraction | None:
    whole = 2 * tp + fp + fn
    return Fraction(2 * tp, whole) if whole else None


def sort_key(score: Score, higher_is_better: bool = True) -> Key:
    """Sorts the best first; what is undefined comes after everybody, in either direction."""
    if score is None:
        return ((True, Fraction(0)),)
    sign = -1 if higher_is_better else 1
    return tuple((part is None, Fraction(0) if part is None else sign * part) for part in score)


def number(keys: Sequence[object], numbering: Numbering) -> list[int | float]:
    """The rank of each of these sorted keys; equal neighbours share one."""
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    out: list[int | float] = []
    for place, (start, stop) in enumerate(pairwise([*starts, len(keys)]), start=1):
        out += [NUMBER[numbering](place, start, stop)] * (stop - start)
    return out


def _average(_place: int, start: int, stop: int) -> int | float:
    doubled = start + 1 + stop
    return doubled / 2 if doubled % 2 else doubled // 2


NUMBER: dict[Numbering, Callable[[int, int, int], int | float]] = {
    "competition": lambda place, start, stop: start + 1,
    "dense": lambda place, start, stop: place,
    "average": _average,
}


Column = list[Fraction | None]


def ranked_by(rules: RankingRules) -> tuple[str, ...]:
    """The measures that decide the order."""
    return (rules.headline,) if rules.aggregation == "headline" else tuple(rules.measures)


def missing_cells(table: ScoreTable, system: int, names: Sequence[str]) -> tuple[str, ...]:
    """What the row must flag: ``measure`` or ``measure @ data set`` without a score."""
    several = len(table.datasets) > 1
    totals = table.totals()[system]
    out = []
    for name in names:
        m = table.measures.index(name)
        for d, dataset in enumerate(table.datasets):
            if not table.scored[system, d, m] or not totals[d, m].any():
                out.append(f"{name} @ {dataset}" if several else name)
    return tuple(out)


def is_plain(rules: RankingRules) -> bool:
    """Whether a board ranks by one measure of all data sets together."""
    return rules.aggregation == "headline" and rules.sites == "pooled"


def exact_scores(table: ScoreTable, rules: RankingRules) -> list[Score]:
    """The exact score of each system; higher is better, None is undefined."""
    if not is_plain(rules):
        joined: list[Score] = needed_part("optional_rules.joined_scores:joined_scores")(table, rules)
        return joined
    return as_scores(pooled_scores(table, table.measures.index(rules.headline), rules.missing))


def pooled_scores(table: ScoreTable, measure: int, missing: MissingRule) -> Column:
    """One measure of every system on all data sets together."""
    scored = table.scored[:, :, measure].tolist()
    totals = table.totals()[:, :, measure].sum(axis=1).tolist()
    enough = all if missing == "strict" else any
    return [f1_fraction(*counts) if enough(there) else None for counts, there in zip(totals, scored, strict=True)]


def as_scores(column: Column) -> list[Score]:
    return [None if score is None else (score,) for score in column]
