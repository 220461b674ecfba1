"""Everything that is computed for a board, before it is written down: order, intervals, tests, stability."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import needed_part
from sandscore.ranking.chosen_rows import (
    chosen_intervals,
    effective_patients,
    expected_scores,
    studentised_intervals,
)
from sandscore.ranking.confidence_intervals import Interval, percentile_intervals
from sandscore.ranking.exact_order import Score, exact_scores, is_plain, number, ranked_by, sort_key
from sandscore.ranking.measure_intervals import all_intervals
from sandscore.ranking.pair_differences import PairDifferences, pair_differences
from sandscore.ranking.pair_tests import PairTests, Progress, rank_sets, run_tests, testable_pairs, tie_groups
from sandscore.ranking.rank_agreement import Agreement, agreement
from sandscore.ranking.resampling import ROWS, Floats, Sums, f1_of_sums, pooled, scores_of_replicates
from sandscore.ranking.score_table import MeasureScale, ScoreTable
from sandscore.records.ranking_rules import MissingRule, RankingRules

CREATED = "created"


class Standing(Struct, frozen=True, eq=False):
    """Systems are numbers in the table; ``order`` is best first. Estimates and intervals are as they are shown."""

    order: tuple[int, ...]
    ranks: dict[int, int | float]
    scores: list[Score]
    estimates: Floats
    score_intervals: list[Interval]
    chosen: list[Interval]
    expected: list[float | None]
    effective: float | None
    intervals: dict[tuple[int, int], Interval]
    tested: PairTests
    sets: dict[int, tuple[int, int]]
    groups: dict[int, int]
    agreement: Agreement
    differences: PairDifferences


def stand(table: ScoreTable, rules: RankingRules, seed: int, progress: Progress = lambda _: None) -> Standing:
    """Rank the systems of a table by these rules."""
    refuse_unknown_measures(table, rules)
    scores = exact_scores(table, rules)
    scored = [score is not None for score in scores]
    exact = sorted(range(len(scores)), key=lambda s: (sort_key(scores[s]), table.systems[s]))
    replicates = replicate_scores(table, rules, seed)
    estimates = estimates_of(scores)
    tested = run_tests(table, rules, seed, testable_pairs(table, rules, scored), replicates, estimates, progress)
    published = number([sort_key(scores[s]) for s in exact], "average")
    places = [place for _, place in sorted(zip(exact, published, strict=True))]
    agreed = agreement(replicates, places)
    groups = tie_groups(exact, scored, rules.tie_rule, tested, agreed.wins, rules.resamples)
    order, ranks = arranged(table, rules, scores, groups)
    place = table.measures.index(rules.headline)
    effective, scale = effective_patients(table.annotations(place)), score_scale(table, rules)
    bounded, allowed = scale.bounded, None if ranks_decide(rules) else effective
    chosen = chosen_intervals(estimates, replicates, allowed, bounded) if allowed else [None] * len(scores)
    expected = expected_scores(estimates, replicates) if allowed else [None] * len(scores)
    own = score_intervals(estimates, replicates, rules, effective, bounded)
    return Standing(
        tuple(order),
        ranks,
        scores,
        shown_estimates(table, rules, scores),
        [scale.shown_interval(interval) for interval in own],
        [scale.shown_interval(interval) for interval in chosen],
        [None if score is None else scale.shown(score) for score in expected],
        effective,
        all_intervals(table, seed, rules.interval, rules.resamples),
        tested,
        rank_sets([s for s in exact if scored[s]], tested),
        groups,
        agreed,
        pair_differences(table, rules, order, replicates, turned=scale.lower),
    )


def replicate_scores(table: ScoreTable, rules: RankingRules, seed: int, rows: int = ROWS) -> Floats:
    """(systems, replicates): what the board ranks by, recomputed on every resample."""
    measures = [table.measures.index(name) for name in ranked_by(rules)]
    scored = np.moveaxis(table.scored[:, :, measures], 1, 0)
    join = None if is_plain(rules) else needed_part("optional_rules.joined_replicates:joined_replicates")

    def score(sums: Sums) -> Floats:
        """(replicates, systems) from (2, replicates, data sets, systems, measures)."""
        scores: Floats = join(sums, scored, rules) if join else pooled_f1(sums, scored, rules.missing)[:, :, 0]
        return scores

    return scores_of_replicates(table, measures, seed, rules.resamples, score, rows)


def pooled_f1(sums: Sums, scored: NDArray[np.bool_], missing: MissingRule) -> Floats:
    """F1 of all data sets together; NaN where too few of them are scored."""
    enough = scored.all(axis=0) if missing == "strict" else scored.any(axis=0)
    joined: Floats = np.where(enough, f1_of_sums(pooled(sums)), np.nan)
    return joined


def arranged(
    table: ScoreTable, rules: RankingRules, scores: list[Score], groups: dict[int, int]
) -> tuple[list[int], dict[int, int | float]]:
    """The systems in the order of their rows, and their ranks."""
    keys = {s: _row_key(table, rules, scores, groups, s) for s in groups}
    order = sorted(groups, key=lambda s: (keys[s], table.systems[s]))
    return order, dict(zip(order, number([keys[s] for s in order], rules.numbering), strict=True))


def ranks_decide(rules: RankingRules) -> bool:
    """Whether the board's score is made of ranks, which have no error of their own that could be allowed for."""
    return rules.aggregation != "headline" or rules.sites == "mean_rank"


def score_scale(table: ScoreTable, rules: RankingRules) -> MeasureScale:
    """Of the score that the board ranks by; more of a score made of ranks is better."""
    if rules.aggregation in {"borda", "mean_rank"} or rules.sites == "mean_rank":
        return MeasureScale(bounded=False)
    return table.scale(table.measures.index(ranked_by(rules)[0]))


def score_intervals(
    estimates: Floats, replicates: Floats, rules: RankingRules, effective: float | None, bounded: bool
) -> list[Interval]:
    """Of the score that the board ranks by; of scores made of ranks, the middle of the draws."""
    if rules.interval != "percentile_t" or effective is None or ranks_decide(rules):
        return percentile_intervals(replicates)
    return studentised_intervals(estimates, replicates, effective, bounded)


def refuse_unknown_measures(table: ScoreTable, rules: RankingRules) -> None:
    named = [rules.headline, *rules.measures, *(name for name in rules.tie_break if name != CREATED)]
    for name in named:
        if name not in table.measures:
            raise UsageFault(f"no card can be ranked by '{name}'; the cards have {', '.join(table.measures)}")


def shown_estimates(table: ScoreTable, rules: RankingRules, scores: Sequence[Score]) -> Floats:
    """The same in the measure's own direction."""
    scale = score_scale(table, rules)
    return np.array([scale.shown(float(estimate)) for estimate in estimates_of(scores)])


def estimates_of(scores: Sequence[Score]) -> Floats:
    """The scores as floats; ranks of a lexicographic board are only an order, its first measure is the score."""
    return np.array([float("nan") if score is None or score[0] is None else float(score[0]) for score in scores])


def _row_key(
    table: ScoreTable, rules: RankingRules, scores: list[Score], groups: dict[int, int], system: int
) -> tuple[object, ...]:
    """Sorts rows: by exact score, or by tie group and then by the measures that break ties."""
    exact = sort_key(scores[system])
    if not rules.tie_break:
        return (exact,)
    return (groups[system], *(_breaker(table, rules, name, system) for name in rules.tie_break), exact)


def _breaker(table: ScoreTable, rules: RankingRules, name: str, system: int) -> object:
    if name == CREATED:
        times = [entry.card.created for _, entry in table.entries(table.systems[system])]
        return (None in times, max((time or "" for time in times), default=""))
    only = RankingRules(headline=name, sites=rules.sites, missing=rules.missing)
    return sort_key(exact_scores(table, only)[system])


def ranked_measure_names(rules: RankingRules) -> tuple[str, ...]:
    """What the order rests on."""
    return tuple(dict.fromkeys((*ranked_by(rules), *(name for name in rules.tie_break if name != CREATED))))
