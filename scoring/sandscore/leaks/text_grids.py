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
from sandscore.leaks.grapheme_clusters import clings, cluster_pattern

Points = NDArray[Any]
Unit = Literal["chars", "content", "graphemes", "words"]
_FIRST_BEYOND_ASCII, _FIRST_MARK, _RETURN, _LAST_BLANK = 0x80, 0x300, 13, 0x3000
_BEYOND_LATIN, _THREE, _FOUR = 0xCC, 0xE0, 0xF0
"""The first byte of U+0300 in UTF-8; of characters of three bytes, and of four."""
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

    def laid(self, texts: NoteTexts, first: int, notes: int, given: list[Extents]) -> list[Extents]:
        """Extents of code points as extents of cells, each list in order of note; the first two hold all the others."""
        if self.unit == "chars":
            return given
        if self.unit == "content":
            return _content_of(texts, first, given)
        sizes = texts.sizes[first : first + notes]
        told = [Extents(one.note, one.start.copy(), one.end.copy()) for one in given]
        runs = _clinging(texts, first, notes) if self.unit == "graphemes" else _groups(sizes)
        for begin, stop in runs:
            cells = NoteCells(self, texts, first + begin, first + stop)
            for one, out in zip(given, told, strict=True):
                rows = slice(*np.searchsorted(one.note, (begin, stop)).tolist())
                out.start[rows], out.end[rows] = cells.of(one.note[rows] - begin, one.start[rows], one.end[rows])
        return told

    def totals(self, texts: NoteTexts, first: int, notes: int) -> Ints:
        """How many cells each note has."""
        sizes = texts.sizes[first : first + notes]
        if self.unit == "chars":
            return sizes
        found = [NoteCells(self, texts, first + begin, first + stop).totals for begin, stop in _groups(sizes)]
        return np.concatenate([np.zeros(0, np.int64), *found])


def _content_of(texts: NoteTexts, first: int, given: list[Extents]) -> list[Extents]:
    """Only what stands under an extent is looked at: cells are counted on through the part, stretch by stretch."""
    both = Extents(*(np.concatenate(pair) for pair in zip(*((e.note, e.start, e.end) for e in given[:2]), strict=True)))
    room = 1 + int(both.end.max(initial=0))
    whole = stretches(both.take(np.argsort(both.note * room + both.start, kind="stable")))
    sizes = whole.end - whole.start
    points = _code_points(texts.parts(first + whole.note, whole.start, sizes)[0])
    held = np.concatenate(([0], np.cumsum(_are(points, _is_content))))
    begins = np.cumsum(sizes + 1) - (sizes + 1) - whole.start
    told = []
    for one in given:
        at = begins[np.searchsorted(whole.note * room + whole.start, one.note * room + one.start, side="right") - 1]
        told.append(Extents(one.note, held[at + one.start], held[at + one.end]))
    return told


def _code_points(written: Points) -> Points:
    """The characters of UTF-8, as numbers."""
    if not len(written) or int(written.max()) < _FIRST_BEYOND_ASCII:
        return written
    return np.frombuffer(str(written.data, "utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), np.uint32)


def beyond_latin(texts: NoteTexts, first: int, last: int) -> tuple[Ints, Ints]:
    """The characters of texts from U+0300 on, and carriage returns: whose they are, and as numbers."""
    begins = texts.laid.begin[first : last + 1]
    written = texts.written(first, last)
    odd = np.flatnonzero((written >= _BEYOND_LATIN) | (written == _RETURN))
    lead = written[odd].astype(np.int64)
    more = np.select([lead >= _FOUR, lead >= _THREE, lead >= _BEYOND_LATIN], [3, 2, 1])
    points = np.where(more > 0, lead & (0x3F >> more), lead)
    for step in range(1, 4):
        there = more >= step
        points[there] = points[there] << 6 | written[odd[there] + step] & 0x3F
    return first + np.searchsorted(begins[1:] - begins[0], odd, side="right"), points


def _clinging(texts: NoteTexts, first: int, notes: int) -> Iterator[tuple[int, int]]:
    """The notes in which a character may cling to its neighbour; in all others a grapheme is a code point."""
    numbers, points = beyond_latin(texts, first, first + notes)
    for number in distinct(numbers[_are(points, clings)])[0].tolist():
        yield number - first, number - first + 1


def stretches(extents: Extents) -> Extents:
    """Extents in order of note and start, those that meet as one."""
    if not len(extents.note):
        return extents
    room = 1 + int(extents.end.max(initial=0))
    base = extents.note * room
    reach = np.maximum.accumulate(base + extents.end)
    first = np.flatnonzero(np.concatenate(([True], (base + extents.start)[1:] > reach[:-1])))
    last = np.concatenate((first[1:], [len(reach)])) - 1
    return Extents(extents.note[first], extents.start[first], reach[last] - base[first])


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
        return _code_points(self.texts.written(self.first, self.last))

    @cached_property
    def _ends(self) -> Ints:
        return np.cumsum(self.texts.sizes[self.first : self.last])

    @cached_property
    def _begun(self) -> tuple[Ints, Ints]:
        """By code point, one more in front: how many cells began up to it, and how many ended before it."""
        starts, inside = _KINDS[self.grid.unit](self)
        begun = np.concatenate(([0], np.cumsum(starts)))
        return begun, np.concatenate((begun[1:] - inside, begun[-1:]))

    @cached_property
    def _words(self) -> tuple[Ints, Ints, Ints]:
        """Runs of characters that are not blank, none of which goes on in another note: where each begins, and where it
        has ended; and by their number how many count."""
        held = ~_are_blank(self._points)
        edges = np.empty(len(held) + 1, bool)
        edges[0], edges[-1] = held[:1].any(), held[-1:].any()
        np.not_equal(held[1:], held[:-1], out=edges[1:-1])
        met = self._ends[:-1][(self._ends[:-1] > 0) & (self._ends[:-1] < len(held))]
        both = distinct(met[held[met] & held[met - 1]])[0]
        turns = np.flatnonzero(edges)
        starts, ends = turns[::2], turns[1::2]
        if len(both):
            starts, ends = (np.sort(np.concatenate((one, both)), kind="stable") for one in (starts, ends))
        vocabulary = self.grid.vocabulary
        counted = np.arange(len(starts) + 1)
        if vocabulary is not None:
            counted = np.concatenate(([0], np.cumsum(self._known(vocabulary))))
        return starts, ends, counted

    def _begun_at(self, places: Ints) -> Ints:
        """How many cells began before these code points."""
        if self.grid.unit != "words":
            return self._begun[0][places]
        starts, _, counted = self._words
        return counted[np.searchsorted(starts, places)]

    def _ended_at(self, places: Ints) -> Ints:
        """How many cells ended before these code points."""
        if self.grid.unit != "words":
            return self._begun[1][places]
        _, ends, counted = self._words
        return counted[np.searchsorted(ends, places, side="right")]

    @property
    def totals(self) -> Ints:
        """How many cells each note has."""
        return np.diff(self._begun_at(self._ends), prepend=0)

    def of(self, note: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """The cells that extents touch; of an extent without any, the end is the start."""
        base = (self._ends - self.texts.sizes[self.first : self.last])[note]
        before = self._begun_at(base)
        first = self._ended_at(base + start) - before
        return first, np.maximum(self._begun_at(base + end) - before, first)

    def content(self) -> tuple[Mask, Mask]:
        """Letters, marks and digits, each a cell."""
        held = _are(self._points, _is_content)
        return held, held

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


_KINDS = {"content": NoteCells.content, "graphemes": NoteCells.graphemes}


def plain_word(word: str) -> str:
    """A word as it is compared: case and what stands around letters and digits make no difference."""
    kept = [at for at, letter in enumerate(word) if letter.isalnum()]
    return word[kept[0] : kept[-1] + 1].casefold() if kept else ""


def _are(points: Points, kind: Callable[[str], bool]) -> Mask:
    """Which characters are of a kind, each different one beyond ASCII being asked once."""
    beyond = distinct(points[points >= _FIRST_BEYOND_ASCII])[0]
    table = np.zeros(1 + max(_FIRST_BEYOND_ASCII, int(beyond[-1]) if len(beyond) else 0), bool)
    table[:_FIRST_BEYOND_ASCII] = _ascii(kind)
    table[beyond] = [kind(chr(point)) for point in beyond.tolist()]
    found: Mask = table[points]
    return found


@cache
def _ascii(kind: Callable[[str], bool]) -> Mask:
    return np.array([kind(chr(point)) for point in range(_FIRST_BEYOND_ASCII)])


def _are_blank(points: Points) -> Mask:
    """Which characters are blank; none beyond the ideographic space is."""
    near = points if points.dtype == np.uint8 else np.minimum(points, _LAST_BLANK + 1)
    found: Mask = _blanks()[near]
    return found


@cache
def _blanks() -> Mask:
    return np.array([chr(point).isspace() for point in range(_LAST_BLANK + 2)])


@cache
def _is_content(character: str) -> bool:
    from unicodedata import category

    return category(character)[0] in _CONTENT
