"""The benchmark's counts: entities, mentions and words that are masked, and masks that two eyes agree with."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from sandscore.profiles.tab.masked_corpus import MaskedDocument, MaskedEntity
from sandscore.profiles.tab.stretch_cover import Covered

_WORD = re.compile(r"\w+")
Number = float | int
Unit = tuple[int, int]
Flags = np.ndarray[Any, np.dtype[np.int64]]
Weigh = Callable[[str, Sequence[Unit]], Sequence[float]]
"""One weight a unit, for the document of that name."""


class Share(Struct):
    """How many of how many."""

    hits: int = 0
    total: int = 0

    def add(self, hit: bool) -> None:
        self.hits += hit
        self.total += 1

    @property
    def ratio(self) -> Number:
        """The original's: a plain 0 where there is nothing to divide by."""
        return self.hits / self.total if self.total else 0


def _parts() -> dict[str, Share]:
    return {part: Share() for part in ("all", "direct", "quasi")}


class Recalls(Struct):
    """What of gold is masked. The parts ``direct`` and ``quasi`` of each count are told apart by the entity."""

    entities: dict[str, Share] = field(default_factory=_parts)
    mentions: dict[str, Share] = field(default_factory=_parts)
    words: dict[str, Share] = field(default_factory=_parts)
    mentions_by_type: dict[str, Share] = field(default_factory=dict)
    words_by_type: dict[str, Share] = field(default_factory=dict)

    def count(self, document: MaskedDocument, covered: Covered) -> None:
        """Adds a document's entities that need masking."""
        for entity in document.entities:
            if entity.needed:
                self._entity(document.text, entity, covered)

    def _entity(self, text: str, entity: MaskedEntity, covered: Covered) -> None:
        parts = ("all", "direct" if entity.direct else "quasi")
        mentions = self.mentions_by_type.setdefault(entity.kind, Share())
        words = self.words_by_type.setdefault(entity.kind, Share())
        safe = True
        for mention in entity.mentions:
            hit = covered(mention.start, mention.end)
            safe = safe and (hit or not mention.needed)
            for share in (mentions, *(self.mentions[part] for part in parts)):
                share.add(hit)
            for start, end in words_in(text, mention.start, mention.end):
                hit = covered(start, end)
                for share in (words, *(self.words[part] for part in parts)):
                    share.add(hit)
        for part in parts:
            self.entities[part].add(safe)


def words_in(text: str, start: int, end: int) -> list[Unit]:
    """Runs of word characters in a slice of the text, at the places that the slice's own start gives them."""
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text[start:end])]


class MaskPrecision(Struct):
    """The two sums whose ratio is a precision; of whole numbers for uniform weights, else in the width of weights."""

    right: Any = 0
    all: Any = 0

    @property
    def ratio(self) -> Number:
        """A plain 0 where nothing was masked or nobody annotated; NaN where numpy's numbers divide 0 by 0."""
        try:
            with np.errstate(invalid="ignore"):
                return float(self.right / self.all)
        except ZeroDivisionError:
            return 0


def precision_of(
    documents: Iterable[tuple[MaskedDocument, Sequence[Unit]]], by_words: bool, weigh: Weigh | None = None
) -> MaskPrecision:
    """Of each unit the annotators one of whose needed mentions holds all of it, among those who marked anything."""
    sums = MaskPrecision()
    for document, masks in documents:
        units = [word for mask in masks for word in words_in(document.text, *mask)] if by_words else list(masks)
        eyes = [entities for entities in document.annotators if entities]
        agreed = sum((_holding(units, entities) for entities in eyes), np.zeros(len(units), np.int64))
        if weigh is None:
            sums.right += float(agreed.sum())
            sums.all += float(len(eyes) * len(units)) if units else 0
            continue
        for count, weight in zip(agreed.tolist(), weigh(document.identifier, units), strict=True):
            sums.right += count * weight
            sums.all += len(eyes) * weight
    return sums


def _holding(units: Sequence[Unit], entities: Iterable[MaskedEntity]) -> Flags:
    """1 for each unit that lies whole in one needed mention: of those that begin before it one ends behind it."""
    needed = [(one.start, one.end) for entity in entities for one in entity.mentions if one.needed]
    if not needed or not units:
        return np.zeros(len(units), np.int64)
    first, last = np.array(units, np.int64).T
    begin, end = np.array(sorted(needed), np.int64).T
    before = np.searchsorted(begin, first, side="right")
    furthest = np.concatenate(([0], np.maximum.accumulate(end)))
    held: Flags = ((furthest[before] >= last) & (first < last)).astype(np.int64)
    return held


def weighing(weights: Mapping[str, Mapping[str, float]], width: type[np.floating[Any]] | type[float]) -> Weigh:
    """Weights by document and ``start-end``, in numbers of that width. A unit without one is a KeyError."""

    def weigh(name: str, units: Sequence[Unit]) -> Sequence[Any]:
        return [width(weights[name][f"{start}-{end}"]) for start, end in units]

    return weigh
