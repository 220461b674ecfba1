"""From cells (data set by measure) to one exact score a system: over sites first, then over measures.

A missing cell is the worst (``strict``), or left out (``exclude``) and flagged on the row.

Exact order and its numbers: scores are fractions, compared by cross-multiplication, never as floats.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from sandscore.ranking.score_table import ScoreTable
from sandscore.records.ranking_rules import MissingRule, Numbering, RankingRules, SiteRule

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


def mean_ranks(scores: Sequence[Fraction | None]) -> list[Fraction | None]:
    """Average rank from 1, best first; None where there is no score."""
    defined = [score for score in scores if score is not None]
    out: list[Fraction | None] = []
    for score in scores:
        if score is None:
            out.append(None)
            continue
        better = sum(other > score for other in defined)
        equal = sum(other == score for other in defined)
        out.append(Fraction(2 * better + equal + 1, 2))
    return out


Column = list[Fraction | None]


def exact_scores(table: ScoreTable, rules: RankingRules) -> list[Score]:
    """The exact score of each system; higher is better, None is undefined."""
    names = ranked_by(rules)
    columns = [site_scores(table, table.measures.index(name), rules.sites, rules.missing) for name in names]
    return MEASURES[rules.aggregation](columns, list(weights_of(rules)), rules.missing)


def ranked_by(rules: RankingRules) -> tuple[str, ...]:
    """The measures that decide the order."""
    return (rules.headline,) if rules.aggregation == "headline" else tuple(rules.measures)


def weights_of(rules: RankingRules) -> tuple[float, ...]:
    return (1.0,) if rules.aggregation == "headline" else tuple(rules.measures.values())


def site_scores(table: ScoreTable, measure: int, rule: SiteRule, missing: MissingRule) -> Column:
    """One measure of every system, its data sets joined by the rule; higher is better."""
    return SITES[rule](table, measure, missing)


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


def _cells(table: ScoreTable, measure: int) -> list[Column]:
    """For each data set the F1 of each system."""
    scored = table.scored[:, :, measure].tolist()
    totals = table.totals()[:, :, measure].tolist()
    return [
        [f1_fraction(*counts[d]) if there[d] else None for counts, there in zip(totals, scored, strict=True)]
        for d in range(len(table.datasets))
    ]


def _pooled(table: ScoreTable, measure: int, missing: MissingRule) -> Column:
    scored = table.scored[:, :, measure].tolist()
    totals = table.totals()[:, :, measure].sum(axis=1).tolist()
    enough = all if missing == "strict" else any
    return [f1_fraction(*counts) if enough(there) else None for counts, there in zip(totals, scored, strict=True)]


def _macro(table: ScoreTable, measure: int, missing: MissingRule) -> Column:
    out: Column = []
    for row in zip(*_cells(table, measure), strict=True):
        there = [cell for cell in row if cell is not None]
        complete = len(there) == len(row) or (missing == "exclude" and there)
        out.append(sum(there, Fraction(0)) / len(there) if complete else None)
    return out


def _mean_rank_of_sites(table: ScoreTable, measure: int, missing: MissingRule) -> Column:
    return _mean_rank(_cells(table, measure), [Fraction(1)] * len(table.datasets), missing)


def _mean_rank(columns: Sequence[Column], weights: Sequence[Fraction], missing: MissingRule) -> Column:
    """Minus the weighted mean rank; a system without any cell is undefined."""
    ranks = [mean_ranks(column) for column in columns]
    out: Column = []
    for s, cells in enumerate(zip(*columns, strict=True)):
        worst = Fraction(len(columns[0])) if missing == "strict" else None
        row = [(rank[s] or worst, weight) for rank, weight in zip(ranks, weights, strict=True)]
        kept = [(place, weight) for place, weight in row if place is not None]
        total = sum((weight for _, weight in kept), Fraction(0))
        spread = sum((place * weight for place, weight in kept), Fraction(0))
        out.append(-spread / total if any(cell is not None for cell in cells) else None)
    return out


def _borda(columns: Sequence[Column], weights: Sequence[Fraction], missing: MissingRule) -> Column:
    """Weighted points, one for each system beaten, half for a tie; left-out cells count as the mean of the others."""
    ranks = _mean_rank(columns, weights, missing)
    whole = sum(weights, Fraction(0))
    return [None if rank is None else whole * (len(columns[0]) + rank) for rank in ranks]


def _scores(column: Column) -> list[Score]:
    return [None if score is None else (score,) for score in column]


def _in_order(columns: Sequence[Column], _weights: object, _missing: object) -> list[Score]:
    return [None if row[0] is None else tuple(row) for row in zip(*columns, strict=True)]


def _weighted(
    combine: Callable[[Sequence[Column], Sequence[Fraction], MissingRule], Column],
) -> Callable[[Sequence[Column], Sequence[float], MissingRule], list[Score]]:
    return lambda columns, weights, missing: _scores(
        combine(columns, [Fraction(weight) for weight in weights], missing)
    )


SITES: dict[SiteRule, Callable[[ScoreTable, int, MissingRule], Column]] = {
    "pooled": _pooled,
    "macro": _macro,
    "mean_rank": _mean_rank_of_sites,
}
MEASURES: dict[str, Callable[[Sequence[Column], Sequence[float], MissingRule], list[Score]]] = {
    "headline": lambda columns, _weights, _missing: _scores(columns[0]),
    "lexicographic": _in_order,
    "borda": _weighted(_borda),
    "mean_rank": _weighted(_mean_rank),
}


def leader_by_site_rule(table: ScoreTable, measure: int, missing: MissingRule) -> dict[str, str]:
    """Who leads under each way of joining data sets: readers should know when the ways disagree."""
    leaders: dict[str, str] = {}
    for rule in SITES:
        scores = _scores(site_scores(table, measure, rule, missing))
        leaders[rule] = min(zip(map(sort_key, scores), table.systems, strict=True))[1]
    return leaders
