"""Numbers as JSON writes them, many at once."""

import numpy as np

from sandscore.reading.columns import Floats, Ints, Mask
from sandscore.reading.regular.words import HIGH, Masks, Words, every, first_mark

_ZEROS, _BEYOND_NINE = every(0x30), every(0x76)
_STEPS = (
    (np.uint64(10), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10_000), np.uint64(32), np.uint64(0xFFFFFFFF)),
)
_LEAST = np.array([1 << 62, 0, *(10**digits for digits in range(1, 7))])
"""The least whole number of so many digits; there is none of no digits."""
_POWERS = 10.0 ** np.arange(8)
_POINT = b"."


def whole(words: Words, places: Ints) -> tuple[Ints, Ints, Mask]:
    """Whole numbers of at most seven digits, how many digits each has, and where there is one."""
    numbers, digits = _digits(words.at(places))
    return numbers, digits, numbers >= _LEAST[digits]


def decimal(words: Words, places: Ints) -> tuple[Floats, Ints, Mask]:
    """The same for numbers that may have up to seven digits after a point.

    All digits together are a number below 2^53, and so is the power of ten it is divided by: the quotient is the
    nearest there is, as if the decimal had been read by any other means.
    """
    numbers, sizes, right = whole(words, places)
    values = numbers.astype(np.float64)
    pointed = np.flatnonzero(words.are(_POINT, places + sizes))
    if len(pointed):
        after = places[pointed] + sizes[pointed] + 1
        fractions, digits = _digits(words.at(after))
        shifted = numbers[pointed] * _POWERS[digits] + fractions
        values[pointed] = shifted / _POWERS[digits]
        sizes[pointed] += 1 + digits
        right[pointed] &= digits > 0
    return values, sizes, right


def _digits(words: Masks) -> tuple[Ints, Ints]:
    """The number that a word's first digits make, and how many there are; none where all eight are."""
    values = words ^ _ZEROS
    digits = first_mark(((values + _BEYOND_NINE) | values) & HIGH)
    values <<= (64 - 8 * digits).astype(np.uint64)
    for factor, shift, mask in _STEPS:
        values = (values * factor + (values >> shift)) & mask
    return values.astype(np.int64), digits
