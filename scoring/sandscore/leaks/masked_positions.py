"""Masked positions: gold mentions and masks as sets of cells, note by note.

Masks are one set a note, whoever made them and under whatever label. A mention is what stands in gold once: repeated
with its span, label and entity it counts once. What is not masked of a mention stays open.
"""

from functools import cached_property

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints, Mask, order_of, ranked
from sandscore.leaks.text_grids import Extents, TextGrid, stretches
from sandscore.measures.aligned import Side, Sides

Pair = tuple[Ints, Ints]
"""How much of what, and of how much, group by group."""


class MaskedPart(Struct, frozen=True, dict=True):
    """Some notes: mentions, masks, and what of the mentions stays open, in code points."""

    sides: Sides

    @cached_property
    def mentions(self) -> Side:
        """Gold without what repeats."""
        gold = self.sides.gold
        close = (gold.note[1:] == gold.note[:-1]) & (gold.start[1:] == gold.start[:-1])
        if not bool(close.any()):
            return gold
        entity = np.zeros_like(gold.label) if gold.entity is None else gold.entity + 1
        keys, size = ranked([gold.note, gold.start, gold.length, gold.label + 1, entity])
        order = order_of(keys, size)
        fresh = np.concatenate(([True], keys[order][1:] != keys[order][:-1]))
        return gold.take(np.sort(order[fresh]))

    @cached_property
    def named(self) -> Extents:
        """The mentions' extents."""
        mentions = self.mentions
        return Extents(mentions.note, mentions.start, mentions.start + mentions.length)

    @cached_property
    def masks(self) -> Extents:
        """What is masked, in stretches that do not touch."""
        masks = self.sides.predicted
        return stretches(Extents(masks.note, masks.start, masks.start + masks.length))

    @cached_property
    def open(self) -> tuple[Ints, Extents]:
        """What stays open, in stretches, and whose it is."""
        return without(self.named, self.masks)

    def on(self, grid: TextGrid) -> "MaskedCells":
        """The same in cells of a grid."""
        owner, left = self.open
        texts = self.sides.dataset.texts
        laid = [self.named, self.masks, left]
        if texts is not None:
            laid = grid.laid(texts, self.sides.first, self.sides.notes, laid)
        named, masks, left = laid
        return MaskedCells(self, grid, owner, named, left, masks)


class MaskedCells(Struct, frozen=True, dict=True):
    """Mentions, what stays open of them, and masks, in cells."""

    part: MaskedPart
    grid: TextGrid
    owner: Ints
    named: Extents
    left: Extents
    masks: Extents

    @property
    def shared(self) -> bool:
        """Whether a cell may hold several code points."""
        return self.grid.unit in {"graphemes", "words"}

    @cached_property
    def sizes(self) -> Ints:
        """How many cells each mention has."""
        return self.named.end - self.named.start

    @cached_property
    def open_sizes(self) -> Ints:
        """How many cells of each mention stay open."""
        return union_sizes(self.owner, self.left, len(self.sizes), apart=not self.shared)

    @cached_property
    def counted(self) -> Mask:
        """A mention without a single cell is neither safe nor leaking."""
        some: Mask = self.sizes > 0
        return some

    @cached_property
    def leaking(self) -> Mask:
        some: Mask = self.open_sizes > 0
        return some

    @cached_property
    def _apart(self) -> tuple[bool, bool]:
        """Whether no two mentions share a cell, and no two open stretches."""
        return _are_apart(self.named), _are_apart(self.left)

    def sets(self, group: Ints, groups: int) -> Pair:
        """Open and gold cells of the mentions of each group, every cell once a group; a group below 0 is left out."""
        kept = group >= 0
        named, left, owner = self.named, self.left, self.owner
        if not bool(kept.all()):
            mine = np.flatnonzero(kept[owner])
            named, left, owner = named.take(kept), left.take(mine), owner[mine]
        gold = union_sizes(group[kept], named, groups, apart=self._apart[0])
        return union_sizes(group[owner], left, groups, apart=self._apart[1]), gold

    def spurious(self, notes: int) -> Ints:
        """Masked cells of each note that are not gold's."""
        both = Extents(*(np.concatenate(pair) for pair in zip(_columns(self.named), _columns(self.masks), strict=True)))
        gold = union_sizes(self.named.note, self.named, notes, apart=self._apart[0])
        return union_sizes(both.note, both, notes, apart=False) - gold


def _columns(extents: Extents) -> tuple[Ints, Ints, Ints]:
    return extents.note, extents.start, extents.end


def _flat(extents: Extents, room: int) -> Extents:
    """Every note's extents behind those of the one before."""
    base = extents.note * room
    return Extents(extents.note, base + extents.start, base + extents.end)


def _room(*given: Extents) -> int:
    return 1 + max(int(one.end.max(initial=0)) for one in given)


def _are_apart(extents: Extents) -> bool:
    flat = _flat(extents, _room(extents))
    return bool((flat.start[1:] >= flat.end[:-1]).all())


def without(extents: Extents, taken: Extents) -> tuple[Ints, Extents]:
    """What is left of extents in order when stretches that do not touch are taken away, and of which each is."""
    room = _room(extents, taken)
    given, away = _flat(extents, room), _flat(taken, room)
    low = np.searchsorted(away.end, given.start, side="right")
    high = np.maximum(np.searchsorted(away.start, given.end, side="left"), low)
    pieces = high - low + 1
    owner = np.repeat(np.arange(len(pieces)), pieces)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    at = low[owner] + place
    begins, ends = np.concatenate((away.end, [0])), np.concatenate((away.start, [0]))
    start = np.where(place == 0, given.start[owner], begins[at - 1])
    end = np.where(place == pieces[owner] - 1, given.end[owner], ends[np.minimum(at, len(taken.note))])
    kept = np.flatnonzero(start < end)
    owner, base = owner[kept], extents.note[owner[kept]] * room
    return owner, Extents(extents.note[owner], start[kept] - base, end[kept] - base)


def union_sizes(group: Ints, extents: Extents, groups: int, *, apart: bool) -> Ints:
    """How many cells the extents of each group cover together; ``apart``: none of them share any."""
    if apart:
        weights = extents.end - extents.start
        return np.bincount(group, weights=weights, minlength=groups).astype(np.int64)
    keys, size = ranked([group, extents.note])
    room = _room(extents)
    if size * room >= 1 << 62:
        order = np.argsort(keys, kind="stable")
        keys = np.empty_like(keys)
        keys[order] = np.cumsum(np.concatenate(([0], np.diff(np.sort(keys)) != 0)))[: len(order)]
    start, end = keys * room + extents.start, keys * room + extents.end
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    fresh = np.maximum(end - np.maximum(start, np.concatenate(([0], end[:-1]))), 0)
    return np.bincount(group[order], weights=fresh, minlength=groups).astype(np.int64)
