"""Intersection over union of spans, as the original computes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandscore.measuring.profiles.presidio.spans import TokenSpan


@dataclass(frozen=True, slots=True)
class Overlap:
    """How overlap is measured: in characters or in words, and whether a word's place counts."""

    by_characters: bool
    words_have_places: bool

    def plain(self, gold: TokenSpan, predicted: TokenSpan) -> float:
        """Of one prediction with one gold span; touching is no overlap."""
        if not self.by_characters:
            return self._by_words(gold, [predicted])
        shared = min(gold.inner_end, predicted.inner_end) - max(gold.inner_start, predicted.inner_start)
        if shared <= 0:
            return 0.0
        whole = max(gold.inner_end, predicted.inner_end) - min(gold.inner_start, predicted.inner_start)
        return shared / whole

    def combined(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        """Of several predictions of one type together.

        As the original runs it: every span is one character too long, and all but the first prediction
        are shifted one to the left.
        """
        if not self.by_characters:
            return self._by_words(gold, predicted)
        mine = set(range(gold.inner_start, gold.inner_end + 1))
        theirs = set(range(predicted[0].inner_start, predicted[0].inner_end + 1))
        for span in predicted[1:]:
            theirs.update(range(span.inner_start - 1, span.inner_end))
        return _jaccard(mine, theirs)

    def true_combined(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        """What ``combined`` would be without the original's slip."""
        if not self.by_characters:
            return self._by_words(gold, predicted)
        theirs: set[int] = set()
        theirs.update(*(range(span.inner_start, span.inner_end) for span in predicted))
        return _jaccard(set(range(gold.inner_start, gold.inner_end)), theirs)

    def _by_words(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        theirs: set[Any] = set()
        theirs.update(*map(self._words, predicted))
        return _jaccard(self._words(gold), theirs)

    def _words(self, span: TokenSpan) -> set[Any]:
        if self.words_have_places:
            return set(zip(span.word_starts, span.words, strict=True))
        return set(span.words)


def _jaccard(one: set[Any], other: set[Any]) -> float:
    whole = len(one | other)
    return len(one & other) / whole if whole else 0.0
