"""Sums that lose nothing: the standard library's sum of floating-point numbers loses nothing either."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandscore.base import exact_sums
from sandscore.base.exact_sums import LEAST, as_double, exact_sum, exact_total


@given(st.lists(st.tuples(st.integers(0, 2**31), st.integers(1, 2**31)), max_size=60))
def test_sums_of_ratios_are_exact(pairs: list[tuple[int, int]]) -> None:
    ratios = [min(one, other) / max(one, other) for one, other in pairs]
    assert exact_sum(np.array(ratios)) == math.fsum(ratios)


def test_sums_of_very_small_ratios_are_exact() -> None:
    ratios = [1.0, 2.0**-80, 2.0**-52, 2.0**-1000]
    assert exact_sum(np.array(ratios)) == math.fsum(ratios) == 1 + 2.0**-52


@given(st.lists(st.floats(0, 2**40), max_size=40), st.integers(1, 7))
def test_totals_of_pieces_add_up(numbers: list[float], together: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_sums, "_TOGETHER", together)
        total = exact_total(np.array(numbers, np.float64))
    assert Fraction(total, 1 << LEAST) == sum(map(Fraction, numbers))
    assert as_double(total) == math.fsum(numbers)
