"""What ranking costs: CPU time of intervals and tests, on synthetic cards of 1,304 notes.

    python benchmarks/ranking_speed.py [--short]

Times are CPU seconds of this process with one BLAS thread; the last column relates them to the same work in
plain numpy (multinomial weights and double-precision products of tp, fp and fn), run in between. Exit code 1 where the
board of a hundred systems, which is made first, takes more than it may.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np

from sandscore.ranking.analysis import stand
from sandscore.ranking.confidence_intervals import percentile_intervals
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import ScoreTable
from sandscore.ranking.stepdown import stepdown
from sandscore.records.ranking_rules import RankingRules

NOTES, MEASURES, RESAMPLES = 1_304, 5, 10_000
LARGEST, PATIENTS = 100, 500
MOST_SECONDS, MOST_MEBIBYTES = 3.0, 300
"""For a board of so many systems and patients, every pair tested; measured 1.8 and 170."""


def table_of(systems: int, notes: int = NOTES, measures: int = MEASURES, worst: float = 0.85) -> ScoreTable:
    """Systems of equal skill, or less from one to the next down to the worst; every note its own patient."""
    stream = np.random.default_rng(systems)
    gold = stream.poisson(5, (notes, measures))
    tp = stream.binomial(gold, np.linspace(0.85, worst, systems)[:, None, None], (systems, notes, measures))
    counts = np.stack([tp, stream.poisson(0.7, tp.shape), gold - tp], axis=-1)
    names = tuple(f"s{i}" for i in range(systems))
    kinds = ("instance_strict", "instance_relax", "token", "type", "hipaa_phi")[:measures]
    everywhere = np.ones((systems, 1, measures), np.bool_)
    return ScoreTable(names, ("",), kinds, counts, (slice(0, notes),), everywhere, {})


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def intervals(table: ScoreTable) -> None:
    replicates = f1_replicates(table, list(range(MEASURES)), 1, RESAMPLES)
    percentile_intervals(replicates.reshape(-1, RESAMPLES))


def plain_numpy(table: ScoreTable) -> None:
    stream = np.random.default_rng(1)
    flat = np.moveaxis(table.counts, 1, 0).reshape(NOTES, -1).astype(np.float64)
    replicates = np.empty((RESAMPLES, flat.shape[1]))
    for start in range(0, RESAMPLES, 500):
        drawn = stream.multinomial(NOTES, np.full(NOTES, 1 / NOTES), 500)
        replicates[start : start + 500] = drawn.astype(np.float64) @ flat
    tp, fp, fn = np.moveaxis(replicates.reshape(RESAMPLES, -1, 3), 2, 0)
    np.quantile(2 * tp / (2 * tp + fp + fn), [0.025, 0.975], axis=0)


def all_pairs(table: ScoreTable) -> None:
    pairs = list(combinations(range(len(table.systems)), 2))
    counts = table.counts[:, :, 0]
    stepdown(counts, [slice(0, NOTES)], pairs, 1)


def largest_board() -> bool:
    """Whether a board of very many systems stays within its bounds, in a process that has made no other."""
    kept = True
    for field, worst in {"equal": 0.85, "spread over ten points": 0.75}.items():
        table = table_of(LARGEST, PATIENTS, 1, worst)
        taken = min(seconds(partial(stand, table, RankingRules(), 1)) for _ in range(3))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{LARGEST} systems, {field}, {PATIENTS} patients: {taken:.2f} CPU seconds, {memory:.0f} MiB")
        kept &= taken <= MOST_SECONDS and memory <= MOST_MEBIBYTES
    return kept


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="ten systems at most")
    short = options.parse_args().short
    sizes = (1, 10) if short else (1, 10, 50)
    kept = short or largest_board()
    weights, every = NOTES * RESAMPLES, list(range(MEASURES))
    print(f"{NOTES} notes, {MEASURES} measures, {RESAMPLES} resamples; CPU seconds")
    print("| systems | bootstrap | ns per weight | + intervals | of plain numpy | all pairs tested | whole board |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for systems in sizes:
        table = table_of(systems)
        drawn = min(seconds(partial(f1_replicates, table, every, 1, RESAMPLES)) for _ in range(3))
        everything = min(seconds(partial(intervals, table)) for _ in range(3))
        reference = seconds(partial(plain_numpy, table))
        tested = seconds(partial(all_pairs, table))
        board = seconds(partial(stand, table, RankingRules(), 1))
        print(
            f"| {systems} | {drawn:.3f} | {drawn / weights * 1e9:.1f} | {everything:.3f} "
            f"| {everything / reference:.2f} | {tested:.3f} | {board:.3f} |"
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
