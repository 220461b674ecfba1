"""Tags to the spans that are compared: maximal runs of one tag, normalised, merged over skip words.

Spans to one tag a token, by the original's rule for overlapping spans.

Spans are cut against each other first, the ends taken as inclusive, so that touching spans already count
as overlapping; of what is left, the first span that holds a token's start (or lies within the token)
gives the token its tag. A span that begins inside a token and runs on loses that token.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import compress, islice
from operator import add, attrgetter, ne
from typing import TypeVar

from msgspec import Struct

from sandscore.profiles.presidio.presidio_tokens import TextTokens

OUTSIDE = "O"
DEFAULT_SCORE = 0.5
_START = attrgetter("start")


class ScoredSpan(Struct):
    """A half-open span with its type; of overlapping spans the higher score wins, the later on a tie."""

    start: int
    end: int
    type: str
    score: float = DEFAULT_SCORE


def tag(tokens: TextTokens, spans: Iterable[ScoredSpan]) -> list[str]:
    """The IO tag of every token."""
    starts, ends = tokens.starts, tokens.ends
    tags = [OUTSIDE] * len(starts)
    for span in reversed(_cut(spans)):  # of several that take a token the first one has it
        if not (span.start <= span.end or span.end < span.start):
            continue  # an offset that is not a number is nowhere
        held = bisect_left(starts, span.start), bisect_left(starts, span.end)
        around = bisect_left(ends, max(span.start, span.end)), bisect_right(starts, min(span.start, span.end))
        for first, stop in (held, around):
            if first < stop:
                tags[first:stop] = [span.type] * (stop - first)
    return tags


def _cut(given: Iterable[ScoredSpan]) -> list[ScoredSpan]:
    """The spans cut against each other: stretch by stretch, where none that begins after it has ended matters to it."""
    spans = sorted((ScoredSpan(s.start, s.end, s.type, s.score) for s in given), key=_START)
    if not all(span.start <= span.end for span in spans):
        return _cut_stretch(spans)
    found: list[ScoredSpan] = []
    first, reached = 0, 0
    for at, span in enumerate(spans):
        if span.start > reached:
            found += _cut_stretch(spans[first:at])
            first = at
        reached = max(reached, span.end)
    return found + _cut_stretch(spans[first:])


def _cut_stretch(spans: list[ScoredSpan]) -> list[ScoredSpan]:
    """A piece split off behind is appended, and visited in its turn."""
    at = 0
    while at < len(spans) - 1:
        for other in spans[at + 1 :]:  # a copy: pieces split off in this walk are not part of it
            _settle(spans[at], other, spans)
        at += 1
    return sorted(spans, key=_START)


def _settle(span: ScoredSpan, other: ScoredSpan, spans: list[ScoredSpan]) -> None:
    if not span.start <= other.start <= span.end:
        return
    if span.score > other.score:
        if span.start <= other.end <= span.end:
            other.score = 0.0
        else:
            other.start = span.end + 1
        return
    if other.end < span.end:
        spans.append(ScoredSpan(other.end + 1, span.end, span.type, span.score))
    span.end = other.start - 1


ANY_TYPE = "PII"
Column = TypeVar("Column")


class TaggedDocument(Struct, frozen=True):
    """One document: its tokens, where they start, and both sides' tag of each."""

    id: str
    tokens: Sequence[str]
    starts: Sequence[int]
    gold: Sequence[str]
    predicted: Sequence[str]


class TokenWords(Struct, frozen=True, gc=False):
    """The tokens of one document as the span builder needs them.

    ``lowered`` and ``ends`` are the tokens in lower case and where those end, which need not be where the
    tokens do; ``kept`` says which are no skip words. ``first_row`` is the row label of the first token: token
    positions are looked up under row labels when two spans are merged. The rule is 0; release
    0.2.5 used labels that count through the whole corpus, and so looked at the wrong tokens in every
    document but the first.
    """

    tokens: Sequence[str]
    starts: Sequence[int]
    first_row: int
    lowered: Sequence[str]
    ends: Sequence[int]
    kept: Sequence[bool]
    skip_words: Collection[str]


class TokenSpan(Struct, frozen=True, gc=False):
    """A run of tokens of one type, or several merged.

    ``start`` and ``end`` are where it stands; ``inner_start`` and ``inner_end`` the same without skip words
    at its edges, which is what overlap is measured on. ``first`` and ``stop`` are token positions, ``runs``
    those of each run.
    """

    type: str
    start: int
    end: int
    inner_start: int
    inner_end: int
    first: int
    stop: int
    runs: tuple[tuple[int, int], ...]
    of: TokenWords

    @property
    def value(self) -> str:
        """Its tokens, with one space between."""
        return " ".join(token for first, stop in self.runs for token in self.of.tokens[first:stop])

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens that are no skip words, in lower case."""
        return self._compressed(self.of.lowered)

    @property
    def word_starts(self) -> tuple[int, ...]:
        """Where those stand."""
        return self._compressed(self.of.starts)

    def _compressed(self, column: Sequence[Column]) -> tuple[Column, ...]:
        kept = self.of.kept
        return tuple(one for first, stop in self.runs for one in compress(column[first:stop], kept[first:stop]))


Run = tuple[str, int, int]
"""A tag with the token positions that it spans."""

Known = dict[Run, TokenSpan | None]


def words_of(document: TaggedDocument, first_row: int, skip_words: Collection[str]) -> TokenWords:
    """Everything about the tokens that does not depend on tags, worked out once."""
    lowered = [token.lower() for token in document.tokens]
    ends = list(map(add, document.starts, map(len, lowered)))
    kept = [word not in skip_words for word in lowered]
    return TokenWords(document.tokens, document.starts, first_row, lowered, ends, kept, skip_words)


def runs_of(tags: Sequence[str]) -> list[Run]:
    """Maximal runs of one tag that is not "outside"."""
    cuts = list(compress(range(1, len(tags)), map(ne, tags, islice(tags, 1, None))))
    edges = zip([0, *cuts], [*cuts, len(tags)], strict=True) if tags else ()
    return [(tags[first], first, stop) for first, stop in edges if tags[first] != OUTSIDE]


def any_type(runs: Sequence[Run]) -> list[Run]:
    """The runs with every type replaced by one, so that neighbours become one run."""
    found: list[Run] = []
    for _, first, stop in runs:
        if found and found[-1][2] == first:
            found[-1] = (ANY_TYPE, found[-1][1], stop)
        else:
            found.append((ANY_TYPE, first, stop))
    return found


def spans_of(runs: Sequence[Run], of: TokenWords, known: Known) -> list[TokenSpan]:
    """The merged spans of one side, by start; ``known`` are runs of the same document that were built before."""
    found = []
    for run in runs:
        if run not in known:
            known[run] = _build(run, of)
        span = known[run]
        if span is not None:
            found.append(span)
    return _merge(found, of)


def _build(run: Run, of: TokenWords) -> TokenSpan | None:
    tag, first, stop = run
    kept = of.kept[first:stop]
    if not tag or True not in kept:
        return None
    last = stop - 1
    if first == last:
        inner = of.starts[first], of.ends[first]
    else:
        inner = min(compress(of.starts[first:stop], kept)), max(compress(of.ends[first:stop], kept))
    size = len(of.tokens)
    end = of.starts[last] + len(of.tokens[last])
    after = stop if stop < size else of.first_row + size
    return TokenSpan(tag, of.starts[first], end, *inner, first, after, ((first, stop),), of)


def _merge(spans: list[TokenSpan], of: TokenWords) -> list[TokenSpan]:
    if len(spans) < 2:
        return spans
    spans = sorted(spans, key=_START)
    merged = [spans[0]]
    for span in spans[1:]:
        before = merged[-1]
        if before.type == span.type and _only_skip_words(before.stop, span.first, of):
            merged[-1] = _join(before, span)
        else:
            merged.append(span)
    return merged


def _only_skip_words(first: int, stop: int, of: TokenWords) -> bool:
    between = of.lowered[max(first - of.first_row, 0) : max(stop - of.first_row, 0)]
    return all(word.strip() in of.skip_words for word in between)


def _join(one: TokenSpan, other: TokenSpan) -> TokenSpan:
    return TokenSpan(
        type=one.type,
        start=one.start,
        end=other.end,
        inner_start=min(one.inner_start, other.inner_start),
        inner_end=max(one.inner_end, other.inner_end),
        first=one.first,
        stop=other.stop,
        runs=one.runs + other.runs,
        of=one.of,
    )
