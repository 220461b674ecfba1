"""The benchmark's counts: entities, mentions and words that are masked, and masks that two eyes agree with."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.profiles.tab.corpus_grid import CorpusGrid, Flags, Ints, Unit, numbers, words_in
from sandscore.profiles.tab.masked_corpus import AnnotatorMarks
from sandscore.profiles.tab.stretch_cover import Covered

Number = float | int
Weigh = Callable[[str, Sequence[Unit]], Sequence[float]]
"""One weight a unit, for the document of that name."""


class Share(Struct, frozen=True):
    """How many of how many."""

    hits: int = 0
    total: int = 0

    @property
    def ratio(self) -> Number:
        """The original's: a plain 0 where there is nothing to divide by."""
        return self.hits / self.total if self.total else 0


Shares = dict[str, Share]


class Recalls(Struct, frozen=True):
    """What of gold is masked. The parts ``direct`` and ``quasi`` of each count are told apart by the entity."""

    entities: Shares
    mentions: Shares
    words: Shares
    mentions_by_type: Shares
    words_by_type: Shares


class CorpusMarks(Struct, frozen=True):
    """The mentions of all annotators as columns, by places of the grid, and what is said of their entities.

    ``annotator`` is that mention's number among the annotators of its document.
    """

    start: Ints
    end: Ints
    needed: Flags
    entity: Ints
    annotator: Ints
    kinds: list[str]
    direct: Flags


def marks_of(grid: CorpusGrid) -> CorpusMarks:
    """All that was annotated in the texts of the grid."""
    listed: list[tuple[int, int, AnnotatorMarks]] = [
        (base, number, marks)
        for document, base in zip(grid.documents, grid.base.tolist(), strict=True)
        for number, marks in enumerate(document.annotators)
    ]

    def joined(name: str) -> list[Any]:
        return [*chain.from_iterable(getattr(marks, name) for _, _, marks in listed)]

    sizes = [len(marks.start) for _, _, marks in listed]
    base = np.repeat(numbers([base for base, _, _ in listed]), sizes)
    before = [0, *accumulate(len(marks.kinds) for _, _, marks in listed)][: len(listed)]
    return CorpusMarks(
        start=base + numbers(joined("start")),
        end=base + numbers(joined("end")),
        needed=np.array(joined("needed"), bool),
        entity=np.repeat(numbers(before), sizes) + numbers(joined("entity")),
        annotator=np.repeat(numbers([number for _, number, _ in listed]), sizes),
        kinds=joined("kinds"),
        direct=np.array(joined("direct"), bool),
    )


def recalls_of(grid: CorpusGrid, marks: CorpusMarks, covered: Covered) -> Recalls:
    """Every entity that needs masking, with all its mentions and their words."""
    size = len(marks.kinds)
    wanted = np.bincount(marks.entity[marks.needed], minlength=size) > 0
    kept = wanted[marks.entity]
    start, end, entity = marks.start[kept], marks.end[kept], marks.entity[kept]
    hit = covered(start, end)
    words = grid.words(start, end)
    word_hit = covered(words.start, words.end)
    safe = np.bincount(entity[~hit & marks.needed[kept]], minlength=size) == 0
    kinds: dict[str, int] = {}
    for at in np.flatnonzero(wanted).tolist():
        kinds.setdefault(marks.kinds[at], len(kinds))
    kind = numbers([kinds.get(name, -1) for name in marks.kinds])
    return Recalls(
        entities=_parts(safe[wanted], marks.direct[wanted]),
        mentions=_parts(hit, marks.direct[entity]),
        words=_parts(word_hit, marks.direct[entity[words.of]]),
        mentions_by_type=_by_kind(hit, kind[entity], kinds),
        words_by_type=_by_kind(word_hit, kind[entity[words.of]], kinds),
    )


def _parts(hit: Flags, direct: Flags) -> Shares:
    parts = {"all": np.ones(len(hit), bool), "direct": direct, "quasi": ~direct}
    return {name: Share(int(np.count_nonzero(hit & part)), int(np.count_nonzero(part))) for name, part in parts.items()}


def _by_kind(hit: Flags, kind: Ints, kinds: Mapping[str, int]) -> Shares:
    totals, hits = (np.bincount(which, minlength=len(kinds)).tolist() for which in (kind, kind[hit]))
    return {name: Share(hits[at], totals[at]) for name, at in kinds.items()}


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


class MaskUnits(Struct, frozen=True):
    """Masks, or the words in them, as they are listed: where they stand in their texts, and in which."""

    start: Ints
    end: Ints
    document: Ints


def mask_units(grid: CorpusGrid, masks: Sequence[Sequence[Unit]]) -> MaskUnits:
    """The masks of every document."""
    start, end = (numbers([span[at] for spans in masks for span in spans]) for at in (0, 1))
    return MaskUnits(start, end, np.repeat(np.arange(len(masks)), [len(spans) for spans in masks]))


def word_units(grid: CorpusGrid, masks: MaskUnits) -> MaskUnits:
    """The words in masks; a mask that is not within its text is cut as Python cuts."""
    base = grid.base[masks.document]
    within = _within(grid, masks)
    plain = np.flatnonzero(within)
    found = grid.words(base[plain] + masks.start[plain], base[plain] + masks.end[plain])
    of = plain[found.of]
    odd = [
        (at, *word)
        for at in np.flatnonzero(~within).tolist()
        for word in words_in(grid.documents[int(masks.document[at])].text, int(masks.start[at]), int(masks.end[at]))
    ]
    mask, start, end = (
        np.concatenate((column, numbers([row[at] for row in odd])))
        for at, column in enumerate((of, found.start - base[of], found.end - base[of]))
    )
    order = np.argsort(mask, kind="stable")
    return MaskUnits(start[order], end[order], masks.document[mask[order]])


def _within(grid: CorpusGrid, units: MaskUnits) -> Flags:
    """Which have a character, and all of them in their text."""
    return np.asarray((units.start >= 0) & (units.start < units.end) & (units.end <= grid.sizes[units.document]))


def precision_of(grid: CorpusGrid, marks: CorpusMarks, units: MaskUnits, weigh: Weigh | None = None) -> MaskPrecision:
    """Of each unit the annotators one of whose needed mentions holds all of it, among those who marked anything."""
    seen = numbers([sum(bool(one.kinds) for one in document.annotators) for document in grid.documents])
    eyes = seen[units.document] if len(seen) else seen
    agreed = _agreed(grid, marks, units)
    if weigh is None:
        return MaskPrecision(float(agreed.sum()), float(eyes.sum()))
    sums = MaskPrecision()
    cuts = np.searchsorted(units.document, np.arange(len(grid.documents) + 1)).tolist()
    for document, first, last in zip(grid.documents, cuts, cuts[1:], strict=False):
        rows = [column[first:last].tolist() for column in (units.start, units.end, agreed, eyes)]
        weights = weigh(document.identifier, [*zip(rows[0], rows[1], strict=True)])
        for weight, count, most in zip(weights, *rows[2:], strict=True):
            sums.right += count * weight
            sums.all += most * weight
    return sums


def _agreed(grid: CorpusGrid, marks: CorpusMarks, units: MaskUnits) -> Ints:
    """How many annotators have the unit whole in one needed mention: of those that begin before it one ends behind."""
    base = grid.base[units.document]
    held = np.zeros(len(units.start), np.int64)
    within = np.flatnonzero(_within(grid, units))
    first, last = (base + units.start)[within], (base + units.end)[within]
    for annotator in range(1 + int(marks.annotator.max(initial=-1))):
        mine = np.flatnonzero(marks.needed & (marks.annotator == annotator))
        order = mine[np.argsort(marks.start[mine], kind="stable")]
        furthest = np.concatenate(([-1], np.maximum.accumulate(marks.end[order])))
        held[within] += furthest[np.searchsorted(marks.start[order], first, side="right")] >= last
    return held


def weighing(weights: Mapping[str, Mapping[str, float]], width: type[np.floating[Any]] | type[float]) -> Weigh:
    """Weights by document and ``start-end``, in numbers of that width. A unit without one is a KeyError."""

    def weigh(name: str, units: Sequence[Unit]) -> Sequence[Any]:
        return [width(weights[name][f"{start}-{end}"]) for start, end in units]

    return weigh
