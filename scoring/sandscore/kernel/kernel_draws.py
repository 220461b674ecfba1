"""Patients and coins drawn by the kernel, from the stream of numbers that numpy would have for a seed."""

from collections.abc import Iterator, Sequence
from ctypes import CDLL, byref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandscore.kernel.kernel_library import SUMMED_COLUMNS, DrawStream, address

_POOL = 4
"""Words of 32 bits into which a seed is mixed."""
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_WORD, _STATE = (1 << 32) - 1, (1 << 128) - 1
_LEAST_TOGETHER = 16


class KernelDraws:
    """A stream from which drawing goes on."""

    def __init__(self, library: CDLL, *seed: int) -> None:
        self._library, self._told = library, draw_stream(*seed)

    def weights(self, sizes: Sequence[int], resamples: int, dtype: type) -> NDArray[Any]:
        """How often each unit is drawn in each of the next resamples; each stratum keeps its size."""
        strata = np.asarray(sizes, np.int64)
        drawn: NDArray[Any] = np.empty((resamples, sum(sizes)), dtype)
        rooms = (address(drawn), None) if dtype is np.float32 else (None, address(drawn))
        self._library.draw_weights(byref(self._told), address(strata), len(strata), resamples, *rooms)
        return drawn

    def numbers(self, count: int) -> NDArray[np.uint64]:
        """The next numbers of 64 bits."""
        raw = np.empty(count, np.uint64)
        self._library.draw_numbers(byref(self._told), count, address(raw))
        return raw


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


def drawn_sums(
    library: CDLL, columns: NDArray[np.int64], sizes: Sequence[int], seed: int, resamples: int, rows: int
) -> Iterator[tuple[slice, NDArray[np.int64]]] | None:
    """By replicate and stratum, what the columns of drawn units come to; None where they are many or large."""
    width = columns.shape[1]
    most = np.iinfo(np.int16).max // max(1, int(np.abs(columns).max(initial=0)))
    if width > SUMMED_COLUMNS or most < _LEAST_TOGETHER:
        return None
    padded = np.zeros((len(columns), SUMMED_COLUMNS if width > SUMMED_COLUMNS // 2 else SUMMED_COLUMNS // 2), np.int16)
    padded[:, :width] = columns
    strata, told = np.asarray(sizes, np.int64), draw_stream(seed)

    def chunks() -> Iterator[tuple[slice, NDArray[np.int64]]]:
        for start in range(0, resamples, rows):
            sums = np.empty((min(rows, resamples - start), len(strata), padded.shape[1]), np.int64)
            drawn = address(strata), len(strata), len(sums)
            library.draw_sums(byref(told), *drawn, address(padded), sums.shape[2], most, address(sums))
            yield slice(start, start + len(sums)), sums[..., :width]

    return chunks()
