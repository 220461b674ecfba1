"""Tags to the spans that are compared: maximal runs of one tag, normalised, merged over skip words."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from sandscore.measuring.profiles.presidio.tagging import OUTSIDE

ANY_TYPE = "PII"


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """One document: its tokens, where they start, and both sides' tag of each."""

    id: str
    tokens: Sequence[str]
    starts: Sequence[int]
    gold: Sequence[str]
    predicted: Sequence[str]


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A run of tokens of one type.

    ``start`` and ``end`` are where it stands; ``inner_start`` and ``inner_end`` the same without skip words
    at its edges, which is what overlap is measured on. ``words`` are the lower-cased tokens that are no
    skip words, ``word_starts`` their offsets; ``first`` and ``stop`` are token positions.
    """

    type: str
    value: str
    start: int
    end: int
    inner_start: int
    inner_end: int
    words: tuple[str, ...]
    word_starts: tuple[int, ...]
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Side:
    """The tokens of one document as the span builder needs them.

    ``rows`` are the row labels that token positions are looked up under when two spans are merged. The
    rule is the identity; release 0.2.5 used labels that count through the whole corpus, and so looked at
    the wrong tokens in every document but the first.
    """

    tokens: Sequence[str]
    starts: Sequence[int]
    rows: Sequence[int]
    lowered: Sequence[str]


def side_of(document: TaggedDocument, rows: Sequence[int]) -> Side:
    return Side(document.tokens, document.starts, rows, [token.lower() for token in document.tokens])


def spans_of(tags: Sequence[str], side: Side, skip: Collection[str]) -> list[TokenSpan]:
    """The merged spans of one side, by start."""
    found = []
    stop = 0
    for tag, group in groupby(tags):
        first, stop = stop, stop + sum(1 for _ in group)
        if tag and tag != OUTSIDE:
            span = _build(tag, first, stop, side, skip)
            if span:
                found.append(span)
    return _merge(found, side, skip)


def any_type(tags: Sequence[str]) -> list[str]:
    """The tags with every type replaced by one."""
    return [OUTSIDE if tag == OUTSIDE else ANY_TYPE for tag in tags]


def _build(tag: str, first: int, stop: int, side: Side, skip: Collection[str]) -> TokenSpan | None:
    lowered, starts = side.lowered, side.starts
    kept = [i for i in range(first, stop) if lowered[i] not in skip]
    if not kept:
        return None
    last = stop - 1
    return TokenSpan(
        type=tag,
        value=" ".join(side.tokens[first:stop]),
        start=starts[first],
        end=starts[last] + len(side.tokens[last]),
        inner_start=min(starts[i] for i in kept),
        inner_end=max(starts[i] + len(lowered[i]) for i in kept),
        words=tuple(lowered[i] for i in kept),
        word_starts=tuple(starts[i] for i in kept),
        first=first,
        stop=stop if stop < len(side.tokens) else side.rows[-1] + 1,
    )


def _merge(spans: list[TokenSpan], side: Side, skip: Collection[str]) -> list[TokenSpan]:
    if len(spans) < 2:
        return spans
    spans = sorted(spans, key=lambda span: span.start)
    merged = [spans[0]]
    for span in spans[1:]:
        before = merged[-1]
        if before.type == span.type and _only_skip_words(before.stop, span.first, side, skip):
            merged[-1] = _join(before, span)
        else:
            merged.append(span)
    return merged


def _only_skip_words(first: int, stop: int, side: Side, skip: Collection[str]) -> bool:
    between = range(bisect_left(side.rows, first), bisect_left(side.rows, stop))
    return all(side.lowered[i].strip() in skip for i in between)


def _join(one: TokenSpan, other: TokenSpan) -> TokenSpan:
    return TokenSpan(
        type=one.type,
        value=f"{one.value} {other.value}",
        start=one.start,
        end=other.end,
        inner_start=min(one.inner_start, other.inner_start),
        inner_end=max(one.inner_end, other.inner_end),
        words=one.words + other.words,
        word_starts=one.word_starts + other.word_starts,
        first=one.first,
        stop=other.stop,
    )
