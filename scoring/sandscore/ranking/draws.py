"""Randomness that is the same on every machine: PCG64's raw stream, and a seed nobody picks.

numpy guarantees the stream of the bit generator, not what its Generator makes of it. Patient ``i`` of ``n`` is drawn
as ``((x >> 32) * n) >> 32``. What is drawn does not depend on how many rows are drawn at a time.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Precision = type[np.float32] | type[np.float64]
CACHED_DRAWS = 1 << 15
CHUNK_CELLS = 1 << 23
_HALF = np.uint64(32)


def seed_of(challenge: str, phase: str, gold: str, measure: str) -> int:
    """First 8 bytes, big-endian, of the SHA-256 of what is being ranked."""
    text = "\n".join((challenge, phase, gold, measure))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def weights(
    seed: int, sizes: Sequence[int], resamples: int, dtype: Precision, rows: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """How often each unit is drawn, ``rows`` resamples at a time; each stratum keeps its size."""
    stream = np.random.PCG64(seed)
    units = sum(sizes)
    several = len(sizes) > 1
    most = np.repeat(np.asarray(sizes, np.uint64), sizes) if several else np.uint64(units)
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
    few = max(1, CACHED_DRAWS // units)
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        drawn = np.empty((stop - start, units), dtype)
        for at in range(0, stop - start, few):
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
        yield slice(start, stop), drawn


def coins(seed: int, units: int, draws: int, rows: int) -> Iterator[NDArray[np.uint8]]:
    """Fair coins, one row a draw; a stream of their own, whole 64-bit words a row."""
    stream = np.random.PCG64([seed, 1])
    words = -(-units // 64)
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        raw = stream.random_raw(count * words).astype("<u8", copy=False)
        bits = np.unpackbits(raw.view(np.uint8).reshape(count, words * 8), axis=1, bitorder="little")
        yield bits[:, :units]


def exact_dtype(units: int, largest: int) -> Precision:
    """Single precision where every sum is a whole number below 2^24, else double."""
    return np.float32 if units * largest < 1 << 24 else np.float64


def rows_for(units: int, most: int) -> int:
    """As many rows at a time as asked, or as fit the memory set aside for them."""
    return max(1, min(most, CHUNK_CELLS // units))
