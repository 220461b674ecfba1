"""Places of the words of many texts, at once: rule by rule where a rule may apply, in one pass elsewhere."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.profiles.nlpsandbox.penn_treebank import DOUBLE_WORDS, MARKS, WORDS

Split = Callable[[str], list[tuple[int, str]]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_CODES = [chr(code) for code in range(0x3002)]
_WHITE_SPACE = np.array([character.isspace() for character in _CODES])
_MARKED = np.array([character in MARKS for character in _CODES])
"""By code point; the last entry stands for all that lie above, of which none is white space or marked."""


class TextWords(Struct, frozen=True):
    """One row a word: the number of its text, its offset there, its length."""

    text: Integers
    offset: Integers
    length: Integers
    misplacing: int
    """How many different texts have words at a place that does not hold them."""


def words_by_rules(texts: Sequence[str], split: Split) -> TextWords:
    """Every text through ``split``, equal ones once."""
    known: dict[str, list[tuple[int, str]]] = {}
    rows: list[tuple[int, int, int]] = []
    for number, text in enumerate(texts):
        words = known.get(text)
        if words is None:
            words = known[text] = split(text)
        rows += [(number, offset, len(word)) for offset, word in words]
    table = np.array(rows, np.int64).reshape(-1, 3)
    return TextWords(table[:, 0], table[:, 1], table[:, 2], sum(map(misplaces, known.items())))


def treebank_words(texts: Sequence[str], split: Split) -> TextWords:
    """The same for Treebank tokens."""
    joined = "\n".join(texts)
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    begins = np.cumsum(sizes + 1) - sizes - 1
    ruled = np.zeros(len(texts), np.bool_)
    ruled[_text_at(begins, _marks(codes))] = True
    lower = joined.lower()
    if any(word in lower for word in DOUBLE_WORDS):
        ruled[_text_at(begins, np.array([found.start() for found in WORDS.finditer(joined)], np.int64))] = True
    start, end = _runs(codes)
    text = _text_at(begins, start)
    plain = ~ruled[text]
    start, end, text = start[plain], end[plain], text[plain]
    numbers = np.flatnonzero(ruled)
    others = words_by_rules([texts[number] for number in numbers.tolist()], split)
    return TextWords(
        np.concatenate((text, numbers[others.text])),
        np.concatenate((start - begins[text], others.offset)),
        np.concatenate((end - start, others.length)),
        others.misplacing,
    )


def misplaces(text_and_words: tuple[str, list[tuple[int, str]]]) -> bool:
    """Whether a word stands where its text does not hold it."""
    text, words = text_and_words
    return any(offset < 0 or not text.startswith(word, offset) for offset, word in words)


def _text_at(begins: Integers, places: Integers) -> Integers:
    return np.searchsorted(begins, places, "right") - 1


def _marks(codes: NDArray[np.uint32]) -> Integers:
    """Where a character stands that some rule may look at."""
    marked = np.take(_MARKED, codes, mode="clip")
    hyphen = codes == ord("-")
    marked[1:] |= hyphen[1:] & hyphen[:-1]
    return np.flatnonzero(marked)


def _runs(codes: NDArray[np.uint32]) -> tuple[Integers, Integers]:
    """Where runs of other than white space begin and end."""
    solid = np.concatenate(([False], ~np.take(_WHITE_SPACE, codes, mode="clip"), [False]))
    edges = np.flatnonzero(solid[1:] != solid[:-1])
    return edges[::2], edges[1::2]
