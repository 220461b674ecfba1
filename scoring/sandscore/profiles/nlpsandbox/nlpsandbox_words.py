"""Places of the words of many texts, at once: rule by rule where a rule may apply, in one pass elsewhere."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.profiles.nlpsandbox.penn_treebank import MARKS, WORDS

Split = Callable[[str], list[tuple[int, str]]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]
_ASCII = 127

_WHITE_SPACE = bytes(chr(code).isspace() for code in range(256))
_MARKED = bytes(code > _ASCII or chr(code) in MARKS for code in range(256))
_DOUBLED = bytes(code | 32 if chr(code | 32) in "mnt" else 0 for code in range(256))
"""By byte; whatever is not ASCII is looked at by the rules."""


class TextParts(Struct, frozen=True):
    """Texts end to end in UTF-8 with a line feed behind each, and how many bytes each has without it.

    ``pieces`` are all that stands between white space, where that is known: the number of a text, offset and length.
    """

    written: Codes
    sizes: Integers
    pieces: tuple[Integers, Integers, Integers] | None = None

    @classmethod
    def of(cls, texts: Sequence[str]) -> "TextParts":
        """These texts."""
        joined, sizes = "\n".join([*texts, ""]), np.fromiter(map(len, texts), np.int64, len(texts))
        if not joined.isascii():
            sizes = np.array([len(text.encode("utf-8", "surrogatepass")) for text in texts], np.int64)
        return cls(np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8), sizes)

    @property
    def begins(self) -> Integers:
        """Where each text begins."""
        return np.cumsum(self.sizes + 1) - self.sizes - 1

    def texts(self, numbers: Integers) -> list[str]:
        """Some of them."""
        begins = self.begins[numbers]
        written, ends = self.written.tobytes(), (begins + self.sizes[numbers]).tolist()
        return [str(written[a:b], "utf-8", "surrogatepass") for a, b in zip(begins.tolist(), ends, strict=True)]


class TextWords(Struct, frozen=True):
    """One row a word: the number of its text, its offset there, its length."""

    text: Integers
    offset: Integers
    length: Integers
    misplacing: int
    """How many different texts have words at a place that does not hold them."""


def words_by_rules(parts: TextParts, split: Split) -> TextWords:
    """Every text through ``split``, equal ones once."""
    return _ruled_words(parts, np.arange(len(parts.sizes)), split)


def _ruled_words(parts: TextParts, numbers: Integers, split: Split) -> TextWords:
    known: dict[str, list[tuple[int, str]]] = {}
    rows: list[tuple[int, int, int]] = []
    for number, text in zip(numbers.tolist(), parts.texts(numbers), strict=True):
        words = known.get(text)
        if words is None:
            words = known[text] = split(text)
        rows += [(number, offset, len(word)) for offset, word in words]
    table = np.array(rows, np.int64).reshape(-1, 3)
    return TextWords(table[:, 0], table[:, 1], table[:, 2], sum(map(misplaces, known.items())))


def treebank_words(parts: TextParts, split: Split) -> TextWords:
    """The same for Treebank tokens; the texts that no rule looks at are cut together."""
    written, begins = parts.written.tobytes(), parts.begins
    ruled = np.zeros(len(begins), np.bool_)
    ruled[_text_at(begins, _marks(written))] = True
    doubled = np.zeros(len(begins), np.bool_)
    doubled[_text_at(begins, _doubled(written))] = True
    some = np.flatnonzero(doubled & ~ruled)
    ruled[some] = [WORDS.search(text) is not None for text in parts.texts(some)]
    text, offset, length = parts.pieces or _pieces(written, begins)
    numbers = np.flatnonzero(ruled)
    if len(numbers):
        plain = ~ruled[text]
        text, offset, length = text[plain], offset[plain], length[plain]
    others = _ruled_words(parts, numbers, split)
    return TextWords(
        np.concatenate((text, others.text)),
        np.concatenate((offset, others.offset)),
        np.concatenate((length, others.length)),
        others.misplacing,
    )


def misplaces(text_and_words: tuple[str, list[tuple[int, str]]]) -> bool:
    """Whether a word stands where its text does not hold it."""
    text, words = text_and_words
    return any(offset < 0 or not text.startswith(word, offset) for offset, word in words)


def _text_at(begins: Integers, places: Integers) -> Integers:
    return np.searchsorted(begins, places, "right") - 1


def _among(written: bytes, table: bytes) -> Flags:
    """What a table says of each of these bytes."""
    return np.frombuffer(bytearray(written.translate(table)), np.bool_)


def _marks(written: bytes) -> Integers:
    """Where something stands that some rule may look at."""
    marked = _among(written, _MARKED)
    if b"--" in written:
        hyphen = np.frombuffer(written, np.uint8) == ord("-")
        marked[1:] |= hyphen[1:] & hyphen[:-1]
    return np.flatnonzero(marked)


def _doubled(written: bytes) -> Integers:
    """Where one of the letters stands twice that all words which are two have twice."""
    letters = np.frombuffer(written.translate(_DOUBLED), np.uint8)
    return np.flatnonzero((letters[1:] == letters[:-1]) & (letters[1:] > 0))


def _pieces(written: bytes, begins: Integers) -> tuple[Integers, Integers, Integers]:
    """Runs of other than white space; the last text ends with some."""
    space = _among(written, _WHITE_SPACE)
    edges = np.flatnonzero(np.concatenate((~space[:1], space[1:] != space[:-1])))
    start, end = edges[::2], edges[1::2]
    text = _text_at(begins, start)
    return text, start - begins[text], end - start
