"""All scored texts end to end, with what stands at every place: masks, words, and what the benchmark lets pass.

A line end between two texts keeps their words apart. Stretches are pairs of arrays, starts and ends (exclusive).
"""

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.profiles.tab.masked_corpus import MaskedDocument
from sandscore.span_measures.overlap_credit import merged

_WORD = re.compile(r"\w+")
_ASCII = 128
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Unit = tuple[int, int]


class Stretches(Struct, frozen=True):
    """Parts of the texts, and of each which thing it is part of."""

    start: Ints
    end: Ints
    of: Ints


class CorpusGrid(Struct, frozen=True, dict=True):
    """The texts of these documents."""

    documents: Sequence[MaskedDocument]

    @cached_property
    def text(self) -> str:
        return "".join(f"{document.text}\n" for document in self.documents)

    @cached_property
    def base(self) -> Ints:
        """Where each text begins."""
        return np.cumsum(self.sizes + 1) - self.sizes - 1

    @cached_property
    def sizes(self) -> Ints:
        """The characters of each text."""
        return numbers([len(document.text) for document in self.documents])

    @cached_property
    def points(self) -> NDArray[Any]:
        """The characters as numbers."""
        if self.text.isascii():
            return np.frombuffer(self.text.encode(), np.uint8)
        return np.frombuffer(self.text.encode("utf-32-le", "surrogatepass"), np.uint32)

    def among(self, wanted: Callable[[str], bool]) -> Flags:
        """Where such characters stand."""
        beyond = self.points[self.points >= _ASCII]
        table = np.zeros(max(_ASCII, 1 + int(beyond.max(initial=0))), bool)
        known = [*range(_ASCII), *(np.flatnonzero(np.bincount(beyond)).tolist() if len(beyond) else ())]
        table[[point for point in known if wanted(chr(point))]] = True
        return np.asarray(table[self.points])

    @cached_property
    def word_at(self) -> Flags:
        """Where a word character stands."""
        return self.among(lambda one: _WORD.match(one) is not None)

    @cached_property
    def runs(self) -> tuple[Ints, Ints]:
        """The maximal runs of word characters: where they begin and end."""
        edges = np.flatnonzero(np.diff(self.word_at, prepend=False))
        return edges[::2], edges[1::2]

    def words(self, start: Ints, end: Ints) -> Stretches:
        """The words within stretches: runs cut off at either end, and of which stretch each is."""
        begins, ends = self.runs
        first = np.searchsorted(ends, start, side="right")
        many = np.maximum(np.searchsorted(begins, end, side="left") - first, 0)
        of = np.repeat(np.arange(len(start)), many)
        which = np.repeat(first - (np.cumsum(many) - many), many) + np.arange(len(of))
        return Stretches(np.maximum(begins[which], start[of]), np.minimum(ends[which], end[of]), of)

    def covering(self, masks: Sequence[Sequence[Unit]]) -> "Covering":
        """Masks, a list a document; what reaches beyond its text masks nothing there."""
        spans = [span for listed in masks for span in listed]
        document = np.repeat(np.arange(len(masks)), [*map(len, masks)])
        start = np.maximum(numbers([start for start, _ in spans]), 0)
        end = np.minimum(numbers([end for _, end in spans]), self.sizes[document])
        kept = start < end
        base = self.base[document][kept]
        return Covering.of(base + start[kept], base + end[kept])


class Covering(Struct, frozen=True):
    """Places that are covered, as intervals that neither meet nor touch, in order."""

    start: Ints
    end: Ints

    @classmethod
    def of(cls, start: Ints, end: Ints) -> "Covering":
        """What any of these covers."""
        return cls(*merged(start, end))

    def holds(self, start: Ints, end: Ints) -> Flags:
        """Which stretches are covered to the last character."""
        at = np.searchsorted(self.start, start, side="right")
        return np.asarray(np.concatenate(([-1], self.end))[at] >= end)

    def flags(self, size: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """The same place by place."""
        flags = np.zeros(size, bool)
        for start, end in zip(self.start.tolist(), self.end.tolist(), strict=True):
            flags[start:end] = True
        return flags


def without(places: Ints, start: Ints, end: Ints) -> Flags:
    """Which stretches have none of these places, which are in order."""
    return np.asarray(np.searchsorted(places, start) == np.searchsorted(places, end))


def words_in(text: str, start: int, end: int) -> list[Unit]:
    """Runs of word characters in a slice of the text, at the places that the slice's own start gives them."""
    return [(start + found.start(), start + found.end()) for found in _WORD.finditer(text[start:end])]


def numbers(values: Sequence[Any]) -> Ints:
    """A column."""
    return np.array(values, np.int64)
