"""Grids over the text of notes: the cells in which positions are counted — content, graphemes, words.

A cell begins somewhere and holds one or more code points. By code point it is known how many cells have begun up to
it, and how many ended before it; so an extent of code points is an extent of cells, and sets of cells are counted
as sets of code points are.
"""

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Ints, Mask, distinct
from sandscore.annotations.note_texts import NoteTexts
from sandscore.measures.grapheme_clusters import clings, cluster_pattern

Points = NDArray[Any]
Unit = Literal["chars", "content", "graphemes", "words"]
_TOGETHER = 1 << 22
"""Characters looked at together."""
_CONTENT = frozenset("LMN")


class Extents(Struct, frozen=True):
    """Half-open extents of notes in their order; ``note`` counts from the first of the part."""

    note: Ints
    start: Ints
    end: Ints

    def take(self, which: Ints | Mask) -> "Extents":
        return Extents(self.note[which], self.start[which], self.end[which])


class TextGrid(Struct, frozen=True):
    """The cells of one kind; of words only those that ``vocabulary`` has, where there is one."""

    unit: Unit
    vocabulary: frozenset[str] | None = None

    def laid(self, texts: NoteTexts, first: int, notes: int, given: list[Extents]) -> tuple[list[Extents], Ints]:
        """Extents of code points as extents of cells, and how many cells each note has."""
        sizes = texts.sizes[first : first + notes]
        if self.unit == "chars":
            return given, sizes
        out = [Extents(one.note, np.zeros_like(one.start), np.zeros_like(one.end)) for one in given]
        totals = np.zeros(notes, np.int64)
        for begin, stop in _groups(sizes):
            cells = NoteCells(self, texts, first + begin, first + stop)
            totals[begin:stop] = cells.totals
            for one, told in zip(given, out, strict=True):
                rows = slice(*np.searchsorted(one.note, (begin, stop)).tolist())
                told.start[rows], told.end[rows] = cells.of(one.note[rows] - begin, one.start[rows], one.end[rows])
        return out, totals


def _groups(sizes: Ints) -> Iterator[tuple[int, int]]:
    """Runs of notes of so many characters that they are looked at together; at least one note each."""
    first, ends = 0, np.cumsum(sizes)
    while first < len(sizes):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + _TOGETHER, side="right")))
        yield first, last
        first = last


class NoteCells(Struct, frozen=True, dict=True):
    """The cells of some notes."""

    grid: TextGrid
    texts: NoteTexts
    first: int
    last: int

    @cached_property
    def _points(self) -> Points:
        return self.texts.code_points(self.first, self.last)

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum(self.texts.sizes[self.first : self.last])

    @cached_property
    def _begun(self) -> tuple[Ints, Ints]:
        """By code point, one more in front: how many cells began up to it, and how many ended before it."""
        starts, inside = _KINDS[self.grid.unit](self)
        begun = np.concatenate(([0], np.cumsum(starts)))
        ended = np.concatenate((begun[1:] - inside, begun[-1:]))
        if self.grid.vocabulary is None:
            return begun, ended
        known = np.concatenate(([0], np.cumsum(self._known(self.grid.vocabulary))))
        return known[begun], known[ended]

    @property
    def totals(self) -> Ints:
        """How many cells each note has."""
        return np.diff(self._begun[0][self._ends], prepend=0)

    def of(self, note: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """The cells that extents touch; of an extent without any, the end is the start."""
        begun, ended = self._begun
        base = (self._ends - self.texts.sizes[self.first : self.last])[note]
        before = begun[base]
        first = ended[base + start] - before
        return first, np.maximum(begun[base + end] - before, first)

    def content(self) -> tuple[Mask, Mask]:
        """Letters, marks and digits, each a cell."""
        held = _are(self._points, _is_content)
        return held, held

    def words(self) -> tuple[Mask, Mask]:
        """Runs of characters that are not blank; none goes on in another note."""
        held = ~_are(self._points, str.isspace)
        before = np.concatenate(([False], held[:-1]))
        before[self._ends[:-1][self._ends[:-1] < len(before)]] = False
        return held & ~before, held

    def graphemes(self) -> tuple[Mask, Mask]:
        """Clusters of UAX #29; only notes that hold something that clings to its neighbours are taken apart."""
        points = self._points
        starts = np.ones(len(points), bool)
        clinging = _are(points, clings)
        for number in distinct(np.searchsorted(self._ends, np.flatnonzero(clinging), side="right"))[0].tolist():
            text = self.texts[self.first + number]
            begin = int(self._ends[number]) - len(text)
            starts[begin : begin + len(text)] = False
            starts[begin + np.array([match.start() for match in cluster_pattern().finditer(text)], np.int64)] = True
        return starts, np.ones(len(points), bool)

    def _known(self, vocabulary: frozenset[str]) -> list[bool]:
        """Of each word in turn whether the vocabulary has it."""
        return [
            plain_word(word) in vocabulary
            for number in range(self.first, self.last)
            for word in self.texts[number].split()
        ]


_KINDS = {"content": NoteCells.content, "words": NoteCells.words, "graphemes": NoteCells.graphemes}


def plain_word(word: str) -> str:
    """A word as it is compared: case and what stands around letters and digits make no difference."""
    kept = [at for at, letter in enumerate(word) if letter.isalnum()]
    return word[kept[0] : kept[-1] + 1].casefold() if kept else ""


def _are(points: Points, kind: Callable[[str], bool]) -> Mask:
    """Which characters are of a kind, each different one being asked once."""
    there = np.flatnonzero(np.bincount(points, minlength=1))
    table = np.zeros(int(there[-1]) + 1 if len(there) else 1, bool)
    table[there] = [kind(chr(point)) for point in there.tolist()]
    found: Mask = table[points]
    return found


@cache
def _is_content(character: str) -> bool:
    from unicodedata import category

    return category(character)[0] in _CONTENT
