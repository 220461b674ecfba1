"""White-space tokens of many texts at once: maximal runs of characters that are not ``str.isspace``."""

from functools import cache

from msgspec import Struct

from sandscore.annotations.columns import Tokens
from sandscore.base.arrays import Ints, Mask, Small, np


def tokens_of(joined: str, sizes: Small) -> Tokens:
    """The tokens of texts of these sizes, given with a line feed before, between and after them."""
    space = _spaces(joined)
    edges = np.flatnonzero(space[1:] != space[:-1])
    begins, ends = edges[::2], edges[1::2]
    closed = np.cumsum(sizes + 1, dtype=np.int64)
    words = np.diff(np.searchsorted(begins, closed), prepend=0)
    begin = begins - np.repeat(closed - sizes - 1, words)
    return Tokens(words.astype(np.int32), begin.astype(np.int32), (ends - begins).astype(np.int32))


class TokenTable(Struct, frozen=True):
    """A file's tokens and where each annotation's end among them."""

    tokens: Tokens
    ends: Ints

    def of(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """The tokens of some annotations: the place in ``rows`` of each one's annotation, begin and size."""
        words = self.tokens.words[rows]
        owner = np.repeat(np.arange(len(rows)), words)
        token = np.arange(len(owner)) + (self.ends[rows] - np.cumsum(words))[owner]
        return owner, self.tokens.begin[token], self.tokens.size[token]


def table_of(tokens: Tokens | None) -> TokenTable | None:
    """Tokens that can be looked up."""
    return None if tokens is None else TokenTable(tokens, np.cumsum(tokens.words, dtype=np.int64))


@cache
def _white_space(end: int) -> Mask:
    """Which of the first characters are white space."""
    return np.array([chr(c).isspace() for c in range(end)])


def _spaces(text: str) -> Mask:
    if text.isascii():
        return _white_space(0x80)[np.frombuffer(text.encode(), np.uint8)]
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return _white_space(0x3002)[np.minimum(points, 0x3001)]  # none beyond U+3000 is
