"""Pairs of near numbers, walked by the kernel and by Python, are as many as there can be."""

from contextlib import nullcontext
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_comparison import no_kernel

from sandscore.measures import relaxed_match

NUMBERS = st.lists(st.integers(0, 12), max_size=6).map(sorted)


def most_pairs(gold: list[int], predicted: list[int], tolerance: int) -> int:
    """By trying every way to pair them."""
    for size in range(min(len(gold), len(predicted)), 0, -1):
        for some in combinations(gold, size):
            for others in permutations(predicted, size):
                if all(abs(one - other) <= tolerance for one, other in zip(some, others, strict=True)):
                    return size
    return 0


@pytest.mark.parametrize("compiled", [True, False])
@given(gold=NUMBERS, predicted=NUMBERS, tolerance=st.integers(0, 3))
def test_as_many_as_there_can_be(compiled: bool, gold: list[int], predicted: list[int], tolerance: int) -> None:
    keys, sought = np.array(gold, np.int64), np.array(predicted, np.int64)
    with nullcontext() if compiled else no_kernel():
        found = relaxed_match.walked(keys, sought - tolerance, sought + tolerance)
    assert int(found.sum()) == most_pairs(gold, predicted, tolerance)


@given(gold=NUMBERS, predicted=NUMBERS, tolerance=st.integers(0, 3))
def test_both_take_the_same(gold: list[int], predicted: list[int], tolerance: int) -> None:
    sought = np.array(predicted, np.int64)
    given_to = np.array(gold, np.int64), sought - tolerance, sought + tolerance
    compiled = relaxed_match.walked(*given_to)
    with no_kernel():
        assert compiled.tolist() == relaxed_match.walked(*given_to).tolist()
