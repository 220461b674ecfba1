"""Tests of all pairs other than the stepdown: approximate randomisation under Holm, and the paired bootstrap.

Adjusted p-values for many tests at once, as step-down (Holm 1979).

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
from numpy.typing import NDArray

from sandscore.ranking.pair_tests import Pair, PairTests, Progress, chosen_test, draws_of, tested_blocks
from sandscore.ranking.resampling import Floats, coins, exact_dtype, rows_for
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.ranking_rules import RankingRules

TOLERANCE = 1e-12
ROWS = 2_048


def pairs_tested(
    table: ScoreTable,
    rules: RankingRules,
    seed: int,
    pairs: list[Pair],
    replicates: Floats,
    estimates: Floats,
    progress: Progress,
) -> PairTests:
    """Every pair, by the test that the rules choose."""
    if chosen_test(rules) == "paired_bootstrap":
        p = paired_bootstrap_p(replicates, estimates, pairs)
    else:
        measure = rules.headline if rules.aggregation == "headline" else next(iter(rules.measures))
        counts = table.counts[:, :, table.measures.index(measure)]
        p = randomisation_p(counts, tested_blocks(table, rules), pairs, seed, draws_of(rules, len(pairs)), progress)
    return PairTests.of(p, holm_adjusted(p))


def holm_adjusted(p: dict[Pair, float]) -> dict[Pair, float]:
    """By Holm, over all these pairs."""
    return dict(zip(p, holm([*p.values()]), strict=True))


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of even one false separation stays below the level."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    adjusted, so_far = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = so_far
    return adjusted


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


def paired_bootstrap_p(replicates: Floats, estimates: Floats, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """Two-sided, the replicates' differences shifted to the null; an undefined one counts against it."""
    out: dict[Pair, float] = {}
    for a, b in pairs:
        observed = estimates[a] - estimates[b]
        shifted = np.abs(replicates[a] - replicates[b] - observed)
        reached = np.count_nonzero(~(shifted < abs(observed) - 1e-12))
        out[a, b] = (1 + reached) / (replicates.shape[1] + 1)
    return out
