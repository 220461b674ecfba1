"""Labels as they are written, to their codes: many at once."""

from dataclasses import dataclass

import msgspec
import numpy as np

from sandscore.reading.columns import Ints, Mask, Small
from sandscore.reading.labels import Vocabulary
from sandscore.reading.regular.words import (
    FIRST_BYTES,
    IrregularError,
    Masks,
    Words,
    first_mark,
    marked,
    words_of,
)

Spans = tuple[Ints, Ints]
"""Where labels begin and end."""
_LONGEST, _MOST, _BITS = 24, 64, 12
_QUOTE = b'"'[0]
_STRING = msgspec.json.Decoder(str)
_SLOTS = 1 << _BITS
_FIRST, _LAST = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)


@dataclass(frozen=True, slots=True)
class Spelt:
    """Labels of at most 24 bytes, whole: their first and last eight, those between if any has some, and their sizes."""

    first: Masks
    last: Masks
    middle: Masks | None
    sizes: Ints

    @property
    def hashes(self) -> Masks:
        """Equal where labels are; hardly ever where they are not."""
        return self.first * _FIRST + self.last * _LAST + self.sizes.astype(np.uint64)

    def are(self, known: "Spelt", which: Ints) -> bool:
        """Whether they are, one by one, these of the known ones."""
        same = (self.sizes == known.sizes[which]) & (self.first == known.first[which])
        same &= self.last == known.last[which]
        if self.middle is not None and known.middle is not None:
            same &= self.middle == known.middle[which]
        return bool(same.all())


@dataclass(frozen=True, slots=True)
class Table:
    """Known labels, found by some bits of their hashes that are different for each."""

    known: Spelt
    codes: Small
    slots: Ints
    shift: np.uint64

    def look_up(self, spelt: Spelt) -> Small | None:
        """The codes, if all labels are known."""
        at = self.slots[_slots(spelt.hashes, self.shift)]
        return self.codes[at] if spelt.are(self.known, at) else None


class Spellings:
    """The codes of a vocabulary by spelling."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._codes: dict[bytes, int] = {}
        self._table: Table | None = None

    def codes(self, words: Words, spans: Spans) -> Small:
        """The labels' codes; IrregularError where one is not allowed, or there is too much to remember."""
        spelt = _spelt(words, *spans)
        codes = self._table.look_up(spelt) if self._table else None
        if codes is None:
            self._table = self._learnt(words, spans, spelt)
            codes = self._table.look_up(spelt)
        if codes is None:
            raise IrregularError
        return codes

    def _learnt(self, words: Words, spans: Spans, spelt: Spelt) -> Table:
        """In the order of first appearance, so that codes do not depend on how a file was read."""
        hashes, rows = spelt.hashes, np.arange(len(spelt.sizes))
        while len(rows):
            row = rows[0]
            written = words.cut(int(spans[0][row]), int(spans[1][row]))
            try:
                self._codes[written] = self._vocabulary[_STRING.decode(b'"%b"' % written)]
            except (KeyError, msgspec.DecodeError, UnicodeDecodeError):
                raise IrregularError from None
            if len(self._codes) > _MOST:
                raise IrregularError
            rows = rows[hashes[rows] != hashes[row]]
        return _table(self._codes)


def sizes_of(words: Words, begin: Ints) -> tuple[Ints, Mask]:
    """How many bytes there are up to the next quotation mark, and whether it is near enough to be found."""
    marks = marked(words.at(begin), _QUOTE)
    sizes, right = first_mark(marks), marks != 0
    for offset in range(8, _LONGEST, 8):
        rows = np.flatnonzero(~right)
        if not len(rows):
            break
        marks = marked(words.at(begin[rows] + offset), _QUOTE)
        sizes[rows], right[rows] = first_mark(marks) + offset, marks != 0
    return sizes, right


def _table(codes: dict[bytes, int]) -> Table:
    ends = np.cumsum([len(label) for label in codes])
    known = _spelt(words_of(b"".join(codes)), np.append(0, ends[:-1]), ends)
    hashes = known.hashes
    for shift in np.arange(64 - _BITS, dtype=np.uint64):
        taken = _slots(hashes, shift)
        if len(set(taken.tolist())) == len(taken):
            slots = np.zeros(_SLOTS, np.int64)
            slots[taken] = np.arange(len(taken))
            return Table(known, np.array([*codes.values()], np.int32), slots, shift)
    raise IrregularError


def _slots(hashes: Masks, shift: np.uint64) -> Ints:
    return ((hashes >> shift) & np.uint64(_SLOTS - 1)).astype(np.int64)


def _spelt(words: Words, begin: Ints, end: Ints) -> Spelt:
    sizes = end - begin
    longest = int(sizes.max(initial=0))
    if longest > _LONGEST:
        raise IrregularError
    kept = FIRST_BYTES[np.minimum(sizes, 8)]
    first, last = words.at(begin) & kept, words.at(np.maximum(end - 8, begin)) & kept
    middle = words.at(begin + np.clip(sizes - 8, 0, 8)) & kept if longest > 16 else None
    return Spelt(first, last, middle, sizes)
