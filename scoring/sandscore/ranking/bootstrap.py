"""Resampling of patients: one matrix product for all systems, measures and replicates.

Counts add up over units, so a replicate's counts are the drawn weights times the units' counts. All systems share
the weights: two systems are always compared on the same patients.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandscore.ranking.draws import exact_dtype, rows_for, weights
from sandscore.ranking.table import Table

Floats = NDArray[np.float64]
Sums = NDArray[Any]
ROWS = 128
"""Replicates a product, fewer where there are very many units; the results do not depend on it."""


def replicate_sums(
    table: Table, measures: list[int], seed: int, resamples: int, rows: int = ROWS
) -> Iterator[tuple[slice, Sums]]:
    """Chunks of (2, replicates, data sets, systems, measures): tp, and 2 tp + fp + fn, of each replicate."""
    columns = _columns(table, measures)
    systems = len(table.systems)
    dtype = exact_dtype(table.units, int(columns.max(initial=0)))
    parts = [np.ascontiguousarray(columns[block], dtype) for block in table.blocks]
    for where, drawn in weights(seed, table.sizes, resamples, dtype, rows_for(table.units, rows)):
        sums = [drawn[:, block] @ part for block, part in zip(table.blocks, parts, strict=True)]
        stacked = np.stack(sums, axis=1) if len(sums) > 1 else sums[0]
        shaped = stacked.reshape(len(drawn), len(table.blocks), 2, systems, len(measures))
        yield where, np.moveaxis(shaped, 2, 0)


def pooled(sums: Sums) -> Sums:
    """The data sets' sums together."""
    together: Sums = sums[:, :, 0] if sums.shape[2] == 1 else sums.sum(axis=2)
    return together


def f1_of_sums(sums: Sums) -> Floats:
    """F1 where it is defined, NaN elsewhere; the sums are whole numbers, exact in either precision."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = np.divide(2 * sums[0], sums[1], dtype=np.float64)
    return quotient


def f1_replicates(table: Table, measures: list[int], seed: int, resamples: int, rows: int = ROWS) -> Floats:
    """(systems, measures, replicates): F1 of the data sets' pooled counts."""
    return scores_of_replicates(table, measures, seed, resamples, lambda sums: f1_of_sums(pooled(sums)), rows)


def scores_of_replicates(
    table: Table,
    measures: list[int],
    seed: int,
    resamples: int,
    score: Callable[[Sums], Floats],
    rows: int = ROWS,
) -> Floats:
    """What ``score`` makes of each replicate's sums, replicates last."""
    out: Floats | None = None
    for where, sums in replicate_sums(table, measures, seed, resamples, rows):
        scores = score(sums)
        if out is None:
            out = np.empty((*scores.shape[1:], resamples))
        out[..., where] = np.moveaxis(scores, 0, -1)
    return np.empty((0, resamples)) if out is None else out


def _columns(table: Table, measures: list[int]) -> NDArray[np.int64]:
    """(units, 2 * systems * measures): tp of everybody, then 2 tp + fp + fn of everybody."""
    counts = table.counts[:, :, measures]
    pair = np.stack([counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]])
    return np.moveaxis(pair, 2, 0).reshape(table.units, -1)
