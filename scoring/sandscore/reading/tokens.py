"""White-space tokens of many texts at once: maximal runs of characters that are not ``str.isspace``."""

import numpy as np

from sandscore.reading.columns import Ints, Mask, Small

_SPACE = np.array([chr(c).isspace() for c in range(0x3002)])
"""Which characters are white space; none beyond U+3000 is."""


def tokens_of(texts: list[str], starts: Ints, sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Owner, start in the note and length of every token."""
    edges = _edges(texts)
    begins, ends = edges[::2], edges[1::2]
    text_begins = np.cumsum(sizes + 1) - sizes - 1
    owner = np.searchsorted(text_begins, begins, side="right") - 1
    return owner, starts[owner] + begins - text_begins[owner], ends - begins


def words_of(texts: list[str], sizes: Small) -> Small:
    """How many tokens each text has."""
    begins = _edges(texts)[::2]
    closed = np.searchsorted(begins, np.cumsum(sizes + 1, dtype=np.int64))
    return np.diff(closed, prepend=0).astype(np.int32)


def _edges(texts: list[str]) -> Ints:
    """Where tokens begin and end in turn, in the texts laid end to end with one character between them."""
    space = _spaces("\n".join(["", *texts, ""]))
    return np.flatnonzero(space[1:] != space[:-1])


def _spaces(text: str) -> Mask:
    if text.isascii():
        return _SPACE[np.frombuffer(text.encode(), np.uint8)]
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _SPACE[np.minimum(points, 0x3001)]
