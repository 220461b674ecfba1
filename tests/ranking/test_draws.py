"""What is drawn is a published function of the seed: anybody can draw it again without this package."""

import hashlib
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from kernel_comparison import no_kernel

from sandscore.base.removable_rooms import compiled
from sandscore.kernel.kernel_draws import draw_stream
from sandscore.kernel.kernel_library import kernel
from sandscore.ranking import resampling
from sandscore.ranking.resampling import (
    coins,
    exact_dtype,
    multiplied,
    rows_for,
    seed_of,
    weights,
)


def test_the_seed_is_the_beginning_of_a_hash() -> None:
    digest = hashlib.sha256(b"our challenge\nfinal\n0123456789ab\ntoken").hexdigest()
    assert f"{seed_of('our challenge', 'final', '0123456789ab', 'token'):016x}" == digest[:16]
    assert f"{seed_of('', '', '', ''):016x}" == hashlib.sha256(b"\n\n\n").hexdigest()[:16]


def test_the_stream_begins_where_that_of_numpy_begins() -> None:
    """Of seeds such as boards have, of short ones, and of ones beyond the four words into which they are mixed."""
    seeds = [seed_of("", "", str(at), "token") for at in range(200)]
    for seed in [
        0,
        1,
        2026,
        *(1 << at for at in range(0, 400, 7)),
        *((1 << at) - 1 for at in range(32, 300, 32)),
        *seeds,
    ]:
        for words in ([seed], [seed, 1]):
            told, there = draw_stream(*words), np.random.PCG64(words).state["state"]
            assert told.state_high << 64 | told.state_low == there["state"]
            assert told.step_high << 64 | told.step_low == there["inc"]


def drawn_by_the_book(seed: int, sizes: list[int], resamples: int) -> list[list[int]]:
    """One 64-bit number a draw, strata after one another, in plain Python integers."""
    stream = np.random.PCG64(seed)
    out = []
    for _ in range(resamples):
        row: list[int] = []
        for size in sizes:
            counts = [0] * size
            for _ in range(size):
                counts[((int(stream.random_raw()) >> 32) * size) >> 32] += 1
            row += counts
        out.append(row)
    return out


@pytest.fixture(params=["kernel", "no kernel"])
def _either_way(request: pytest.FixtureRequest) -> Iterator[None]:
    with no_kernel() if request.param == "no kernel" else nullcontext():
        assert bool(compiled()) == (request.param == "kernel")
        yield


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("sizes", [[1], [7], [3, 5], [4, 1, 9], [64, 1, 63], [65, 127]], ids=str)
@pytest.mark.parametrize("rows", [1, 3, 128])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_those_of_the_book_however_many_at_a_time(
    sizes: list[int], rows: int, dtype: resampling.Precision
) -> None:
    drawn = np.concatenate([part for _, part in weights(2026, sizes, 20, dtype, rows)])
    assert drawn.dtype == dtype
    assert drawn.tolist() == drawn_by_the_book(2026, sizes, 20)


@pytest.mark.usefixtures("_either_way")
def test_more_units_than_fit_the_cache_at_once() -> None:
    ((_, drawn),) = weights(5, [70_000], 1, np.float64, 128)
    assert drawn[0].tolist() == drawn_by_the_book(5, [70_000], 1)[0]


@pytest.mark.parametrize("lanes", [0, 16, 32])
@pytest.mark.parametrize("sizes", [[1], [7], [4, 1, 9], [64, 1, 63], [530, 65], [1303]], ids=str)
@pytest.mark.parametrize(("width", "least", "most"), [(1, 0, 1), (16, -511, 511), (17, -2047, 2047), (32, 0, 30)])
def test_the_rows_that_are_drawn_add_up_to_the_weights_of_the_book_times_the_rows(
    lanes: int, sizes: list[int], width: int, least: int, most: int
) -> None:
    library = kernel()
    assert library is not None
    columns = np.random.default_rng(width).integers(least, most, (sum(sizes), width), endpoint=True)
    drawn = np.array(drawn_by_the_book(11, sizes, 7))
    cuts = np.cumsum([0, *sizes])
    expected = [drawn[:, a:b] @ columns[a:b] for a, b in pairwise(cuts)]
    library.choose_lanes(lanes)
    try:
        summed = compiled().drawn_sums(columns, sizes, 11, 7, 3)
        assert summed is not None
        assert np.array_equal(np.concatenate([part for _, part in summed]), np.stack(expected, axis=1))
    finally:
        library.choose_lanes(1 << 30)
    slowly = np.concatenate([part for _, part in multiplied(columns, sizes, 11, 7, 3)])
    assert np.array_equal(slowly, np.stack(expected, axis=1))


def test_many_columns_and_large_counts_are_left_to_the_product() -> None:
    assert compiled().drawn_sums(np.ones((5, 33), np.int64), [5], 1, 3, 2) is None
    assert compiled().drawn_sums(np.full((5, 2), 2048), [5], 1, 3, 2) is None


@pytest.mark.usefixtures("_either_way")
def test_coins_are_the_bits_of_the_stream() -> None:
    stream = np.random.PCG64([9, 1])
    words = [int(stream.random_raw()) for _ in range(3 * 2)]
    bits = [word >> at & 1 for word in words for at in range(64)]
    thrown = np.concatenate(list(coins(9, 100, 3, 2)))
    assert thrown.tolist() == [bits[row * 128 : row * 128 + 100] for row in range(3)]


@pytest.mark.parametrize(("units", "words"), [(1, 1), (64, 1), (65, 2), (128, 2), (130, 3)])
def test_a_draw_begins_with_a_word_of_its_own(units: int, words: int) -> None:
    """Every unit has its coin: of 64-bit words as many as hold all of them, the lowest bit first."""
    raw = np.random.PCG64([9, 1]).random_raw(3 * words)
    told = [[int(word) >> bit & 1 for word in row for bit in range(64)][:units] for row in raw.reshape(3, words)]
    assert np.concatenate(list(coins(9, units, 3, 2))).tolist() == told


def test_coins_are_fair_and_do_not_depend_on_chunks() -> None:
    whole = np.concatenate(list(coins(9, 100, 4_000, 4_000)))
    parts = np.concatenate(list(coins(9, 100, 4_000, 333)))
    assert np.array_equal(whole, parts)
    assert whole.shape == (4_000, 100)
    assert abs(whole.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(4_000)


def test_single_precision_only_where_it_is_exact() -> None:
    assert exact_dtype(1_304, 12_000) is np.float32
    assert exact_dtype(1_304, 13_000) is np.float64
    assert exact_dtype(1 << 24, 1) is np.float64


@pytest.mark.parametrize(("units", "rows"), [(1, 128), (1_304, 128), (1 << 20, 8), (1 << 30, 1)])
def test_memory_is_bounded_however_many_units(units: int, rows: int) -> None:
    assert rows_for(units, 128) == rows
