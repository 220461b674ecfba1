"""What the texts of a regular block are made of."""

from collections.abc import Iterator

import numpy as np

from sandscore.reading.columns import Ints, Mask
from sandscore.reading.regular.words import FIRST_BYTES, HIGH, Masks, Words, every, marked

LONGEST = 64
_BLANKS, _LETTERS = every(0x20), every(0x41)
_QUOTE, _BACKSLASH, _SPACE = b'"\\ '


def pieces(begin: Ints, sizes: Ints) -> Iterator[tuple[Ints | slice, Ints, Masks]]:
    """Texts word by word: whose words, where they begin, and which of their bytes belong to the text."""
    yield slice(None), begin, FIRST_BYTES[np.minimum(sizes, 8)]
    rows, at = np.flatnonzero(sizes > 8), 8
    while len(rows):
        yield rows, begin[rows] + np.minimum(at, sizes[rows] - 8), FIRST_BYTES[8:]
        rows, at = rows[sizes[rows] > at + 8], at + 8


def plain_and_spaced(words: Words, begin: Ints, sizes: Ints) -> tuple[Mask, Mask]:
    """Which texts are ASCII that stands for itself and not very long, and which of them hold a space."""
    plain = sizes <= LONGEST
    sizes = np.minimum(sizes, LONGEST)
    spaced = np.zeros(len(begin), bool)
    for rows, places, kept in pieces(begin, sizes):
        found = words.at(places) & kept | _LETTERS & ~kept
        odd = found | (found - _BLANKS) & ~found | marked(found, _QUOTE) | marked(found, _BACKSLASH)
        plain[rows] &= odd & HIGH == 0
        spaced[rows] |= marked(found, _SPACE) != 0
    return plain, spaced
