"""The rule by which a stretch of text counts as masked: all of it, but for what the benchmark lets pass.

Release ``head`` lets tokens of four parts of speech, six words and a set of characters pass; release ``2022`` asks no
tagger and looks for thirty-one words and the same characters in the stretch alone.
"""

import re
from collections.abc import Callable, Iterable

_CHARACTERS = " ,.-;:/&()[]–'\"’“”"
_PARTS_OF_SPEECH = frozenset({"ADP", "PART", "CCONJ", "DET"})
_WORDS = frozenset({"mr", "mrs", "ms", "no", "nr", "about"})
_WORDS_2022 = (
    "mr mrs ms and or from until to about after as at before between by during for in into of on over since with"
    " the a an no nr ’s 's"
).split()
_PASSING_2022 = re.compile(rf"\b(?:{'|'.join(_WORDS_2022)})\b|[{re.escape(_CHARACTERS)}]", re.IGNORECASE)

Covered = Callable[[int, int], bool]
"""Whether the stretch from start to end (exclusive) is masked."""
Token = tuple[int, int, str]
"""Start, end (exclusive) and part of speech."""


def masked_characters(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """One byte a character: 1 where any span masks it. What reaches beyond the text masks nothing there."""
    masked = bytearray(len(text))
    for start, end in spans:
        first, last = max(start, 0), min(end, len(text))
        if first < last:
            masked[first:last] = b"\1" * (last - first)
    return masked


def head_rule(text: str, masked: bytearray, tokens: Iterable[Token]) -> Covered:
    """Release ``head``: what passes is decided once for the document, by its tokens."""
    bare = bytearray(masked)
    for place, character in enumerate(text):
        if character in _CHARACTERS:
            bare[place] = 1
    for start, end, part_of_speech in tokens:
        if part_of_speech in _PARTS_OF_SPEECH or text[start:end].lower() in _WORDS:
            bare[start:end] = b"\1" * (end - start)
    return lambda start, end: bare.find(0, start, end) < 0


def rule_2022(text: str, masked: bytearray) -> Covered:
    """Release ``2022``: what passes is looked for in the lower-cased stretch, in which places may have moved."""

    def covered(start: int, end: int) -> bool:
        if masked.find(0, start, end) < 0:
            return True
        left = masked[start:end]
        for found in _PASSING_2022.finditer(text[start:end].lower()):
            first, last = found.start(), min(found.end(), len(left))
            if first < last:
                left[first:last] = b"\1" * (last - first)
        return left.find(0) < 0

    return covered
