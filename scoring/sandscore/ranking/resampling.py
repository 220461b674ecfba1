"""Resampling of patients: one matrix product for all systems, measures and replicates.

Counts add up over units, so a replicate's counts are the drawn weights times the units' counts. All systems share
the weights: two systems are always compared on the same patients.

Randomness that is the same on every machine: PCG64's raw stream, and a seed that follows from what is ranked.

numpy guarantees the stream of the bit generator, not what its Generator makes of it. Patient ``i`` of ``n`` is drawn
as ``((x >> 32) * n) >> 32``. What is drawn does not depend on how many rows are drawn at a time.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandscore.base.removable_rooms import compiled
from sandscore.ranking.score_table import ScoreTable

Precision = type[np.float32] | type[np.float64]
CACHED_DRAWS = 1 << 15
CHUNK_CELLS = 1 << 23
_HALF = np.uint64(32)


def seed_of(challenge: str, phase: str, gold: str, measure: str, log_root: str | None = None) -> int:
    """First 8 bytes, big-endian, of the SHA-256 of what is being ranked, and of a log's root where there is a log."""
    text = "\n".join((challenge, phase, gold, measure, *([log_root] if log_root else [])))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def weights(
    seed: int, sizes: Sequence[int], resamples: int, dtype: Precision, rows: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """How often each unit is drawn, ``rows`` resamples at a time; each stratum keeps its size."""
    draws = draws_of(seed)
    for start in range(0, resamples, rows):
        chunk = slice(start, min(start + rows, resamples))
        yield chunk, draws.weights(sizes, chunk.stop - chunk.start, dtype)


class _NumpyDraws:
    """A stream from which drawing goes on."""

    def __init__(self, *seed: int) -> None:
        self._stream = np.random.PCG64(seed)

    def numbers(self, count: int) -> NDArray[np.uint64]:
        """The next numbers of 64 bits."""
        return self._stream.random_raw(count)

    def weights(self, sizes: Sequence[int], resamples: int, dtype: Precision) -> NDArray[Any]:
        """How often each unit is drawn in each of the next resamples; each stratum keeps its size."""
        units = sum(sizes)
        several = len(sizes) > 1
        most = np.repeat(np.asarray(sizes, np.uint64), sizes) if several else np.uint64(units)
        first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        few = max(1, CACHED_DRAWS // units)
        drawn = np.empty((resamples, units), dtype)
        for at in range(0, resamples, few):
            part = drawn[at : at + few]
            raw = self._stream.random_raw(part.size).reshape(part.shape)
            raw >>= _HALF
            raw *= most
            raw >>= _HALF
            index = raw.view(np.int64)
            if several:
                index += first
            index += np.arange(0, part.size, units)[:, None]
            part[:] = np.bincount(index.ravel(), minlength=part.size).reshape(part.shape)
        return drawn


def draws_of(*seed: int) -> Any:
    """The stream of a seed, of one word or several: by the kernel, whose numbers are numpy's, or by numpy."""
    return compiled().draws(*seed) or _NumpyDraws(*seed)


def coins(seed: int, units: int, draws: int, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Fair coins, one row a draw; a stream of their own, whole 64-bit words a row."""
    stream, words = draws_of(seed, 1), -(-units // 64)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        raw = stream.numbers(count * words)
        octets = raw.astype("<u8", copy=False).view(np.uint8).reshape(count, words * 8)
        bits = np.unpackbits(octets, axis=1, bitorder="little")
        yield bits[:, :units]


def exact_dtype(units: int, largest: int) -> Precision:
    """Single precision where every sum is a whole number below 2^24, else double."""
    return np.float32 if units * largest < 1 << 24 else np.float64


def rows_for(units: int, most: int) -> int:
    """As many rows at a time as asked, or as fit the memory set aside for them."""
    return max(1, min(most, CHUNK_CELLS // units))


Floats = NDArray[np.float64]
Sums = NDArray[Any]
ROWS = 512
"""Replicates summed at a time; the results do not depend on it."""
_PRODUCT_ROWS = 64
"""The most of one product of matrices, fewer where there are very many units."""


def replicate_sums(
    table: ScoreTable, measures: list[int], seed: int, resamples: int, rows: int = ROWS
) -> Iterator[tuple[slice, Sums]]:
    """Chunks of (2, replicates, data sets, systems, measures): tp, and 2 tp + fp + fn, of each replicate."""
    columns = _columns(table, measures)
    dtype = exact_dtype(table.units, int(np.abs(columns).max(initial=0)))
    sums = compiled().drawn_sums(columns, table.sizes, seed, resamples, rows)
    for where, summed in multiplied(columns, table.sizes, seed, resamples, rows) if sums is None else sums:
        shaped = summed.astype(dtype, copy=False).reshape(len(summed), len(table.blocks), 2, len(table.systems), -1)
        yield where, np.moveaxis(shaped, 2, 0)


SummedChunks = Iterator[tuple[slice, Sums]]


def multiplied(columns: NDArray[np.int64], sizes: Sequence[int], seed: int, resamples: int, rows: int) -> SummedChunks:
    """By replicate and stratum, what the units' columns come to: weights times columns."""
    dtype = exact_dtype(len(columns), int(np.abs(columns).max(initial=0)))
    cuts = np.cumsum([0, *sizes]).tolist()
    blocks = [slice(*cut) for cut in pairwise(cuts)]
    parts = [np.ascontiguousarray(columns[block], dtype) for block in blocks]
    for where, drawn in weights(seed, sizes, resamples, dtype, rows_for(len(columns), min(rows, _PRODUCT_ROWS))):
        sums = [drawn[:, block] @ part for block, part in zip(blocks, parts, strict=True)]
        yield where, np.stack(sums, axis=1)


def pooled(sums: Sums) -> Sums:
    """The data sets' sums together."""
    together: Sums = sums[:, :, 0] if sums.shape[2] == 1 else sums.sum(axis=2)
    return together


def f1_of_sums(sums: Sums) -> Floats:
    """F1 where it is defined, NaN elsewhere; the sums are whole numbers, exact in either precision."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Floats = np.divide(2 * sums[0], sums[1], dtype=np.float64)
    return quotient


def f1_replicates(table: ScoreTable, measures: list[int], seed: int, resamples: int, rows: int = ROWS) -> Floats:
    """(systems, measures, replicates): F1 of the data sets' pooled counts."""
    return scores_of_replicates(table, measures, seed, resamples, lambda sums: f1_of_sums(pooled(sums)), rows)


def scores_of_replicates(
    table: ScoreTable,
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


def _columns(table: ScoreTable, measures: list[int]) -> NDArray[np.int64]:
    """(units, 2 * systems * measures): tp of everybody, then 2 tp + fp + fn of everybody."""
    counts = table.counts[:, :, measures]
    pair = np.stack([counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]])
    return np.moveaxis(pair, 2, 0).reshape(table.units, -1)
