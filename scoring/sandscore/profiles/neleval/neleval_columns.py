"""A whole corpus as columns, and neleval's ``sets`` of it at once, where its files are of the ordinary kind."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from types import NoneType
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Small, order_of, ranked
from sandscore.annotations.input_files import Loaded
from sandscore.documents.note_documents import last_segment
from sandscore.task_table.task import Task

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_ROOM = 2**53


class UnusualMentionsError(Exception):
    """The files hold what machine integers cannot stand for, or a mention that ends before it starts."""


class MentionColumns(Struct, frozen=True):
    """A side in the original's internal order; ``note`` and ``type`` are numbers."""

    note: Integers
    start: Integers
    end: Integers
    type: Integers

    def __len__(self) -> int:
        return len(self.note)

    def only(self, rows: Integers) -> "MentionColumns":
        """Some of them."""
        return MentionColumns(self.note[rows], self.start[rows], self.end[rows], self.type[rows])


class SettledMentions(Struct, frozen=True):
    """Rows of one side of which nothing is to be found out: ``twins`` share every unit with the one of the other side
    that stands in the same place there, and nobody else is near them. ``rest`` are those that others touch."""

    twins: Integers
    rest: Integers


class MentionCorpus(Struct, frozen=True):
    """Both sides, with the names of notes, how many types there are, and how far offsets reach.

    Of each side, system and gold, ``settled`` says which mentions have a twin and which are touched by others; what
    is neither stands alone.
    """

    notes: list[str]
    types: int
    width: int
    system: MentionColumns
    gold: MentionColumns
    settled: tuple[SettledMentions, SettledMentions]

    def bucket(self, side: MentionColumns, *, typed: bool) -> Integers:
        """What must be equal for two mentions to meet."""
        return side.note * self.types + side.type if typed else side.note

    @property
    def rest(self) -> tuple[MentionColumns, MentionColumns]:
        """The mentions of system and gold that others touch."""
        return self.system.only(self.settled[0].rest), self.gold.only(self.settled[1].rest)

    def twins(self, *, typed: bool) -> tuple[Integers, Integers]:
        """The rows of system and gold that are the same mention."""
        ours, theirs = (settled.twins for settled in self.settled)
        if not typed:
            return ours, theirs
        same = self.system.type[ours] == self.gold.type[theirs]
        return ours[same], theirs[same]


def corpus_of(system: Iterable[Any], gold: Iterable[Any], task: Task) -> MentionCorpus | None:
    """The corpus as columns, or None where it is out of the ordinary."""
    notes: dict[str, int] = {}
    types: dict[str | None, int] = {}
    try:
        sides = [_columns(records, task, notes, types) for records in (system, gold)]
    except (UnusualMentionsError, LookupError, TypeError, AttributeError, OverflowError):
        return None
    return _corpus(list(notes), len(types), sides)


def corpus_of_loaded(loaded: Loaded) -> MentionCorpus | None:
    """The same of files that were read as columns."""
    both = [loaded.columns[role] for role in ("predictions", "gold")]
    blocks = [[*dict.fromkeys(columns.note[_begun(columns.note)].tolist())] for columns in both]
    notes = [*dict.fromkeys(blocks[0] + blocks[1])]
    sides = []
    for columns, listed in zip(both, blocks, strict=True):
        number, rank = (np.zeros(len(loaded.dataset.roll), np.int64) for _ in range(2))
        number[notes], rank[listed] = np.arange(len(notes)), np.arange(len(listed))
        start, length, label = (column.astype(np.int64) for column in (columns.start, columns.length, columns.label))
        sides.append(_in_internal_order(number[columns.note], rank[columns.note], start, length, label + 1))
    return _corpus([loaded.dataset.roll.ids[note] for note in notes], len(loaded.dataset.vocabulary.names) + 1, sides)


def _begun(note: Small) -> Flags:
    """Where another note begins."""
    return np.concatenate((note[:1] >= 0, note[1:] != note[:-1]))


def _corpus(notes: list[str], types: int, sides: Sequence[MentionColumns]) -> MentionCorpus | None:
    width = max(int(side.end.max(initial=0)) for side in sides) + 2
    if width * width * (types + 1) * (len(notes) + 1) >= _ROOM * 2**9:
        return None
    return MentionCorpus(notes, max(types, 1), width, sides[0], sides[1], _settled(sides, width))


def _settled(sides: Sequence[MentionColumns], width: int) -> tuple[SettledMentions, SettledMentions]:
    """By stretches of text that mentions of either side cover without a gap."""
    size = len(sides[0])
    start = np.concatenate([side.note * width + side.start for side in sides])
    end = np.concatenate([side.note * width + side.end for side in sides])
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    begun = np.ones(len(order), np.bool_)
    begun[1:] = start[1:] > np.maximum.accumulate(end)[:-1]
    begins = np.flatnonzero(begun)
    many = np.diff(begins, append=len(order))
    pair = begins[many == 2]  # of equal starts the system's comes first
    same = (start[pair] == start[pair + 1]) & (end[pair] == end[pair + 1])
    pair = pair[same & (order[pair] < size) & (order[pair + 1] >= size)]
    touched = np.ones(len(order), np.bool_)
    ours, theirs = order[pair], order[pair + 1]
    for settled in (order[begins[many == 1]], ours, theirs):
        touched[settled] = False
    in_order = np.argsort(ours)
    return (
        SettledMentions(ours[in_order], np.flatnonzero(touched[:size])),
        SettledMentions(theirs[in_order] - size, np.flatnonzero(touched[size:])),
    )


def _columns(records: Iterable[Any], task: Task, notes: dict[str, int], types: dict[str | None, int]) -> MentionColumns:
    named, sizes, items = [], [], list[Any]()
    for record in records:
        name, listed = record["annotationSource"]["resourceSource"]["name"], record.get(task.array) or []
        if type(name) is not str or type(listed) is not list:
            raise UnusualMentionsError
        if listed:
            named.append(last_segment(name))
            sizes.append(len(listed))
            items += listed
    starts, lengths, _ = (list(map(itemgetter(name), items)) for name in ("start", "length", "text"))
    labels = [item.get(task.label) or None for item in items] if task.label else [None] * len(items)
    if not ({*map(type, starts), *map(type, lengths)} <= {int} and {*map(type, labels)} <= {str, NoneType}):
        raise UnusualMentionsError
    blocks = [notes.setdefault(note, len(notes)) for note in named]
    ranks = {number: rank for rank, number in enumerate(dict.fromkeys(blocks))}
    note, rank = (np.repeat(np.array(column, np.int64), sizes) for column in (blocks, [ranks[b] for b in blocks]))
    start, length = np.array(starts, np.int64), np.array(lengths, np.int64)
    if (
        start.min(initial=0) < 0
        or length.min(initial=1) < 1
        or max(start.max(initial=0), length.max(initial=0)) > _ROOM
    ):
        raise UnusualMentionsError
    for label in dict.fromkeys(labels):
        types.setdefault(label, len(types))
    kind = np.array(list(map(types.__getitem__, labels)), np.int64)
    return _in_internal_order(note, rank, start, length, kind)


def _in_internal_order(
    note: Integers, rank: Integers, start: Integers, length: Integers, kind: Integers
) -> MentionColumns:
    end = start + length - 1
    order = order_of(*ranked([rank, start, end.max(initial=0) - end]))
    return MentionColumns(note, start, end, kind).only(order)


def set_counts_of(corpus: MentionCorpus, *, typed: bool) -> list[tuple[int, int, int]]:
    """Keys in both, in the system's alone, in gold's alone, note by note."""
    touching = corpus.rest
    ours, theirs = (_distinct(corpus, side, typed=typed) for side in touching)
    at = np.searchsorted(theirs, ours)
    inside = at < len(theirs)
    both = ours[inside][theirs[at[inside]] == ours[inside]]
    whole = corpus.width * corpus.width * (corpus.types if typed else 1)
    hit, given, wanted = (_by_note(corpus, column // whole) for column in (both, ours, theirs))
    hit += _by_note(corpus, corpus.system.note[corpus.twins(typed=typed)[0]])
    given += _by_note(corpus, corpus.system.note) - _by_note(corpus, touching[0].note)
    wanted += _by_note(corpus, corpus.gold.note) - _by_note(corpus, touching[1].note)
    return list(zip(*(column.tolist() for column in (hit, given - hit, wanted - hit)), strict=True))


def _by_note(corpus: MentionCorpus, note: Integers) -> Integers:
    """How many are of each note."""
    return np.bincount(note, minlength=len(corpus.notes))


def _distinct(corpus: MentionCorpus, side: MentionColumns, *, typed: bool) -> Integers:
    keys = np.sort((corpus.bucket(side, typed=typed) * corpus.width + side.start) * corpus.width + side.end)
    distinct: Integers = keys[np.concatenate((np.ones(min(len(keys), 1), np.bool_), keys[1:] != keys[:-1]))]
    return distinct


def tangled_mentions(side: MentionColumns, width: int) -> int:
    """How many begin before one before them in the same note has ended."""
    base = _rank(side.note) * width
    reached = np.maximum.accumulate(base + side.end)
    return int(np.count_nonzero((base + side.start)[1:] <= reached[:-1]))


def _rank(note: Integers) -> Integers:
    """Notes numbered as they stand."""
    return np.cumsum(np.concatenate(([0], note[1:] != note[:-1]))[: len(note)])


def repeated_mentions(corpus: MentionCorpus, side: MentionColumns) -> int:
    """How many repeat another in every respect."""
    return len(side) - len(_distinct(corpus, side, typed=True))
