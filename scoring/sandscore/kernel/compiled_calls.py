"""The calls that others make of the kernel: values in, values out; None is what the kernel does not take.

``sandscore.base.removable_rooms.compiled`` is the way in. What only some of them need is imported when they are called.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import CDLL, byref
from itertools import compress
from typing import TYPE_CHECKING, Any

from sandscore.base.arrays import Ints, Mask, Octets, Values, laid_end_to_end, np, room_for
from sandscore.kernel.kernel_library import (
    MARK_EVERY,
    SUMMED_ROWS,
    SUMMED_WORDS,
    Notes,
    ReportedRows,
    RunRooms,
    address,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sandscore.annotations.columns import Columns
    from sandscore.annotations.data_set import DataSet
    from sandscore.annotations.note_runs import Runs
    from sandscore.annotations.note_texts import GatheredTexts, NoteTexts
    from sandscore.kernel.block_readers import AnnotationReader, KernelNotes, NoteReader
    from sandscore.kernel.kernel_counts import PartCounter
    from sandscore.kernel.kernel_draws import KernelDraws
    from sandscore.measures.confidence import Levels, WeighedConfidence
    from sandscore.task_table.task import Task

LEAST_WAITING = 1 << 23
"""Bytes of notes whose texts memory gives room for in no time."""
TIMES = 4
"""So many times the bytes of notes may files about them have that wait."""
FEW_ROWS = 1000
"""Of a curve, which the encoder writes in no time."""
_LABELS = 1 << 6, 1 << 12
"""Room for as many; more than these are found by numpy."""
_AT_ONCE = 1 << 21
"""Rows that are looked at without giving memory back in between."""
_WIDEST = 4
"""Bytes of a character."""
_BY_RUN = ("note", "first", "size", "first_token", "tokens")
_REPORTED = ("note", "start", "length", "label", "confidence")


class CompiledCalls:
    """What the kernel does in the place of code that computes with numpy, or reads record by record."""

    def __init__(self, library: CDLL) -> None:
        self._library = library

    def note_reader(self, texts: "GatheredTexts") -> "NoteReader | None":
        """Who reads blocks of notes, whose texts are gathered there."""
        from sandscore.kernel.block_readers import NoteReader

        return NoteReader(self._library, texts)

    def waiting_texts(self, notes: int, others: list[int]) -> "GatheredTexts | None":
        """For notes of so many bytes that are read twice, so that what files of so many bytes say of them waits in
        their place; None where the notes are small or those files large."""
        from sandscore.annotations.note_texts import SPILL
        from sandscore.kernel.block_readers import PassingTexts

        few = LEAST_WAITING <= notes <= SPILL and sum(others) <= min(SPILL, TIMES * notes)
        return PassingTexts(self._library, others) if few else None

    def compare_waiting(self, texts: "NoteTexts | None", notes: memoryview, files: "Iterable[Columns]") -> None:
        """What waited, if something did, with the notes: TextsNeededError where some of it does not stand there."""
        from sandscore.annotations.note_loader import NOTE_KEYS
        from sandscore.kernel.block_readers import WaitingTexts

        if isinstance(texts, WaitingTexts):
            texts.compare(notes, NOTE_KEYS, files)

    def long_curve(self, value: object, encoded: Callable[[object], bytes]) -> Iterator[bytes] | None:
        """What a record with a curve is encoded to, the curve's rows piece by piece; None where they are few."""
        from sandscore.measures.confidence import CurveRows

        curve = getattr(value, "curve", None)
        if not isinstance(curve, CurveRows) or len(curve) <= FEW_ROWS:
            return None
        from sandscore.kernel.kernel_counts import curve_in_pieces

        return curve_in_pieces(self._library, value, encoded)

    def annotation_reader(self, task: "Task", dataset: "DataSet", *, want_tokens: bool) -> "AnnotationReader | None":
        """Who reads blocks of annotations; None where there are no texts to compare them with."""
        from sandscore.kernel.block_readers import AnnotationReader

        if dataset.texts is None:
            return None
        return AnnotationReader(self._library, task, dataset, self.notes_of(dataset), want_tokens=want_tokens)

    def notes_of(self, dataset: "DataSet") -> "KernelNotes":
        """What the kernel knows of a data set that has texts, made once."""
        from sandscore.kernel.block_readers import KernelNotes

        known: KernelNotes = dataset.compiled or KernelNotes(self._library, dataset)
        dataset.compiled = known
        return known

    def text_marks(self, texts: Values, sizes: Values, chars: Values) -> memoryview | None:
        """Where some of the characters of texts are that follow one another."""
        marks = room_for(len(texts) // MARK_EVERY + len(sizes), "I")
        used = self._library.mark_characters(*map(address, (texts, sizes, chars)), len(sizes), address(marks))
        return marks[:used]

    def text_borders(self, sizes: Values, chars: Values) -> tuple[memoryview, memoryview] | None:
        """Where texts begin, and their first marks."""
        begin, first_mark = room_for(len(sizes) + 1, "q"), room_for(len(sizes), "q")
        self._library.lay_out_texts(address(sizes), address(chars), len(sizes), address(begin), address(first_mark))
        return begin, first_mark

    def text_parts(self, texts: "NoteTexts", note: Ints, start: Ints, length: Ints) -> tuple[Octets, Ints] | None:
        """What stands where, of notes that are in order, a line feed behind each part; and the bytes of each part."""
        widest = 1 if len(texts.laid.held["texts"]) == texts.characters else _WIDEST
        copied = np.empty(widest * int(length.sum()) + len(note), np.uint8)
        sizes = np.empty(len(note), np.int64)
        columns = [np.ascontiguousarray(one) for one in (note, start, length)]
        told = Notes(*map(address, texts.laid.held.values()))
        used = self._library.copy_parts(
            told, *map(address, columns), len(note), address(copied), len(copied), address(sizes)
        )
        if used < 0:
            raise IndexError("not within a note")
        return copied[:used], sizes

    def labels(self, columns: "Columns") -> set[int] | None:
        """The labels that occur."""
        for room in _LABELS:
            seen = room_for(room, "B")
            marks = address(seen)
            pieces = (laid_end_to_end(piece.held["label"], "i") for _, piece in columns.pieces())
            if all(self._library.see_labels(address(one), len(one), marks, room) for one in pieces):
                return set(compress(range(room), seen))
        return None

    def highest(self, numbers: Values) -> float | None:
        """The highest of some numbers; -1 where there is none."""
        found: float = self._library.highest_number(address(numbers), len(numbers))
        return found

    def runs(self, columns: "Columns") -> "Runs | None":
        """The runs of rows of columns that are not too many."""
        from sandscore.annotations.note_runs import Runs

        rows, words = len(columns), None
        if rows > _AT_ONCE:
            return None
        rooms = {name: room_for(rows, "q") for name in _BY_RUN}
        note = laid_end_to_end(columns.held["note"], "i")
        if columns.tokens is not None:
            words = laid_end_to_end(columns.tokens.held["words"], "i")
        sorting = room_for(4 * rows, "q")
        told = RunRooms(
            **{name: address(room) for name, room in rooms.items()},
            keys=address(sorting),
            spare=address(sorting[2 * rows :]),
            room=rows,
        )
        runs = self._library.find_runs(address(note), None if words is None else address(words), rows, byref(told))
        columns.forget()
        most = told.most_rows, told.most_tokens
        return Runs(columns, **{name: room[:runs] for name, room in rooms.items()}, most=most)

    def is_sound(self, columns: "Columns", task: "Task", dataset: "DataSet", labels: int) -> bool:
        """Whether there is nothing to be said against columns with tokens, of which nothing is believed."""
        from sandscore.annotations.column_builder import KINDS

        seen, tokens = room_for(len(dataset.roll) + 1, "B"), columns.tokens
        held = {name: columns.held[name] for name in _REPORTED} | ({} if tokens is None else dict(tokens.held))
        arrays = {name: laid_end_to_end(column, KINDS[name]) for name, column in held.items()}
        chars = None if dataset.texts is None else laid_end_to_end(dataset.texts.sizes, "q")
        told = ReportedRows(
            **{name: address(array) for name, array in arrays.items()},
            chars=None if chars is None else address(chars),
            rows=len(columns),
            tokens=len(arrays["begin"]),
            notes=len(dataset.roll),
            labels=labels,
            sure=task.confidence_required,
        )
        return bool(self._library.is_sound(told, address(seen)))

    def part_counter(self, *asked: Any) -> "PartCounter | None":
        """Who counts a data set part by part, given as to ``kernel_counts.part_counter``."""
        from sandscore.kernel.kernel_counts import part_counter

        return part_counter(self._library, *asked)

    def table_sums(self, words: Values) -> memoryview | None:
        """Of words in tables of 257 rows of 509 each: sums by column and by row, of which a column's digest is made."""
        tables = -(-len(words) // (SUMMED_WORDS * SUMMED_ROWS))
        sums = room_for(tables * (SUMMED_WORDS + SUMMED_ROWS), "Q")
        return sums[: self._library.sum_tables(address(words), len(words), address(sums))]

    def totals(self, per_group: memoryview) -> tuple[int, int, int] | None:
        """What rows of three come to."""
        sums = room_for(3, "q")
        self._library.sum_counts(address(per_group), len(per_group), address(sums))
        true, wrong, missed = sums
        return true, wrong, missed

    def ratio_sums(self, per_group: memoryview) -> list[tuple[float, int]] | None:
        """Of precision, recall and F1 what they come to over the rows that define them, and how many those are."""
        from sandscore.base.exact_sums import as_double, in_units

        sums = room_for(9, "q")
        if not self._library.sum_ratios(address(per_group), len(per_group), address(sums)):
            return None
        return [(as_double(in_units(0, *sums[at + 1 : at + 3])), sums[at]) for at in (0, 3, 6)]

    def curve(self, levels: "Levels", gold: int, step: int) -> "WeighedConfidence | None":
        """The curve of levels that the kernel has counted in one go, a row of it each ``step``."""
        from sandscore.kernel.kernel_counts import kernel_curve

        return kernel_curve(self._library, levels, gold, step)

    def pair_near(self, gold: Ints, least: Ints, most: Ints) -> Mask | None:
        """Whoever comes first takes the first gold key, not yet taken, that lies from its least to its most."""
        taken = np.empty(len(least), bool)
        self._library.pair_near(address(gold), len(gold), address(least), address(most), len(least), address(taken))
        return taken

    def draws(self, *seed: int) -> "KernelDraws":
        """The stream of a seed, of one word or several."""
        from sandscore.kernel.kernel_draws import KernelDraws

        return KernelDraws(self._library, *seed)

    def drawn_sums(
        self, columns: "NDArray[np.int64]", sizes: Sequence[int], seed: int, resamples: int, rows: int
    ) -> "Iterator[tuple[slice, NDArray[np.int64]]] | None":
        """By replicate and stratum, what the columns of drawn units come to; None where they are many or large."""
        from sandscore.kernel.kernel_draws import drawn_sums

        return drawn_sums(self._library, columns, sizes, seed, resamples, rows)


def compiled_calls() -> CompiledCalls | None:
    """None where the library cannot be loaded."""
    from sandscore.kernel.kernel_library import kernel

    library = kernel()
    return None if library is None else CompiledCalls(library)
