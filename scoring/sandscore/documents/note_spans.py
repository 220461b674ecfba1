"""Both sides' annotations as columns, notes in order, for measures that count a whole data set at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Columns, Ints, Mask, order_of
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.white_space_tokens import TokenTable, table_of
from sandscore.records.document import Annotation, Document

Column = NDArray[Any]


class SpanSide(Struct, frozen=True):
    """``note`` and ``label`` are numbers; ``place`` is an annotation's position in its note."""

    note: Column
    start: Column
    length: Column
    label: Column
    place: Column

    @property
    def end(self) -> Column:
        ends: Column = self.start + self.length
        return ends


class SideWords(Struct, frozen=True):
    """White-space words of one side's annotations, which stand in another order in the file: ``row`` says where."""

    table: TokenTable
    row: Ints

    def of(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """The words of some annotations: the place in ``places`` of each one's annotation, begin and size."""
        return self.table.of(self.row[places])


class NoteSpans(Struct, frozen=True):
    """Numbered notes and labels with their names; label -1 is none.

    ``words`` of gold and predictions are there where equal places in a note are equal words, as the notes were given.
    """

    ids: list[str]
    labels: list[str]
    gold: SpanSide
    predictions: SpanSide
    words: tuple[SideWords, SideWords] | None = None

    @property
    def sizes(self) -> tuple[Ints, Ints]:
        """How many annotations of gold, and of predictions, each note has."""
        gold, predicted = (np.bincount(side.note, minlength=len(self.ids)) for side in (self.gold, self.predictions))
        return gold, predicted

    def named(self, notes: Mask) -> list[str]:
        """The notes that are meant."""
        return [self.ids[number] for number in np.flatnonzero(notes).tolist()]

    def documents(self, notes: Mask) -> Iterable[tuple[int, Document]]:
        """Some of the notes with their number; nobody looks at texts."""
        sides = [self._listed(side, notes) for side in (self.gold, self.predictions)]
        for number in np.flatnonzero(notes).tolist():
            yield number, Document(self.ids[number], None, tuple(sides[0][number]), tuple(sides[1][number]))

    def _listed(self, side: SpanSide, notes: Mask) -> defaultdict[int, list[Annotation]]:
        found: defaultdict[int, list[Annotation]] = defaultdict(list)
        rows = np.flatnonzero(notes[side.note])
        names = [*self.labels, None]
        columns = [column[rows].tolist() for column in (side.note, side.start, side.length, side.label)]
        for note, start, length, label in zip(*columns, strict=True):
            found[note].append(Annotation(start, length, "", names[label]))
        return found


class SpanCounts(Struct, frozen=True):
    """What a measure counts of all notes: ``notes`` are components that add up, note by note where it can be ranked."""

    notes: list[dict[str, int]]
    warnings: tuple[str, ...] = ()


def spans_of(loaded: Loaded) -> NoteSpans:
    """The columns of files that were loaded without errors."""
    dataset = loaded.dataset
    (gold, gold_row), (predicted, row) = (_side(loaded.columns[role]) for role in ("gold", "predictions"))
    tables = [table_of(loaded.columns[role].tokens) for role in ("gold", "predictions")]
    words = None
    if dataset.texts is not None and tables[0] is not None and tables[1] is not None:
        words = SideWords(tables[0], gold_row), SideWords(tables[1], row)
    return NoteSpans(dataset.roll.ids, dataset.vocabulary.names, gold, predicted, words)


def components(names: Iterable[str], columns: Iterable[Column]) -> list[dict[str, int]]:
    """Columns of numbers of every note as the components of each."""
    keys = [*names]
    return [dict(zip(keys, row, strict=True)) for row in zip(*(column.tolist() for column in columns), strict=True)]


def add_up(notes: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The components of several notes as one."""
    total: Counter[str] = Counter()
    for components in notes:
        total.update(components)
    return dict(total)


def extents(annotations: Iterable[Annotation]) -> list[tuple[int, int]]:
    """Half-open extents, in file order."""
    return [(a.start, a.start + a.length) for a in annotations]


def named(notes: Sequence[str]) -> str:
    """How many notes, and the first of them."""
    return f"note {notes[0]}" if len(notes) == 1 else f"{len(notes)} notes (the first is {notes[0]})"


def _side(columns: Columns) -> tuple[SpanSide, Ints]:
    note, start, length, label = (
        column.astype(np.int64) for column in (columns.note, columns.start, columns.length, columns.label)
    )
    row = order_of(note, 1 + int(note.max(initial=0)))
    if not bool((note[1:] >= note[:-1]).all()):
        note, start, length, label = note[row], start[row], length[row], label[row]
    at = np.arange(len(note))
    begins = np.concatenate((note[:1] >= 0, note[1:] != note[:-1]))
    place = at - np.maximum.accumulate(np.where(begins, at, 0))
    return SpanSide(note, start, length, label, place), row
