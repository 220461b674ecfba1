"""What ranking costs: CPU time of intervals and tests, on synthetic cards of 1,304 notes.

    python benchmarks/ranking_speed.py [--short]

Times are CPU seconds of this process with one BLAS thread; the last column relates them to the same work in
plain numpy (multinomial weights and double-precision products of tp, fp and fn), run in between.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import resource
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
from sandscore.records.challenge import RankingRules

NOTES, MEASURES, RESAMPLES = 1_304, 5, 10_000


def table_of(systems: int) -> ScoreTable:
    """Systems of about equal skill; every note its own patient."""
    stream = np.random.default_rng(systems)
    gold = stream.poisson(5, (NOTES, MEASURES))
    tp = stream.binomial(gold, 0.85, (systems, NOTES, MEASURES))
    counts = np.stack([tp, stream.poisson(0.7, tp.shape), gold - tp], axis=-1)
    names = tuple(f"s{i}" for i in range(systems))
    measures = ("instance_strict", "instance_relax", "token", "type", "hipaa_phi")
    everywhere = np.ones((systems, 1, MEASURES), np.bool_)
    return ScoreTable(names, ("",), measures, counts, (slice(0, NOTES),), everywhere, {})


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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="ten systems at most")
    sizes = (1, 10) if options.parse_args().short else (1, 10, 50)
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


if __name__ == "__main__":
    main()
