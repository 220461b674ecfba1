"""Masks what a text shares with the notes: five words in a row or more, 24 characters in a row or more."""

import re
from collections.abc import Iterable, Iterator

WORDS, CHARACTERS = 5, 24
_ANCHOR = CHARACTERS // 2
MASK = "[masked]"
_WORD = re.compile(r"\w+")

Span = tuple[int, int]


def redact(text: str, notes: Iterable[str]) -> tuple[str, int]:
    """The text with everything it shares with a note masked, and the number of masks."""
    if not text:
        return text, 0
    lowered = _lower(text)
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(lowered)]
    pieces = _Pieces(lowered, [word for word, _, _ in words])
    for note in notes:
        pieces.compare(_lower(note))
    merged = _merged([*pieces.spans_of_characters(lowered), *pieces.spans_of_words(words)])
    for begin, end in reversed(merged):
        text = text[:begin] + MASK + text[end:]
    return text, len(merged)


class _Pieces:
    """All short pieces of a text, and which of them notes have too. Linear in text and notes, whatever they hold."""

    def __init__(self, text: str, words: list[str]) -> None:
        self._anchors = {text[at : at + _ANCHOR] for at in range(len(text) - _ANCHOR + 1)}
        self._vocabulary = set(words) if len(words) >= WORDS else set()
        self._shared: set[str] = set()
        self._shared_words: set[tuple[str, ...]] = set()

    def compare(self, note: str) -> None:
        """Any 24 characters of a note hold a whole piece of 12 that begins at a multiple of 12."""
        for place in range(0, len(note) - _ANCHOR + 1, _ANCHOR):
            if note[place : place + _ANCHOR] in self._anchors:
                first = max(0, place - _ANCHOR)
                self._shared.update(note[at : at + CHARACTERS] for at in range(first, place + 1))
        run: list[str] = []
        for word in _WORD.findall(note) if self._vocabulary else ():
            run = [*run[-WORDS + 1 :], word] if word in self._vocabulary else []
            if len(run) == WORDS:
                self._shared_words.add(tuple(run))

    def spans_of_characters(self, text: str) -> Iterator[Span]:
        for at in range(len(text) - CHARACTERS + 1):
            if text[at : at + CHARACTERS] in self._shared:
                yield at, at + CHARACTERS

    def spans_of_words(self, words: list[tuple[str, int, int]]) -> Iterator[Span]:
        for at in range(len(words) - WORDS + 1):
            window = words[at : at + WORDS]
            if tuple(word for word, _, _ in window) in self._shared_words:
                yield window[0][1], window[-1][2]


def _lower(text: str) -> str:
    """Lower case, character for character, so that positions stay."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for begin, end in sorted(set(spans)):
        if merged and begin <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged
