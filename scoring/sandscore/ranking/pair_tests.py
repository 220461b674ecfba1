"""Tests of all pairs: adjusted p-values, rank sets, tie groups.

Adjusted p-values for many tests at once, as step-down (Holm 1979) and step-up (Benjamini & Hochberg 1995).

Approximate randomisation (Noreen 1989; Yeh 2000) for every pair of systems with one coin matrix.

A coin for each unit swaps the two systems' rows. With Z the coin-weighted sum of a system's counts less half its total,
a swap moves the pair's counts to (half their sum) ± (Z_b − Z_a): so one matrix product serves all systems, and a pair
costs a few additions. With m the half sums and x, y the moves of tp and of 2 tp + fp + fn,

    F1(a*) − F1(b*) = 4 (x m_den − y m_tp) / (m_den² − y²).

Everything but that quotient is a multiple of a quarter below 2^53: exact.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from sandscore.ranking.rank_agreement import bayes_factor
from sandscore.ranking.resampling import Floats, coins, exact_dtype, rows_for
from sandscore.ranking.score_table import ScoreTable
from sandscore.ranking.stepdown import DRAWS, stepdown
from sandscore.records.board import Adjustment
from sandscore.records.ranking_rules import RankingRules, TieRule


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of even one false separation stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, so_far = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = so_far
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjusted so that the expected share of false separations among all stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i], reverse=True)
    adjusted, so_far = [0.0] * len(p), 1.0
    for step, i in enumerate(order):
        so_far = min(so_far, p[i] * len(p) / (len(p) - step))
        adjusted[i] = so_far
    return adjusted


TOLERANCE = 1e-12
ROWS = 2_048
Pair = tuple[int, int]


def draws_for(pairs: int) -> int:
    """Enough draws for Holm to separate that many pairs."""
    return max(DRAWS, 200 * pairs - 1)


def randomisation_p(
    counts: NDArray[np.int64],
    blocks: Sequence[slice],
    pairs: Sequence[Pair],
    seed: int,
    draws: int,
    progress: Callable[[int], object] = lambda _: None,
) -> dict[Pair, float]:
    """Two-sided p of each pair; ``counts[s, u]`` is (tp, fp, fn), a score is the mean of the blocks' F1.

    An undefined difference counts against the difference. p is never 0.
    """
    columns = np.stack([counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]])
    partners: dict[int, list[int]] = {}
    for a, b in pairs:
        partners.setdefault(a, []).append(b)
    observed = {a: _differences(columns, blocks, a, others) for a, others in partners.items()}
    extreme = {a: np.zeros(len(others), np.int64) for a, others in partners.items()}
    for moves in _moves(columns, blocks, seed, draws):
        for a, others in partners.items():
            shuffled = sum_of_differences(columns, blocks, moves, a, others)
            reached = ~(np.abs(shuffled, out=shuffled) < observed[a][:, None] - TOLERANCE)
            extreme[a] += np.count_nonzero(reached, axis=1)
        progress(moves[0].shape[2])
    return {
        (a, b): (1 + int(count)) / (draws + 1)
        for a, others in partners.items()
        for b, count in zip(others, extreme[a], strict=True)
    }


def sum_of_differences(
    columns: NDArray[np.int64], blocks: Sequence[slice], moves: Sequence[Floats], a: int, others: Sequence[int]
) -> Floats:
    """(others, draws): the swapped difference a − b, averaged over blocks."""
    total: Floats | None = None
    for block, moved in zip(blocks, moves, strict=True):
        halves = columns[:, :, block].sum(axis=2) / 2
        tp, den = (halves[:, list(others)] + halves[:, [a]])[:, :, None]
        x, y = moved[0, list(others)], moved[1, list(others)]
        x -= moved[0, a]
        y -= moved[1, a]
        x *= den
        x -= y * tp
        y *= y
        np.subtract(den * den, y, out=y)
        x *= 4 / len(blocks)
        with np.errstate(divide="ignore", invalid="ignore"):
            x /= y
        total = x if total is None else np.add(total, x, out=total)
    return np.empty((len(others), 0)) if total is None else total


def _differences(columns: NDArray[np.int64], blocks: Sequence[slice], a: int, others: Sequence[int]) -> Floats:
    """|F1(a) − F1(b)| as observed; an undefined one is 0, which every draw reaches."""
    scores = np.zeros(columns.shape[1])
    for block in blocks:
        tp, den = columns[:, :, block].sum(axis=2)
        with np.errstate(invalid="ignore"):
            scores += 2 * tp / den / len(blocks)
    observed: Floats = np.nan_to_num(np.abs(scores[a] - scores[list(others)]))
    return observed


def _moves(columns: NDArray[np.int64], blocks: Sequence[slice], seed: int, draws: int) -> Iterable[list[Floats]]:
    """For each block (2, systems, draws): coin-weighted sums less half the total, a chunk of draws at a time."""
    units = columns.shape[2]
    dtype = exact_dtype(units, int(np.abs(columns).max(initial=0)))
    parts: list[NDArray[Any]] = [
        columns[:, :, block].reshape(-1, block.stop - block.start).astype(dtype) for block in blocks
    ]
    halves = [columns[:, :, block].sum(axis=2)[:, :, None] / 2 for block in blocks]
    for thrown in coins(seed, units, draws, rows_for(units, ROWS)):
        swapped = thrown.astype(dtype)
        yield [
            (part @ swapped[:, block].T).reshape(2, columns.shape[1], -1) - half
            for part, block, half in zip(parts, blocks, halves, strict=True)
        ]


ALPHA = 0.05
K_THRESHOLDS: dict[TieRule, float] = {"dream_k3": 3.0, "dream_k19": 19.0}
Progress = Callable[[int], object]


class PairTests(Struct, frozen=True):
    """p and adjusted p of the tested pairs; a pair that could not be tested is not separated."""

    p: dict[Pair, float] = field(default_factory=dict)
    adjusted: dict[Pair, float] = field(default_factory=dict)
    discoveries: dict[Pair, float] = field(default_factory=dict)

    @classmethod
    def of(cls, p: dict[Pair, float], adjusted: dict[Pair, float] | None = None) -> "PairTests":
        """Adjusted over all these pairs: as given or by Holm, and by Benjamini and Hochberg."""
        values = list(p.values())
        return cls(
            p,
            dict(zip(p, holm(values), strict=True)) if adjusted is None else adjusted,
            dict(zip(p, benjamini_hochberg(values), strict=True)),
        )

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
    if chosen_test(rules) == "paired_bootstrap":
        p = paired_bootstrap_p(replicates, estimates, pairs)
    else:
        measure = rules.headline if rules.aggregation == "headline" else next(iter(rules.measures))
        blocks = table.blocks if rules.sites == "macro" else [slice(0, table.units)]
        draws = draws_of(rules, len(pairs))
        counts = table.counts[:, :, table.measures.index(measure)]
        if adjustment_of(rules) == "stepdown":
            found = stepdown(counts, blocks, pairs, seed, draws, progress)
            return PairTests.of(found.p, found.adjusted)
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
    if rule in {"stepdown", "holm"}:
        p = tested.adjusted_of(head, system)
        return p is not None and p <= ALPHA
    return bayes_factor(float(wins[head, system]), resamples) > K_THRESHOLDS[rule]
