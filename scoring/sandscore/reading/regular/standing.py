"""Whether the texts of a regular block stand in their notes where they say."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sandscore.reading.columns import Ints, Mask, Small
from sandscore.reading.regular.rows import Rows
from sandscore.reading.regular.texts import LONGEST, pieces
from sandscore.reading.regular.words import Scratch, Words, marked

_BATCH = 1 << 19
_UNSAID = b"?"[0]
"""What stands for a character that no byte can say."""


class Stand:
    """Holds texts against notes as bytes, one for a character, as many notes at a time as a cache holds."""

    def __init__(self, notes: Sequence[str], scratch: Scratch) -> None:
        self._notes = notes
        self._scratch = scratch

    def misplaced(self, rows: Rows, numbers: Small) -> Mask:
        """The texts that stand elsewhere, in notes of these numbers; one that is not known may hold anything."""
        notes = [self._notes[number] if number >= 0 else "" for number in numbers.tolist()]
        sizes, lengths = rows.records.sizes, np.array([*map(len, notes)], np.int64)
        ends, row_ends = (np.append(0, np.cumsum(counted)) for counted in (lengths, sizes))
        cuts = np.searchsorted(ends, np.arange(_BATCH, int(ends[-1]), _BATCH))
        wrong = np.zeros(len(rows), bool)
        for first, last in pairwise(dict.fromkeys([0, *cuts.tolist(), len(notes)])):
            which = slice(int(row_ends[first]), int(row_ends[last]))
            owner = np.repeat(np.arange(last - first), sizes[first:last])
            wrong[which] = self._differ(rows, which, notes[first:last], lengths[first:last], owner)
        owner = np.repeat(np.arange(len(notes)), sizes)
        odd = [*rows.odd]
        said = (column[odd].tolist() for column in (owner, rows.start, rows.length))
        wrong[odd] = [
            len(text) != length or not notes[number].startswith(text, start)
            for text, number, start, length in zip(rows.odd.values(), *said, strict=True)
        ]
        wrong[(numbers < 0)[owner]] = False
        return wrong

    def _differ(self, rows: Rows, which: slice, notes: list[str], lengths: Ints, owner: Ints) -> Mask:
        """Where a byte may stand for something that no byte can say, the text itself is looked at."""
        there, unsaid = self._joined(notes, int(lengths.sum()))
        begin, start, length = rows.begin[which], rows.start[which], rows.length[which]
        place = (np.cumsum(lengths) - lengths)[owner] + start
        differing: Mask = start + length > lengths[owner]
        place[differing] = 0
        for some, places, kept in pieces(begin, np.minimum(length, LONGEST)):
            found = rows.words.at(places) & kept
            differing[some] |= there.at(place[some] + (places - begin[some])) & kept != found
        for row in _unclear(rows, which, np.flatnonzero(unsaid[owner])):
            differing[row] = not notes[owner[row]].startswith(rows.text(which.start + row), start[row])
        return differing

    def _joined(self, notes: list[str], size: int) -> tuple[Words, Mask]:
        """Notes a byte for each character, and which of them hold a character that no byte can say."""
        room, end = self._scratch.room(size), 0
        unsaid = np.zeros(len(notes), bool)
        for number, note in enumerate(notes):
            at, end = end, end + len(note)
            try:
                room[at:end] = note.encode("latin-1")
            except UnicodeEncodeError:
                room[at:end] = note.encode("latin-1", "replace")
                unsaid[number] = True
        return Words(room, size), unsaid


def _unclear(rows: Rows, which: slice, some: Ints) -> list[int]:
    """Which of some rows of a slice hold what may stand for something else."""
    begin, length = rows.begin[which][some], np.minimum(rows.length[which][some], LONGEST)
    found = np.zeros(len(some), bool)
    for part, places, kept in pieces(begin, length):
        found[part] |= marked(rows.words.at(places) & kept, _UNSAID) != 0
    unclear: list[int] = some[found].tolist()
    return unclear
