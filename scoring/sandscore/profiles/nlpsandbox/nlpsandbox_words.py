"""Places of the words of many texts, at once: rule by rule where a rule may apply, in one pass elsewhere."""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.profiles.nlpsandbox.penn_treebank import DOUBLE_WORDS, MARKS, WORDS

Split = Callable[[str], list[tuple[int, str]]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.uint8]

_WHITE_SPACE = bytes(chr(code).isspace() for code in range(256))
_MARKED = bytes(chr(code) in MARKS for code in range(256))
"""By code point, of which only those of ASCII are looked up."""


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
    """The same for Treebank tokens; of texts that are all ASCII those that no rule looks at are cut together."""
    ruled = ~np.fromiter(map(str.isascii, texts), np.bool_, len(texts))
    joined = "\n".join(texts if not ruled.any() else [text if text.isascii() else "" for text in texts])
    codes = np.frombuffer(joined.encode(), np.uint8)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    sizes[ruled] = 0
    begins = np.cumsum(sizes + 1) - sizes - 1
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


def _among(codes: Codes, table: bytes) -> Flags:
    """What a table says of each of these characters."""
    return np.frombuffer(bytearray(codes.tobytes().translate(table)), np.bool_)


def _marks(codes: Codes) -> Integers:
    """Where a character stands that some rule may look at."""
    marked = _among(codes, _MARKED)
    hyphen = codes == ord("-")
    marked[1:] |= hyphen[1:] & hyphen[:-1]
    return np.flatnonzero(marked)


def _runs(codes: Codes) -> tuple[Integers, Integers]:
    """Where runs of other than white space begin and end."""
    solid = np.concatenate(([False], ~_among(codes, _WHITE_SPACE), [False]))
    edges = np.flatnonzero(solid[1:] != solid[:-1])
    return edges[::2], edges[1::2]
