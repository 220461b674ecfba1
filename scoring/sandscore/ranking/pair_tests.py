"""Tests of all pairs: adjusted p-values, rank sets, tie groups.

The usual test is the stepdown, with step-up p-values beside it (Benjamini & Hochberg 1995); others are in the room
``optional_rules``.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, field

from sandscore.base.removable_rooms import needed_part
from sandscore.ranking.rank_agreement import bayes_factor
from sandscore.ranking.resampling import Floats
from sandscore.ranking.score_table import ScoreTable
from sandscore.ranking.stepdown import DRAWS, stepdown
from sandscore.records.board import Adjustment
from sandscore.records.ranking_rules import RankingRules, TieRule

Pair = tuple[int, int]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted so that the expected share of false separations among all stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i], reverse=True)
    adjusted, so_far = [0.0] * len(p), 1.0
    for step, i in enumerate(order):
        so_far = min(so_far, p[i] * len(p) / (len(p) - step))
        adjusted[i] = so_far
    return adjusted


def draws_for(pairs: int) -> int:
    """Enough draws for Holm to separate that many pairs."""
    return max(DRAWS, 200 * pairs - 1)


ALPHA = 0.05
K_THRESHOLDS: dict[TieRule, float] = {"dream_k3": 3.0, "dream_k19": 19.0}
Progress = Callable[[int], object]


class PairTests(Struct, frozen=True):
    """p and adjusted p of the tested pairs; a pair that could not be tested is not separated."""

    p: dict[Pair, float] = field(default_factory=dict)
    adjusted: dict[Pair, float] = field(default_factory=dict)
    discoveries: dict[Pair, float] = field(default_factory=dict)

    @classmethod
    def of(cls, p: dict[Pair, float], adjusted: dict[Pair, float]) -> "PairTests":
        """Adjusted over all these pairs: as given, and by Benjamini and Hochberg."""
        return cls(p, adjusted, dict(zip(p, benjamini_hochberg([*p.values()]), strict=True)))

    def adjusted_of(self, a: int, b: int) -> float | None:
        return self.adjusted.get((min(a, b), max(a, b)))


def chosen_test(rules: RankingRules) -> str:
    """Rank aggregations depend on everybody, so that swapping two systems is no test of them."""
    by_ranks = rules.aggregation in {"borda", "mean_rank"} or rules.sites == "mean_rank"
    return "paired_bootstrap" if by_ranks else rules.test


def adjustment_of(rules: RankingRules) -> Adjustment:
    """The stepdown, where the tie rule names it and the score is one measure's, which coins can be thrown over."""
    coins_apply = chosen_test(rules) == "randomisation" and rules.aggregation == "headline"
    return "stepdown" if rules.tie_rule == "stepdown" and coins_apply else "holm"


def draws_of(rules: RankingRules, pairs: int) -> int:
    """How many draws the board's test takes."""
    return rules.randomisations or (DRAWS if adjustment_of(rules) == "stepdown" else draws_for(pairs))


def testable_pairs(table: ScoreTable, rules: RankingRules, scored: Sequence[bool]) -> list[Pair]:
    """Pairs of systems with a score; with a missing cell left out, two scores are not of the same patients."""
    there = table.scored[:, :, table.measures.index(rules.headline)]
    complete = [
        ok and (chosen_test(rules) == "paired_bootstrap" or bool(there[s].all())) for s, ok in enumerate(scored)
    ]
    able = [s for s, ok in enumerate(complete) if ok]
    return [(a, b) for at, a in enumerate(able) for b in able[at + 1 :]]


def run_tests(
    table: ScoreTable,
    rules: RankingRules,
    seed: int,
    pairs: list[Pair],
    replicates: Floats,
    estimates: Floats,
    progress: Progress,
) -> PairTests:
    """Every pair tested on the score the board ranks by."""
    if not pairs:
        return PairTests()
    if adjustment_of(rules) != "stepdown":
        tested = needed_part("optional_rules.pair_p_values:pairs_tested")
        made: PairTests = tested(table, rules, seed, pairs, replicates, estimates, progress)
        return made
    counts = table.counts[:, :, table.measures.index(rules.headline)]
    found = stepdown(counts, tested_blocks(table, rules), pairs, seed, draws_of(rules, len(pairs)), progress)
    return PairTests.of(found.p, found.adjusted)


def tested_blocks(table: ScoreTable, rules: RankingRules) -> Sequence[slice]:
    """The units whose scores are averaged: each data set's, or all together."""
    return table.blocks if rules.sites == "macro" else [slice(0, table.units)]


def rank_sets(order: Sequence[int], tested: PairTests) -> dict[int, tuple[int, int]]:
    """For each scored system (in order, best first) the places it may have."""
    place = {system: at for at, system in enumerate(order)}
    better, worse = dict.fromkeys(order, 0), dict.fromkeys(order, 0)
    for (a, b), p in tested.adjusted.items():
        if p <= ALPHA:
            winner, loser = (a, b) if place[a] < place[b] else (b, a)
            better[loser] += 1
            worse[winner] += 1
    return {system: (1 + better[system], len(order) - worse[system]) for system in order}


def tie_groups(
    order: Sequence[int], scored: Sequence[bool], rule: TieRule, tested: PairTests, wins: Floats, resamples: int
) -> dict[int, int]:
    """A new group starts at the first row that the rule separates from the first row of the current one."""
    groups: dict[int, int] = {}
    head, group = order[0], 1
    for system in order:
        if scored[system] != scored[head] or _separated(head, system, rule, tested, wins, resamples):
            head, group = system, group + 1
        groups[system] = group
    return groups


def _separated(head: int, system: int, rule: TieRule, tested: PairTests, wins: Floats, resamples: int) -> bool:
    if head == system:
        return False
    if rule in {"stepdown", "holm"}:
        p = tested.adjusted_of(head, system)
        return p is not None and p <= ALPHA
    return bayes_factor(float(wins[head, system]), resamples) > K_THRESHOLDS[rule]
