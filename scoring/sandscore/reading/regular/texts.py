"""The texts of a regular block: what they are made of, and whether they stand in their notes where they say."""

from collections.abc import Callable, Iterator

import numpy as np

from sandscore.reading.columns import Ints, Mask, Small
from sandscore.reading.regular.words import FIRST_BYTES, HIGH, ROOM, Masks, Words, every, marked

LONGEST = 64
_BLANKS, _LETTERS = every(0x20), every(0x41)
_QUOTE, _BACKSLASH, _SPACE, _REPLACED = b'"\\ ?'


def _pieces(begin: Ints, sizes: Ints) -> Iterator[tuple[Ints | slice, Ints, Masks]]:
    """Texts word by word: whose words, where they begin, and which of their bytes belong to the text."""
    yield slice(None), begin, FIRST_BYTES[np.minimum(sizes, 8)]
    rows, at = np.flatnonzero(sizes > 8), 8
    while len(rows):
        yield rows, begin[rows] + np.minimum(at, sizes[rows] - 8), FIRST_BYTES[8:]
        rows, at = rows[sizes[rows] > at + 8], at + 8


def plain_and_spaced(words: Words, begin: Ints, sizes: Ints) -> tuple[Mask, Mask]:
    """Which texts are ASCII that stands for itself and not very long, and which of them hold a space."""
    plain = sizes <= LONGEST
    sizes = np.minimum(sizes, LONGEST)
    spaced = np.zeros(len(begin), bool)
    for rows, places, kept in _pieces(begin, sizes):
        found = words.at(places) & kept | _LETTERS & ~kept
        odd = found | (found - _BLANKS) & ~found | marked(found, _QUOTE) | marked(found, _BACKSLASH)
        plain[rows] &= odd & HIGH == 0
        spaced[rows] |= marked(found, _SPACE) != 0
    return plain, spaced


class Stand:
    """Holds texts against notes, a block at a time, as bytes: one for a character."""

    def __init__(self, notes: list[str]) -> None:
        self._notes = notes

    def misplaced(
        self,
        words: Words,
        begin: Ints,
        start: Ints,
        length: Ints,
        numbers: Small,
        sizes: Ints,
        text: Callable[[int], str],
    ) -> Mask:
        """The plain texts that stand elsewhere, in notes of these numbers; a note not known may hold anything.

        What a byte cannot say becomes a question mark, so that texts with one are looked at once more.
        """
        notes = [self._notes[number] if number >= 0 else "" for number in numbers.tolist()]
        ends = np.cumsum([len(note) for note in notes])
        there = _joined(notes)
        place = np.repeat(np.append(0, ends[:-1]), sizes) + start
        outside = place + length > np.repeat(ends, sizes)
        place[outside] = 0
        wrong, unclear = outside, np.zeros(len(outside), bool)
        for rows, places, kept in _pieces(begin, np.minimum(length, LONGEST)):
            found = words.at(places)
            wrong[rows] |= (found ^ there.at(place[rows] + (places - begin[rows]))) & kept != 0
            unclear[rows] |= marked(found & kept, _REPLACED) != 0
        wide = np.array([not note.isascii() for note in notes])
        owner = np.repeat(np.arange(len(notes)), sizes)
        for row in np.flatnonzero(unclear & wide[owner]).tolist():
            wrong[row] = not notes[owner[row]].startswith(text(row), start[row])
        wrong[(numbers < 0)[owner]] = False
        return wrong


def _joined(notes: list[str]) -> Words:
    written = [note.encode() if note.isascii() else note.encode("latin-1", "replace") for note in notes]
    whole = b"".join([*written, bytes(ROOM)])
    return Words(whole, len(whole) - ROOM)
