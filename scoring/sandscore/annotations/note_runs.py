"""A file's annotations note by note: runs of rows that stand together in the file, in the order of their notes."""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from sandscore.annotations.columns import Columns, Tokens, distinct, order_of
from sandscore.base.arrays import HeldArrays, Ints, np
from sandscore.base.removable_rooms import compiled

Which = slice | Ints


class Runs(HeldArrays):
    """Of each run the note, the first row and token, and how many there are; equal notes keep the file's order.

    ``most`` is the most rows and tokens that a note has, where the kernel found the runs.
    """

    columns: Columns
    note: Ints
    first: Ints
    size: Ints
    first_token: Ints
    tokens: Ints
    most: tuple[int, int] | None

    def per_note(self, notes: int) -> Ints:
        """How many annotations each note has."""
        known = self.note >= 0
        return np.bincount(self.note[known], weights=self.size[known], minlength=notes).astype(np.int64)

    def parts(self, size: int) -> Iterator[tuple[int, int]]:
        """All notes in parts that have about ``size`` annotations each: the first, and the one after the last."""
        notes = 1 + int(self.note.max(initial=-1))
        if notes:
            yield from pairwise(borders(self.per_note(notes), size))

    def rows(self, note: int, last: int) -> Which:
        """The rows of the notes before ``last``, from ``note`` on."""
        runs = self._runs(note, last)
        return _joined(self.first[runs], self.size[runs])

    def take(self, note: int, last: int) -> Columns:
        """The annotations of these notes."""
        runs, whole = self._runs(note, last), self.columns
        rows = _joined(self.first[runs], self.size[runs])
        return Columns(
            whole.note[rows],
            whole.start[rows],
            whole.length[rows],
            whole.label[rows],
            whole.confidence[rows],
            None if whole.text is None else whole.text[rows],
            self._tokens(whole.tokens, rows, runs) if whole.tokens else None,
            None if whole.entity is None else whole.entity[rows],
        )

    def within(self, note: int, last: int) -> "Runs":
        """The runs of these notes."""
        runs = self._runs(note, last)
        told = {name: self.held[name][runs] for name in _BY_RUN}
        return Runs(self.columns, **told)

    def _runs(self, note: int, last: int) -> slice:
        return slice(*(bisect_left(self.held["note"], one) for one in (note, last)))

    def _tokens(self, tokens: Tokens, rows: Which, runs: slice) -> Tokens:
        which = _joined(self.first_token[runs], self.tokens[runs])
        return Tokens(tokens.words[rows], tokens.begin[which], tokens.size[which])


_BY_RUN = ("note", "first", "size", "first_token", "tokens")


def runs_of(columns: Columns) -> Runs:
    """One pass through the file's columns, by the kernel where they are not too many."""
    known = compiled().runs(columns)
    return _runs_in_any_order(columns) if known is None else known


def _runs_in_any_order(columns: Columns) -> Runs:
    notes, firsts, tokens = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    passed = 0
    for begin, piece in columns.pieces():
        first = np.flatnonzero(np.concatenate(([True], piece.note[1:] != piece.note[:-1])))
        notes.append(piece.note[first].astype(np.int64))
        firsts.append(begin + first)
        if columns.tokens is not None:
            ends = np.cumsum(np.add.reduceat(columns.tokens.words[begin : begin + len(piece)], first, dtype=np.int64))
            tokens.append(passed + np.concatenate(([0], ends[:-1])))
            passed += int(ends[-1])
    note, first, token = map(np.concatenate, (notes, firsts, tokens))
    size = np.diff(first, append=len(columns))
    order = order_of(note - note.min(initial=0), 1 + int(np.ptp(note)) if len(note) else 1)
    width = np.diff(token, append=passed)
    token, width = (token, width) if columns.tokens is not None else (first, size)
    return Runs(columns, note[order], first[order], size[order], token[order], width[order])


def borders(per_note: Ints, size: int) -> list[int]:
    """Cuts notes into parts of about ``size`` annotations; at least one part."""
    ends = np.concatenate(([0], np.cumsum(per_note)))
    cuts = np.searchsorted(ends, np.arange(size, int(ends[-1]), size), side="right") - 1
    return distinct(np.concatenate(([0], cuts, [len(per_note)])))[0].tolist() if len(per_note) else [0, 0]


def _joined(first: Ints, size: Ints) -> Which:
    """The places of runs one after the other."""
    if not len(first):
        return slice(0, 0)
    if bool((first[1:] == first[:-1] + size[:-1]).all()):
        return slice(int(first[0]), int(first[-1] + size[-1]))
    ends = np.cumsum(size)
    rows: Ints = np.repeat(first - (ends - size), size) + np.arange(int(ends[-1]))
    return rows
