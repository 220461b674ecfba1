"""Resampling of patients: one matrix product for all systems, measures and replicates.

Counts add up over units, so a replicate's counts are the drawn weights times the units' counts. All systems share
the weights: two systems are always compared on the same patients.

Randomness that is the same on every machine: PCG64's raw stream, and a seed that follows from what is ranked.

numpy guarantees the stream of the bit generator, not what its Generator makes of it. Patient ``i`` of ``n`` is drawn
as ``((x >> 32) * n) >> 32``. What is drawn does not depend on how many rows are drawn at a time.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandscore.kernel.kernel_library import SUMMED_COLUMNS, DrawStream, address, kernel
from sandscore.ranking.score_table import ScoreTable

Precision = type[np.float32] | type[np.float64]
CACHED_DRAWS = 1 << 15
CHUNK_CELLS = 1 << 23
_HALF = np.uint64(32)
_POOL = 4
"""Words of 32 bits into which a seed is mixed."""
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_WORD, _STATE = (1 << 32) - 1, (1 << 128) - 1


def seed_of(challenge: str, phase: str, gold: str, measure: str, log_root: str | None = None) -> int:
    """First 8 bytes, big-endian, of the SHA-256 of what is being ranked, and of a log's root where there is a log."""
    text = "\n".join((challenge, phase, gold, measure, *([log_root] if log_root else [])))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def weights(
    seed: int, sizes: Sequence[int], resamples: int, dtype: Precision, rows: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """How often each unit is drawn, ``rows`` resamples at a time; each stratum keeps its size."""
    library = kernel()
    chunks = (slice(start, min(start + rows, resamples)) for start in range(0, resamples, rows))
    if library is None:
        stream = np.random.PCG64(seed)
        yield from ((chunk, _drawn_slowly(stream, sizes, chunk.stop - chunk.start, dtype)) for chunk in chunks)
        return
    strata, told = np.asarray(sizes, np.int64), draw_stream(seed)
    for chunk in chunks:
        drawn = np.empty((chunk.stop - chunk.start, sum(sizes)), dtype)
        rooms = (address(drawn), None) if dtype is np.float32 else (None, address(drawn))
        library.draw_weights(byref(told), address(strata), len(strata), len(drawn), *rooms)
        yield chunk, drawn


def draw_stream(*seed: int) -> DrawStream:
    """Where PCG64 begins for a seed, for the kernel: to the bit as in numpy, whose import costs more than drawing."""
    words = [part >> at & _WORD for part in seed for at in range(0, max(part.bit_length(), 1), 32)]
    first, second, third, fourth = _spread(words + [0] * (_POOL - len(words)))
    step = (third << 64 | fourth) << 1 & _STATE | 1
    state = ((first << 64 | second) + step) * _FACTOR + step & _STATE
    return DrawStream(*divmod(state, 1 << 64), *divmod(step, 1 << 64))


def _spread(words: list[int]) -> list[int]:
    """Four numbers of 64 bits from a seed's words of 32, as numpy's SeedSequence mixes them (O'Neill's seed_seq_fe)."""
    told = 0x43B0D7E5

    def hashed(value: int, factor: int = 0x931E8875) -> int:
        nonlocal told
        value ^= told
        told = told * factor & _WORD
        value = value * told & _WORD
        return value ^ value >> 16

    def mixed(one: int, other: int) -> int:
        both = one * 0xCA01F9DD - hashed(other) * 0x4973F715 & _WORD
        return both ^ both >> 16

    pool = [hashed(word) for word in words[:_POOL]]
    for source in range(_POOL):
        for at in range(_POOL):
            if at != source:
                pool[at] = mixed(pool[at], pool[source])
    for word in words[_POOL:]:
        pool = [mixed(number, word) for number in pool]
    told = 0x8B51F9DD
    made = [hashed(pool[at % _POOL], 0x58F38DED) for at in range(2 * _POOL)]
    return [low | high << 32 for low, high in zip(made[::2], made[1::2], strict=True)]


def _drawn_slowly(stream: "np.random.PCG64", sizes: Sequence[int], resamples: int, dtype: Precision) -> NDArray[Any]:
    """The next weights of a stream, where there is no kernel."""
    units = sum(sizes)
    several = len(sizes) > 1
    most = np.repeat(np.asarray(sizes, np.uint64), sizes) if several else np.uint64(units)
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    few = max(1, CACHED_DRAWS // units)
    drawn = np.empty((resamples, units), dtype)
    for at in range(0, resamples, few):
        part = drawn[at : at + few]
        raw = stream.random_raw(part.size).reshape(part.shape)
        raw >>= _HALF
        raw *= most
        raw >>= _HALF
        index = raw.view(np.int64)
        if several:
            index += first
        index += np.arange(0, part.size, units)[:, None]
        part[:] = np.bincount(index.ravel(), minlength=part.size).reshape(part.shape)
    return drawn


def coins(seed: int, units: int, draws: int, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Fair coins, one row a draw; a stream of their own, whole 64-bit words a row."""
    library, told, words = kernel(), draw_stream(seed, 1), -(-units // 64)
    stream = np.random.PCG64([seed, 1]) if library is None else None
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        raw = np.empty(count * words, np.uint64) if stream is None else stream.random_raw(count * words)
        if library is not None:
            library.draw_numbers(byref(told), len(raw), address(raw))
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
    sums = drawn_sums(columns, table.sizes, seed, resamples, rows)
    for where, summed in multiplied(columns, table.sizes, seed, resamples, rows) if sums is None else sums:
        shaped = summed.astype(dtype, copy=False).reshape(len(summed), len(table.blocks), 2, len(table.systems), -1)
        yield where, np.moveaxis(shaped, 2, 0)


SummedChunks = Iterator[tuple[slice, Sums]]
_LEAST_TOGETHER = 16


def multiplied(columns: NDArray[np.int64], sizes: Sequence[int], seed: int, resamples: int, rows: int) -> SummedChunks:
    """By replicate and stratum, what the units' columns come to: weights times columns."""
    dtype = exact_dtype(len(columns), int(np.abs(columns).max(initial=0)))
    cuts = np.cumsum([0, *sizes]).tolist()
    blocks = [slice(*cut) for cut in pairwise(cuts)]
    parts = [np.ascontiguousarray(columns[block], dtype) for block in blocks]
    for where, drawn in weights(seed, sizes, resamples, dtype, rows_for(len(columns), min(rows, _PRODUCT_ROWS))):
        sums = [drawn[:, block] @ part for block, part in zip(blocks, parts, strict=True)]
        yield where, np.stack(sums, axis=1)


def drawn_sums(
    columns: NDArray[np.int64], sizes: Sequence[int], seed: int, resamples: int, rows: int
) -> SummedChunks | None:
    """The same by the kernel, which adds up the columns of what it draws; None where they are many or large."""
    library, width = kernel(), columns.shape[1]
    most = np.iinfo(np.int16).max // max(1, int(np.abs(columns).max(initial=0)))
    if library is None or width > SUMMED_COLUMNS or most < _LEAST_TOGETHER:
        return None
    padded = np.zeros((len(columns), SUMMED_COLUMNS if width > SUMMED_COLUMNS // 2 else SUMMED_COLUMNS // 2), np.int16)
    padded[:, :width] = columns
    strata, told = np.asarray(sizes, np.int64), draw_stream(seed)

    def chunks() -> SummedChunks:
        for start in range(0, resamples, rows):
            sums = np.empty((min(rows, resamples - start), len(strata), padded.shape[1]), np.int64)
            library.draw_sums(
                byref(told),
                address(strata),
                len(strata),
                len(sums),
                address(padded),
                sums.shape[2],
                most,
                address(sums),
            )
            yield slice(start, start + len(sums)), sums[..., :width]

    return chunks()


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
