"""Spans to one tag a token, by the original's rule for overlapping spans.

Spans are cut against each other first, the ends taken as inclusive, so that touching spans already count
as overlapping; of what is left, the first span that holds a token's start (or lies within the token)
gives the token its tag. A span that begins inside a token and runs on loses that token.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sandscore.profiles.presidio.presidio_tokens import Token

OUTSIDE = "O"
DEFAULT_SCORE = 0.5


class ScoredSpan(Struct):
    """A half-open span with its type; of overlapping spans the higher score wins, the later on a tie."""

    start: int
    end: int
    type: str
    score: float = DEFAULT_SCORE


def tag(tokens: Sequence[Token], spans: Iterable[ScoredSpan]) -> list[str]:
    """The IO tag of every token."""
    cut = _cut(spans)
    return [_tag_of(token, cut) for token in tokens]


def _tag_of(token: Token, spans: Sequence[ScoredSpan]) -> str:
    for span in spans:
        holds_start = span.start <= token.start < span.end
        if holds_start or (token.start <= span.start <= token.end and token.start <= span.end <= token.end):
            return span.type
    return OUTSIDE


def _cut(given: Iterable[ScoredSpan]) -> list[ScoredSpan]:
    """The spans cut against each other; a piece split off behind is appended, and visited in its turn."""
    spans = sorted((ScoredSpan(s.start, s.end, s.type, s.score) for s in given), key=lambda s: s.start)
    at = 0
    while at < len(spans) - 1:
        for other in spans[at + 1 :]:  # a copy: pieces split off in this walk are not part of it
            _settle(spans[at], other, spans)
        at += 1
    return sorted(spans, key=lambda s: s.start)


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
