"""The i2b2 2014 script's forty-two evaluations, each a comparison of two sets per document.

The relaxed evaluations compare sets whose equality forgives two characters at the end. Such an equality is
not transitive, so file order, and which of the sets is smaller, decide what is counted.
"""

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

from sandscore.profiles.i2b2.i2b2_tags import TYPES, I2b2Tag, is_hipaa, upper
from sandscore.records.counts import Counts

TOLERANCE = 2
_NOTHING = Counts()
_WORD = re.compile(r"[a-zA-Z0-9]+")


class SetEvaluation(Struct, frozen=True):
    """``label`` as the script prints it, ``measure`` as we call it."""

    label: str
    measure: str
    equality: Literal["token", "strict", "relaxed", "binary token", "binary"]
    hipaa: bool = False
    category: str | None = None


def _of_category(category: str) -> tuple[SetEvaluation, ...]:
    name = category.lower()
    return (
        SetEvaluation(f"{category} Token", f"{name}_token", "token", False, category),
        SetEvaluation(f"{category} Strict", f"{name}_strict", "strict", False, category),
        SetEvaluation(f"{category} HIPPA Token", f"{name}_hipaa_token", "token", True, category),
        SetEvaluation(f"{category} Binary HIPAA Strict", f"{name}_hipaa_strict", "strict", True, category),
    )


EVALUATIONS = (
    SetEvaluation("Token", "token", "token"),
    SetEvaluation("Strict", "strict", "strict"),
    SetEvaluation("Relaxed", "relaxed", "relaxed"),
    SetEvaluation("HIPPA Token", "hipaa_token", "token", True),
    SetEvaluation("HIPAA Strict", "hipaa_strict", "strict", True),
    SetEvaluation("HIPAA Relaxed", "hipaa_relaxed", "relaxed", True),
    SetEvaluation("Binary Token", "binary_token", "binary token"),
    SetEvaluation("Binary Strict", "binary_strict", "binary"),
    SetEvaluation("Binary HIPPA Token", "binary_hipaa_token", "binary token", True),
    SetEvaluation("Binary HIPAA Strict", "binary_hipaa_strict", "binary", True),
    *(evaluation for category in TYPES for evaluation in _of_category(category)),
)
"""In the order in which the script prints them; its "Binary HIPAA Strict" of a category is not binary."""


class Contents(Struct, frozen=True):
    """One side of a document: its tags, the tags of their tokens, those of both that are HIPAA PHI, and categories."""

    tags: tuple[I2b2Tag, ...]
    tokens: tuple[I2b2Tag, ...]
    hipaa_tags: tuple[I2b2Tag, ...]
    hipaa_tokens: tuple[I2b2Tag, ...]
    categories: frozenset[str]


def contents(tags: Iterable[I2b2Tag], text: str) -> Contents:
    """The tags with their tokens: runs of ASCII letters and digits in the document's own text."""
    kept = tuple(tags)
    tokens = tuple(token for tag in kept for token in _tokens(tag, text))
    hipaa_tags, hipaa_tokens = (tuple(filter(is_hipaa, side)) for side in (kept, tokens))
    return Contents(kept, tokens, hipaa_tags, hipaa_tokens, frozenset(tag.category for tag in kept))


def compare(evaluation: SetEvaluation, gold: Contents, system: Contents) -> Counts:
    """One document's counts in one evaluation."""
    if evaluation.category and evaluation.category not in gold.categories | system.categories:
        return _NOTHING
    wanted, found = _chosen(evaluation, gold), _chosen(evaluation, system)
    if not wanted and not found:
        return _NOTHING
    if evaluation.equality == "relaxed":
        return compare_relaxed(wanted, found)
    ours, theirs = _keys(evaluation, wanted), _keys(evaluation, found)
    return Counts(len(ours & theirs), len(theirs - ours), len(ours - theirs))


def distinct(tags: Iterable[I2b2Tag]) -> list[I2b2Tag]:
    """What a relaxed set keeps: a tag that equals one kept before it vanishes."""
    kept: dict[Hashable, list[I2b2Tag]] = {}
    for tag in tags:
        alike = kept.setdefault(_relaxed_key(tag), [])
        if not _has_partner(tag, alike):
            alike.append(tag)
    return [tag for alike in kept.values() for tag in alike]


def _tokens(tag: I2b2Tag, text: str) -> Iterable[I2b2Tag]:
    inside = text[tag.start : tag.end]
    words = [match.span() for match in _WORD.finditer(inside)]
    for start, end in words or [(len(inside), len(inside))]:
        yield I2b2Tag(tag.category, tag.type, tag.start + start, tag.start + end)


def _chosen(evaluation: SetEvaluation, side: Contents) -> Sequence[I2b2Tag]:
    if evaluation.equality.endswith("token"):
        tags = side.hipaa_tokens if evaluation.hipaa else side.tokens
    else:
        tags = side.hipaa_tags if evaluation.hipaa else side.tags
    if evaluation.category and side.categories != {evaluation.category}:
        return [tag for tag in tags if tag.category == evaluation.category]
    return tags


def _keys(evaluation: SetEvaluation, tags: Iterable[I2b2Tag]) -> set[Hashable]:
    if evaluation.equality == "token":
        return set(tags)
    if evaluation.equality == "binary token":
        return {(tag.start, tag.end) for tag in tags}
    if evaluation.equality == "binary":
        return {_binary_key(tag) for tag in tags}
    return {_strict_key(tag) for tag in tags}


def _strict_key(tag: I2b2Tag) -> Hashable:
    return (tag.category, upper(tag.type), tag.start, tag.end)


def _binary_key(tag: I2b2Tag) -> Hashable:
    """Start and end alone; the script forgets to do that to tags of the category PHI."""
    return _strict_key(tag) if tag.category == "PHI" else (tag.start, tag.end)


def _relaxed_key(tag: I2b2Tag) -> Hashable:
    return (tag.category, tag.start, upper(tag.type))


def _has_partner(tag: I2b2Tag, others: Iterable[I2b2Tag]) -> bool:
    return any(abs(tag.end - other.end) <= TOLERANCE for other in others)


def compare_relaxed(gold: Iterable[I2b2Tag], system: Iterable[I2b2Tag]) -> Counts:
    """One document's counts where ends may differ by two characters."""
    wanted, found = distinct(gold), distinct(system)
    missed = _without_partner(wanted, found)
    spurious = _without_partner(found, wanted)
    smaller, alone = (wanted, missed) if len(found) > len(wanted) else (found, spurious)
    return Counts(len(smaller) - alone, spurious, missed)


def _without_partner(tags: Iterable[I2b2Tag], others: Iterable[I2b2Tag]) -> int:
    alike: dict[Hashable, list[I2b2Tag]] = {}
    for other in others:
        alike.setdefault(_relaxed_key(other), []).append(other)
    return sum(not _has_partner(tag, alike.get(_relaxed_key(tag), ())) for tag in tags)
