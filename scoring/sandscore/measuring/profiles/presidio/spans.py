"""Tags to the spans that are compared: maximal runs of one tag, normalised, merged over skip words."""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from typing import NamedTuple

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


class TokenSpan(NamedTuple):
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
class Words:
    """The tokens of one document as the span builder needs them.

    ``lowered`` and ``ends`` are the tokens in lower case and where those end, which need not be where the
    tokens do; ``kept`` says which are no skip words. ``rows`` are the row labels
    that token positions are looked up under when two spans are merged. The rule is the identity; release
    0.2.5 used labels that count through the whole corpus, and so looked at the wrong tokens in every
    document but the first.
    """

    tokens: Sequence[str]
    starts: Sequence[int]
    rows: Sequence[int]
    lowered: Sequence[str]
    ends: Sequence[int]
    kept: Sequence[bool]
    skip_words: Collection[str]


def words_of(document: TaggedDocument, rows: Sequence[int], skip_words: Collection[str]) -> Words:
    """Everything about the tokens that does not depend on tags, worked out once."""
    lowered = [token.lower() for token in document.tokens]
    ends = [start + len(word) for start, word in zip(document.starts, lowered, strict=True)]
    kept = [word not in skip_words for word in lowered]
    return Words(document.tokens, document.starts, rows, lowered, ends, kept, skip_words)


def spans_of(tags: Sequence[str], of: Words) -> list[TokenSpan]:
    """The merged spans of one side, by start."""
    found = []
    stop = 0
    for tag, group in groupby(tags):
        first, stop = stop, stop + len(list(group))
        if tag and tag != OUTSIDE:
            span = _build(tag, first, stop, of)
            if span:
                found.append(span)
    return _merge(found, of)


def any_type(tags: Sequence[str]) -> list[str]:
    """The tags with every type replaced by one."""
    return [OUTSIDE if tag == OUTSIDE else ANY_TYPE for tag in tags]


def _build(tag: str, first: int, stop: int, of: Words) -> TokenSpan | None:
    kept = of.kept[first:stop]
    words = tuple(compress(of.lowered[first:stop], kept))
    if not words:
        return None
    word_starts = tuple(compress(of.starts[first:stop], kept))
    last = stop - 1
    return TokenSpan(
        type=tag,
        value=" ".join(of.tokens[first:stop]),
        start=of.starts[first],
        end=of.starts[last] + len(of.tokens[last]),
        inner_start=min(word_starts),
        inner_end=max(compress(of.ends[first:stop], kept)),
        words=words,
        word_starts=word_starts,
        first=first,
        stop=stop if stop < len(of.tokens) else of.rows[-1] + 1,
    )


def _merge(spans: list[TokenSpan], of: Words) -> list[TokenSpan]:
    if len(spans) < 2:
        return spans
    spans = sorted(spans, key=lambda span: span.start)
    merged = [spans[0]]
    for span in spans[1:]:
        before = merged[-1]
        if before.type == span.type and _only_skip_words(before.stop, span.first, of):
            merged[-1] = _join(before, span)
        else:
            merged.append(span)
    return merged


def _only_skip_words(first: int, stop: int, of: Words) -> bool:
    between = range(bisect_left(of.rows, first), bisect_left(of.rows, stop))
    return all(of.lowered[i].strip() in of.skip_words for i in between)


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
