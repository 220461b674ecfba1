"""Who is separated from whom: adjusted p-values of all pairs, rank sets, tie groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sandscore.ranking.bootstrap import Floats
from sandscore.ranking.corrections import benjamini_hochberg, holm
from sandscore.ranking.randomisation import Pair, draws_for, randomisation_p
from sandscore.ranking.stability import bayes_factor
from sandscore.ranking.table import Table
from sandscore.records.challenge import RankingRules, TieRule

ALPHA = 0.05
K_THRESHOLDS: dict[TieRule, float] = {"dream_k3": 3.0, "dream_k19": 19.0}
Progress = Callable[[int], object]


@dataclass(frozen=True)
class PairTests:
    """p and adjusted p of the tested pairs; a pair that could not be tested is not separated."""

    p: dict[Pair, float] = field(default_factory=dict)
    adjusted: dict[Pair, float] = field(default_factory=dict)
    discoveries: dict[Pair, float] = field(default_factory=dict)

    @classmethod
    def of(cls, p: dict[Pair, float]) -> "PairTests":
        """Adjusted over all these pairs: by Holm, and by Benjamini and Hochberg."""
        values = list(p.values())
        return cls(
            p,
            dict(zip(p, holm(values), strict=True)),
            dict(zip(p, benjamini_hochberg(values), strict=True)),
        )

    def adjusted_of(self, a: int, b: int) -> float | None:
        return self.adjusted.get((min(a, b), max(a, b)))


def chosen_test(rules: RankingRules) -> str:
    """Rank aggregations depend on everybody, so that swapping two systems is no test of them."""
    by_ranks = rules.aggregation in {"borda", "mean_rank"} or rules.sites == "mean_rank"
    return "paired_bootstrap" if by_ranks else rules.test


def testable_pairs(table: Table, rules: RankingRules, scored: Sequence[bool]) -> list[Pair]:
    """Pairs of systems with a score; with a missing cell left out, two scores are not of the same patients."""
    there = table.scored[:, :, table.measures.index(rules.headline)]
    complete = [
        ok and (chosen_test(rules) == "paired_bootstrap" or bool(there[s].all())) for s, ok in enumerate(scored)
    ]
    able = [s for s, ok in enumerate(complete) if ok]
    return [(a, b) for at, a in enumerate(able) for b in able[at + 1 :]]


def run_tests(
    table: Table,
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
    if chosen_test(rules) == "paired_bootstrap":
        p = paired_bootstrap_p(replicates, estimates, pairs)
    else:
        measure = rules.headline if rules.aggregation == "headline" else next(iter(rules.measures))
        blocks = table.blocks if rules.sites == "macro" else [slice(0, table.units)]
        draws = rules.randomisations or draws_for(len(pairs))
        counts = table.counts[:, :, table.measures.index(measure)]
        p = randomisation_p(counts, blocks, pairs, seed, draws, progress)
    return PairTests.of(p)


def paired_bootstrap_p(replicates: Floats, estimates: Floats, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """Two-sided, the replicates' differences shifted to the null; an undefined one counts against it."""
    out: dict[Pair, float] = {}
    for a, b in pairs:
        observed = estimates[a] - estimates[b]
        shifted = np.abs(replicates[a] - replicates[b] - observed)
        reached = np.count_nonzero(~(shifted < abs(observed) - 1e-12))
        out[a, b] = (1 + reached) / (replicates.shape[1] + 1)
    return out


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
    if rule == "holm":
        p = tested.adjusted_of(head, system)
        return p is not None and p <= ALPHA
    return bayes_factor(float(wins[head, system]), resamples) > K_THRESHOLDS[rule]
