"""The rule by which a stretch of text counts as masked: all of it, but for what the benchmark lets pass.

Release ``head`` lets tokens of four parts of speech, six words and a set of characters pass; release ``2022`` asks no
tagger and looks for thirty-one words and the same characters in the stretch alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np

from sandscore.profiles.tab.corpus_grid import CorpusGrid, Covering, Flags, Ints, numbers, without

CHARACTERS = " ,.-;:/&()[]–'\"’“”"
_PARTS_OF_SPEECH = frozenset({"ADP", "PART", "CCONJ", "DET"})
_WORDS = frozenset({"mr", "mrs", "ms", "no", "nr", "about"})
_LONGEST = max(map(len, _WORDS))
_WORDS_2022 = (
    "mr mrs ms and or from until to about after as at before between by during for in into of on over since with"
    " the a an no nr ’s 's"
).split()
PLAIN_WORDS_2022 = tuple(word for word in _WORDS_2022 if word.isalpha())
"""All but the genitives."""
QUOTES = {word[0] for word in _WORDS_2022} - {word[0] for word in PLAIN_WORDS_2022}
_PASSING_2022 = re.compile(rf"\b(?:{'|'.join(_WORDS_2022)})\b|[{re.escape(CHARACTERS)}]", re.IGNORECASE)
LENGTHENED = "İ"
"""The only character that is more than one in lower case: what is found behind it has moved."""
_GENITIVES = frozenset({"s", "ſ"})
"""Words that pass where a quote stands before them, and else do not."""

Covered = Callable[[Ints, Ints], Flags]
"""Which stretches from start to end (exclusive) are masked."""
Token = tuple[int, int, str]
"""Start, end (exclusive) and part of speech."""


def head_rule(grid: CorpusGrid, masked: Covering, tokens: Iterable[Sequence[Token]]) -> Covered:
    """Release ``head``: what passes is decided once for the texts, by their tokens, a list a document."""
    starts, ends = [masked.start], [masked.end]
    for document, base, listed in zip(grid.documents, grid.base.tolist(), tokens, strict=True):
        passing = [
            (start, end)
            for start, end, part in listed
            if part in _PARTS_OF_SPEECH
            or (end - start <= _LONGEST and document.text[start:end].lower() in _WORDS and start < end)
        ]
        starts.append(base + numbers([start for start, _ in passing]))
        ends.append(base + numbers([end for _, end in passing]))
    covering = Covering.of(np.concatenate(starts), np.concatenate(ends))
    needy = np.flatnonzero(~(covering.flags(len(grid.points)) | grid.among(CHARACTERS.__contains__)))
    return lambda start, end: without(needy, start, end)


def rule_2022(grid: CorpusGrid, masked: Covering) -> Covered:
    """Release ``2022``: what passes is looked for in the lower-cased stretch, in which places may have moved.

    A word passes wherever it stands, but for the genitive's; so only stretches with one, or with a character that
    lower case makes longer, are searched one by one.
    """
    beside = np.flatnonzero(~(grid.word_at | grid.among(CHARACTERS.__contains__)))
    beside = beside[~masked.holds(beside, beside + 1)]
    odd = np.flatnonzero(grid.among(LENGTHENED.__eq__)) if LENGTHENED in grid.text else numbers([])

    @cache
    def verdict(word: str) -> int:
        """1: it needs a mask; 2: that depends on what stands before it."""
        if word.lower() in _GENITIVES:
            return 2
        return 0 if _PASSING_2022.fullmatch(word.lower()) else 1

    def covered(start: Ints, end: Ints) -> Flags:
        safe = masked.holds(start, end)
        start, end = start[~safe], end[~safe]
        words = grid.words(start, end)
        bare = np.flatnonzero(~masked.holds(words.start, words.end))
        ends = zip(words.start[bare].tolist(), words.end[bare].tolist(), strict=True)
        said = [verdict(grid.text[first:last]) for first, last in ends]
        needy = np.zeros((3, len(start)), bool)
        needy[said, words.of[bare]] = True
        rest = without(beside, start, end) & ~needy[1]
        for at in np.flatnonzero(needy[2] | ~without(odd, start, end)).tolist():
            rest[at] = _searched(grid.text, masked, int(start[at]), int(end[at]))
        safe[~safe] = rest
        return safe

    return covered


def _searched(text: str, masked: Covering, start: int, end: int) -> bool:
    places = np.arange(start, end)
    left = masked.holds(places, places + 1)
    for found in _PASSING_2022.finditer(text[start:end].lower()):
        left[found.start() : found.end()] = True
    return bool(left.all())
