"""Several measures or data sets as one exact score of a system: over data sets first, then over measures.

A missing cell is the worst (``strict``), or left out (``exclude``) and flagged on the row.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from sandscore.ranking.exact_order import Column, Score, as_scores, f1_fraction, pooled_scores, ranked_by, sort_key
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.ranking_rules import MissingRule, RankingRules, SiteRule


def joined_scores(table: ScoreTable, rules: RankingRules) -> list[Score]:
    """The exact score of each system; higher is better, None is undefined."""
    names = ranked_by(rules)
    columns = [site_scores(table, table.measures.index(name), rules.sites, rules.missing) for name in names]
    return MEASURES[rules.aggregation](columns, [*weights_of(rules)], rules.missing)


def weights_of(rules: RankingRules) -> tuple[float, ...]:
    return (1.0,) if rules.aggregation == "headline" else tuple(rules.measures.values())


def site_scores(table: ScoreTable, measure: int, rule: SiteRule, missing: MissingRule) -> Column:
    """One measure of every system, its data sets joined by the rule; higher is better."""
    return SITES[rule](table, measure, missing)


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


def _cells(table: ScoreTable, measure: int) -> list[Column]:
    """For each data set the F1 of each system."""
    scored = table.scored[:, :, measure].tolist()
    totals = table.totals()[:, :, measure].tolist()
    return [
        [f1_fraction(*counts[d]) if there[d] else None for counts, there in zip(totals, scored, strict=True)]
        for d in range(len(table.datasets))
    ]


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


def _in_order(columns: Sequence[Column], _weights: object, _missing: object) -> list[Score]:
    return [None if row[0] is None else tuple(row) for row in zip(*columns, strict=True)]


def _weighted(
    combine: Callable[[Sequence[Column], Sequence[Fraction], MissingRule], Column],
) -> Callable[[Sequence[Column], Sequence[float], MissingRule], list[Score]]:
    return lambda columns, weights, missing: as_scores(
        combine(columns, [Fraction(weight) for weight in weights], missing)
    )


SITES: dict[SiteRule, Callable[[ScoreTable, int, MissingRule], Column]] = {
    "pooled": pooled_scores,
    "macro": _macro,
    "mean_rank": _mean_rank_of_sites,
}
MEASURES: dict[str, Callable[[Sequence[Column], Sequence[float], MissingRule], list[Score]]] = {
    "headline": lambda columns, _weights, _missing: as_scores(columns[0]),
    "lexicographic": _in_order,
    "borda": _weighted(_borda),
    "mean_rank": _weighted(_mean_rank),
}


def leader_by_site_rule(table: ScoreTable, measure: int, missing: MissingRule) -> dict[str, str]:
    """Who leads under each way of joining data sets: readers should know when the ways disagree."""
    leaders: dict[str, str] = {}
    for rule in SITES:
        scores = as_scores(site_scores(table, measure, rule, missing))
        leaders[rule] = min(zip(map(sort_key, scores), table.systems, strict=True))[1]
    return leaders
