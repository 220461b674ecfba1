"""Sums of floating-point numbers in which no bit is lost, whatever their order."""

import math

from sandscore.base.arrays import Floats, np

LEAST = 1074
"""Sums are in units of two to the power of minus this, the least number that a double is."""
_HALF = 43
"""Twice as many bits hold what a ratio of counts below 2^31 can be, from 1 to the last digit of the least."""
_MANY = 2048
"""Fewer are added up one by one sooner."""
_SMALLEST, _MOST, _TOGETHER = 2.0**-34, 2.0**19, 1 << 19


def exact_total(numbers: Floats) -> int:
    """What numbers that are not negative come to, in units of 2^-``LEAST``."""
    return sum(_total(numbers[first : first + _TOGETHER]) for first in range(0, len(numbers), _TOGETHER))


def exact_sum(numbers: Floats) -> float:
    """The double that is nearest to the sum, as ``math.fsum`` has it."""
    return math.fsum(numbers.tolist()) if len(numbers) < _MANY else as_double(exact_total(numbers))


def in_units(whole: int, part: int, rest: int) -> int:
    """The total of a sum that was added up in units of 1, of 2^-43 and of 2^-86."""
    return ((whole << _HALF) + part << _HALF) + rest << LEAST - 2 * _HALF


def as_double(total: int) -> float:
    """The nearest one; halves go to the even one."""
    return total / (1 << LEAST)


def _total(numbers: Floats) -> int:
    """In two halves of whole numbers, where these hold all bits."""
    if float(numbers[numbers > 0].min(initial=1.0)) < _SMALLEST or float(numbers.sum()) > _MOST:
        return sum(part * ((1 << LEAST) // whole) for part, whole in map(float.as_integer_ratio, numbers.tolist()))
    scaled = numbers * 2.0**_HALF
    whole = np.floor(scaled)
    scaled -= whole
    scaled *= 2.0**_HALF
    high, low = (int(half.astype(np.int64).sum()) for half in (whole, scaled))
    return ((high << _HALF) + low) << (LEAST - 2 * _HALF)
