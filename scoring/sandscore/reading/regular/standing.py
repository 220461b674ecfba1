"""Whether the texts of a regular block stand in their notes where they say."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sandscore.reading.columns import Ints, Mask, Small
from sandscore.reading.regular.rows import Rows
from sandscore.reading.regular.texts import LONGEST, pieces
from sandscore.reading.regular.words import Scratch, Words, marked

_BATCH = 1 << 19
_REPLACED = b"?"[0]
"""What stands for a character that a byte cannot say."""


class Stand:
    """Holds texts against notes as bytes, one for a character, as many notes at a time as a cache holds."""

    def __init__(self, notes: Sequence[str], scratch: Scratch) -> None:
        self._notes = notes
        self._scratch = scratch

    def misplaced(self, rows: Rows, numbers: Small) -> Mask:
        """The texts that stand elsewhere, in notes of these numbers; one that is not known may hold anything."""
        notes = [self._notes[number] if number >= 0 else "" for number in numbers.tolist()]
        sizes = rows.records.sizes
        ends, row_ends = (np.append(0, np.cumsum(counted)) for counted in ([len(note) for note in notes], sizes))
        cuts = np.searchsorted(ends, np.arange(_BATCH, int(ends[-1]), _BATCH))
        wrong = np.zeros(len(rows), bool)
        for first, last in pairwise(dict.fromkeys([0, *cuts.tolist(), len(notes)])):
            which = slice(int(row_ends[first]), int(row_ends[last]))
            wrong[which] = self._differ(rows, which, notes[first:last], sizes[first:last])
        owner = np.repeat(np.arange(len(notes)), sizes)
        for row, text in rows.odd.items():
            fits = len(text) == rows.length[row]
            wrong[row] = not (fits and notes[owner[row]].startswith(text, rows.start[row]))
        wrong[(numbers < 0)[owner]] = False
        return wrong

    def _differ(self, rows: Rows, which: slice, notes: list[str], sizes: Ints) -> Mask:
        """Where a byte may stand for something that no byte can say, the text itself is looked at."""
        ends = np.cumsum([len(note) for note in notes])
        there = self._joined(notes, int(ends[-1]) if notes else 0)
        begin, start, length = rows.begin[which], rows.start[which], rows.length[which]
        owner = np.repeat(np.arange(len(notes)), sizes)
        end = ends[owner]
        place = end - np.array([len(note) for note in notes], np.int64)[owner] + start
        differing: Mask = place + length > end
        place[differing] = 0
        unclear = np.zeros(len(differing), bool)
        for some, places, kept in pieces(begin, np.minimum(length, LONGEST)):
            found = rows.words.at(places) & kept
            differing[some] |= there.at(place[some] + (places - begin[some])) & kept != found
            unclear[some] |= marked(found, _REPLACED) != 0
        wide = np.array([not note.isascii() for note in notes], bool)
        for row in np.flatnonzero(unclear & wide[owner]).tolist():
            differing[row] = not notes[owner[row]].startswith(rows.text(which.start + row), start[row])
        return differing

    def _joined(self, notes: list[str], size: int) -> Words:
        room, end = self._scratch.room(size), 0
        for note in notes:
            at, end = end, end + len(note)
            room[at:end] = note.encode() if note.isascii() else note.encode("latin-1", "replace")
        return Words(room, size)
