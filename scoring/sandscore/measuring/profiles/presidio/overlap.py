"""Intersection over union of spans, as the original computes it."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from sandscore.measuring.profiles.presidio.spans import TokenSpan


@dataclass(frozen=True, slots=True)
class Overlap:
    """How overlap is measured: in characters or in words, and whether a word's place counts."""

    by_characters: bool
    words_have_places: bool

    def around(self, predicted: Sequence[TokenSpan]) -> Callable[[TokenSpan], Sequence[TokenSpan]]:
        """For a gold span, those of the predictions that can overlap it, without a look at each of them."""
        begins = [span.inner_start for span in predicted]
        if not self.by_characters or begins != sorted(begins):
            return lambda _: predicted
        reached = list(accumulate([span.inner_end for span in predicted], max))

        def between(gold: TokenSpan) -> Sequence[TokenSpan]:
            return predicted[bisect_right(reached, gold.inner_start) : bisect_left(begins, gold.inner_end)]

        return between

    def near(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> list[tuple[TokenSpan, float]]:
        """The predictions that overlap a gold span, each with its own overlap; touching is no overlap."""
        if not self.by_characters:
            return [(span, iou) for span in predicted if (iou := self._by_words(gold, [span])) > 0]
        start, end = gold.inner_start, gold.inner_end
        touching = [span for span in predicted if span.inner_start < end and span.inner_end > start]
        return [(span, iou) for span in touching if (iou := _plain(gold, span)) > 0]

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


def _plain(one: TokenSpan, other: TokenSpan) -> float:
    shared = min(one.inner_end, other.inner_end) - max(one.inner_start, other.inner_start)
    return shared / (max(one.inner_end, other.inner_end) - min(one.inner_start, other.inner_start))


def _jaccard(one: set[Any], other: set[Any]) -> float:
    whole = len(one | other)
    return len(one & other) / whole if whole else 0.0
