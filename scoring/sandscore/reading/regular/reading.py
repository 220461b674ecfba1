"""Regular blocks of one file, as far as it has any."""

from collections.abc import Sequence

import numpy as np

from sandscore.reading.columns import Columns, Mask, Small, Tokens
from sandscore.reading.labels import Vocabulary
from sandscore.reading.regular.rows import RowReader, Rows
from sandscore.reading.regular.shape import ARRAY, LINES
from sandscore.reading.regular.standing import Stand
from sandscore.reading.regular.words import IrregularError, Scratch, copied
from sandscore.reading.tokens import tokens_of
from sandscore.tasks import Task

SMALLEST = 1 << 15
"""Bytes of a block below which there is nothing to gain."""
_TRIES = 4


class RegularReader:
    """Reads blocks that are regular; after several that are not it tries no more."""

    def __init__(self, task: Task, labels: Vocabulary, second: Vocabulary, scratch: tuple[Scratch, Scratch]) -> None:
        self._reader = RowReader(task, labels, second)
        self._tries = _TRIES
        self._scratch, self._room = scratch
        self._stand: Stand | None = None

    def read(self, data: memoryview, *, lines: bool) -> Rows | None:
        """The block's content, which lasts until the next one is read, or None."""
        if not self._tries or len(data) < SMALLEST:
            return None
        try:
            found = self._reader.read(copied(data, self._scratch), LINES if lines else ARRAY)
        except IrregularError:
            self._tries -= 1
            return None
        self._tries = _TRIES
        return found

    def misplaced(self, rows: Rows, notes: Sequence[str], numbers: Small) -> Mask:
        """Which texts are not what their notes have there."""
        self._stand = self._stand or Stand(notes, self._room)
        return self._stand.misplaced(rows, numbers)


def columns_of(rows: Rows, numbers: Small, *, want_tokens: bool) -> Columns:
    """A block's columns, its notes having these numbers."""
    return Columns(
        note=np.repeat(numbers, rows.records.sizes),
        start=rows.start.astype(np.int32),
        length=rows.length.astype(np.int32),
        label=rows.label,
        confidence=rows.confidence,
        tokens=_tokens(rows) if want_tokens else None,
    )


def _tokens(rows: Rows) -> Tokens:
    """White-space tokens of all texts: one each where there is no space."""
    odd = np.array([*rows.odd], np.int64)
    spaced = rows.spaced.copy()
    spaced[odd] = False
    which, single = np.flatnonzero(spaced), ~rows.spaced
    single[odd] = False
    found = [(which, tokens_of(rows.words.joined(rows.begin[which], rows.length[which]), rows.length[which]))]
    if len(odd):
        texts = [*rows.odd.values()]
        found.append((odd, tokens_of("\n".join(["", *texts, ""]), np.array([len(text) for text in texts]))))
    words = np.ones(len(rows), np.int32)
    for some, split in found:
        words[some] = split.words
    ends = np.cumsum(words, dtype=np.int64)
    begin, size = np.zeros(int(ends[-1]), np.int32), np.empty(int(ends[-1]), np.int32)
    size[(ends - 1)[single]] = rows.length[single]
    for some, split in found:
        steps = np.arange(len(split.begin)) - np.repeat(np.cumsum(split.words, dtype=np.int64), split.words)
        places = np.repeat(ends[some], split.words) + steps
        begin[places], size[places] = split.begin, split.size
    return Tokens(words, begin, size)
