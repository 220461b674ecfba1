"""Blocks of notes and of annotations, read by the kernel.

What it writes into is as large as the largest block needs, and used for one block after another.
"""

import mmap
from collections.abc import Iterable
from contextlib import closing
from ctypes import CDLL, byref, c_char_p, c_int64
from functools import cached_property
from typing import Any, NoReturn

import msgspec

from sandscore.annotations.columns import Columns, Tokens
from sandscore.annotations.data_set import DataSet, TextsNeededError
from sandscore.annotations.json_blocks import array_blocks, form_of, line_blocks
from sandscore.annotations.label_codes import LabelCodes, vocabulary
from sandscore.annotations.note_texts import GatheredTexts, NoteTexts, marked
from sandscore.base.arrays import Kind, Values, laid_end_to_end, room_for, seen_as
from sandscore.base.byte_sources import forget
from sandscore.kernel.kernel_library import (
    PROPERTIES,
    TAKEN,
    UNKNOWN_LABEL,
    UNKNOWN_SECOND,
    KeptTexts,
    KernelForm,
    NameTable,
    NoteRows,
    Notes,
    Rows,
    Spellings,
    address,
)
from sandscore.task_table.task import Task

_LARGEST = 1 << 26
_TRIES, _AGAIN, _SMALL = 4, 8, 1 << 17
_SPARE = 4
"""Blocks differ by less than one in two to so many parts of their size."""
_STRING = msgspec.json.Decoder(str)
Starts = list[tuple[Any, Values]]
"""What is kept of each file, and where its annotations start."""


Plan = dict[str, tuple[int, Kind]]
"""By name: how many bytes a value takes in JSON at the least, and what it becomes."""
_ROW, _TOKEN, _RECORD, _NOTE = 32, 2, 64, 26
ROWS: Plan = {
    **dict.fromkeys(
        ("note", "start", "length", "label", "text", "written", "words", "found", "repeats", "overlaps"), (_ROW, "i")
    ),
    "confidence": (_ROW, "d"),
    **dict.fromkeys(("begin", "size"), (_TOKEN, "i")),
    "per_record": (_RECORD, "i"),
    **dict.fromkeys(("names", "decoded"), (1, "B")),
}
NOTES: Plan = {
    **dict.fromkeys(("names", "patients"), (1, "B")),
    "has_patient": (_NOTE, "B"),
    **dict.fromkeys(("sizes", "chars"), (_NOTE, "q")),
}


class Room:
    """Memory by name, and the structure that tells the kernel of them."""

    def __init__(self, rows: Rows | NoteRows, plan: Plan) -> None:
        self.rows, self._plan = rows, plan
        self._record = _RECORD if isinstance(rows, Rows) else _NOTE
        self.held: dict[str, memoryview] = {}
        self._size = -1

    def fit(self, size: int, spare: int = 0) -> None:
        """Make room for what a block of so many bytes can hold; where it is made, for so many more."""
        if size <= self._size:
            return
        self._size = size = size + spare
        for name, (least, kind) in self._plan.items():
            self.held[name] = room_for(size // least + 1, kind)
            if hasattr(self.rows, name):
                setattr(self.rows, name, address(self.held[name]))
        for limit, least in (("row_room", _ROW), ("token_room", _TOKEN), ("record_room", self._record)):
            if hasattr(self.rows, limit):
                setattr(self.rows, limit, size // least + 1)

    def copied(self, name: str, size: int) -> memoryview:
        """The first values of some memory, to keep."""
        return seen_as(bytearray(self.held[name][:size].cast("B")), self._plan[name][1])

    def words(self, name: str, size: int) -> list[str]:
        """Names that end in a zero each."""
        return str(self.held[name][: size - 1], "utf-8").split("\0") if size else []


class KernelNotes:
    """Notes as the kernel finds them, by their names and by their numbers, and room for blocks that speak of them."""

    def __init__(self, library: CDLL, dataset: DataSet) -> None:
        texts, written, notes = dataset.texts, dataset.roll.written, len(dataset.roll)
        if written is None:
            written = memoryview(bytearray("\0".join([*dataset.roll.ids, ""]).encode("utf-8", "surrogatepass")))
        begin, slots = room_for(notes + 1, "q"), room_for(4 << notes.bit_length(), "I")
        self._library, self._texts, self.room = library, texts, Room(Rows(), ROWS)
        self.waiting = texts if isinstance(texts, WaitingTexts) else None
        kept = None if self.waiting is not None else texts
        self.names, self.texts = (written, begin, slots), () if kept is None else (*kept.laid.held.values(),)
        """The memory of the table of names: these, where each begins, their slots; and that of texts."""
        self.told = Notes(*map(address, self.texts))
        told = {"names": address(written), "begin": address(begin), "slots": address(slots)}
        self._told = NameTable(**told, count=notes, slot_room=len(slots), whole=dataset.whole_names)
        self._begun = bool(library.find_begins(told["names"], len(written), notes, told["begin"]))

    @cached_property
    def findable(self) -> bool:
        """Whether names can be found in whatever order they come; only then are they learnt."""
        return self._begun and bool(self._library.learn_names(byref(self._told)))

    def numbers(self, seen: memoryview, first: int) -> memoryview | None:
        """The notes of the block's records, none of which was seen before; else None, and nothing is done.

        They are looked for where notes are expected that come in their order: from the ``first`` on.
        """
        rows = self.room.rows
        numbers = room_for(rows.records, "i")
        told, rooms = (byref(self._told), byref(rows)), (address(seen), address(numbers))
        followed = self._begun and self._library.follow_names(*told, first, *rooms)
        return numbers if followed or (self.findable and self._library.join_names(*told, *rooms)) else None

    def about_to_look(self, numbers: Values) -> None:
        """At the texts of these notes."""
        if self._texts is not None:
            self._texts.passed(numbers)


class KernelBlock(msgspec.Struct, frozen=True):
    """What a block holds, until the next one is read."""

    library: CDLL
    data: memoryview
    known: KernelNotes
    split: bool

    @property
    def room(self) -> Room:
        """What it was read into."""
        return self.known.room

    @property
    def names(self) -> list[str]:
        """Of the notes that the records are about."""
        return self.room.words("names", self.room.rows.named)

    @property
    def written_names(self) -> bytes:
        """The same as the kernel wrote them, a zero between them."""
        return self.room.held["names"][: self.room.rows.named - 1].tobytes()

    @property
    def sizes(self) -> memoryview:
        """How many annotations each record has."""
        return self.room.held["per_record"][: self.room.rows.records]

    def columns(self, numbers: Values) -> Columns:
        """All annotations, their notes having these numbers; until the next block is read."""
        held, rows, tokens = self.room.held, self.room.rows.rows, self.room.rows.tokens
        self.library.spread_notes(address(numbers), self.room.rows.per_record, len(numbers), address(held["note"]))
        words = Tokens(held["words"][:rows], held["begin"][:tokens], held["size"][:tokens]) if self.split else None
        return Columns(
            note=held["note"][:rows],
            start=held["start"][:rows],
            length=held["length"][:rows],
            label=held["label"][:rows],
            confidence=held["confidence"][:rows],
            tokens=words,
        )

    def misplaced(self, numbers: Values) -> dict[int, str]:
        """The texts that are not what their notes have there."""
        if self.known.waiting is not None:
            self.known.waiting.keep(self, numbers)
            return {}
        found = self.room.held["found"]
        self.known.about_to_look(numbers)
        count = self.library.find_misplaced(
            address(self.data), byref(self.room.rows), address(numbers), byref(self.known.told), address(found)
        )
        return {row: self._text(row) for row in found[:count].tolist()}

    def clashes(self, numbers: Values) -> tuple[memoryview, memoryview]:
        """Annotations that repeat an earlier one of their note, and those that overlap one."""
        rooms, counts = [self.room.held[name] for name in ("repeats", "overlaps", "found")], (c_int64 * 2)()
        self.library.find_clashes(byref(self.room.rows), address(numbers), *map(address, rooms), counts)
        return rooms[0][: counts[0]], rooms[1][: counts[1]]

    def _text(self, row: int) -> str:
        begin, written = (int(self.room.held[name][row]) for name in ("text", "written"))
        text: str = _STRING.decode(self.data[begin - 1 : begin + abs(written) + 1])
        return text


class AnnotationReader:
    """Reads blocks of one file; after several that the kernel refused it tries no more."""

    def __init__(self, library: CDLL, task: Task, dataset: DataSet, known: KernelNotes, *, want_tokens: bool) -> None:
        self._library, self._form = library, written_form(task, want_tokens=want_tokens)
        self._known, self._room, self._split = known, known.room, want_tokens
        second = vocabulary(task, task.second_label)
        self._spellings = {UNKNOWN_LABEL: (dataset.vocabulary, Spellings()), UNKNOWN_SECOND: (second, Spellings())}
        self._tries = _TRIES
        if known.waiting is not None:
            known.waiting.another_file(len(dataset.roll))
        self.spelt_out = True
        """Whether every label was written as it is called."""

    def read(self, data: memoryview, *, lines: bool) -> KernelBlock | None:
        """What the block holds, or None."""
        if not self._tries or len(data) > _LARGEST:
            return None
        self._room.fit(len(data), len(data) >> _SPARE)
        block = KernelBlock(self._library, data, self._known, self._split)
        again = _AGAIN * max(len(data), _SMALL)  # bytes: new labels all at the end would have all read for each
        while again > 0:
            found = self._read(block, lines)
            if found == TAKEN:
                self._tries = _TRIES
                return block
            if found not in self._spellings or not self._learn(block, *self._spellings[found]):
                break
            again -= self._room.rows.label_at
        self._tries -= 1
        return None

    def _read(self, block: KernelBlock, lines: bool) -> int:
        labels, seconds = (spellings for _, spellings in self._spellings.values())
        found: int = self._library.read_annotations(
            address(block.data),
            len(block.data),
            lines,
            byref(self._form),
            byref(labels),
            byref(seconds),
            byref(self._room.rows),
        )
        return found

    def _learn(self, block: KernelBlock, vocabulary: LabelCodes, spellings: Spellings) -> bool:
        """In the order of first appearance, so that codes do not depend on how a file was read."""
        begin = self._room.rows.label_at
        written = block.data[begin : begin + self._room.rows.label_size].tobytes()
        try:
            code = vocabulary[_STRING.decode(b'"%b"' % written)]
            self.spelt_out &= code >= 0 and vocabulary.names[code].encode("utf-8", "surrogatepass") == written
        except (KeyError, msgspec.DecodeError, UnicodeDecodeError):
            return False
        return bool(self._library.learn_spelling(byref(spellings), written, len(written), code))


def written_form(task: Task, *, want_tokens: bool) -> KernelForm:
    """How the task's annotations are written, for the kernel."""
    optional = {"confidence": task.confidence_required, task.label: task.label_required}
    optional[task.second_label] = task.label_required
    names = ("start", "length", "text", "confidence", task.label, task.second_label)
    required = sum(1 << i for i, name in enumerate(names) if name and optional.get(name, True))
    written = [f'{name}"'.encode() if name else b"" for name in names]
    array = f'{task.array}"'.encode()
    return KernelForm(
        array=array,
        names=(c_char_p * PROPERTIES)(*written),
        array_size=len(array),
        sizes=(c_int64 * PROPERTIES)(*map(len, written)),
        required=required,
        want_tokens=want_tokens,
    )


class NoteReader:
    """Reads blocks of one notes file."""

    def __init__(self, library: CDLL, texts: GatheredTexts) -> None:
        self._library, self._texts = library, texts
        self._room = Room(NoteRows(), NOTES)

    def read(self, data: memoryview, *, lines: bool) -> tuple[list[str], list[str | None]] | None:
        """Identifiers and patients of a block's notes, or None; ``keep`` keeps their texts."""
        rows = self._room.rows
        if not self.put(data, lines=lines):
            return None
        named = iter(self._room.words("patients", rows.patients_used))
        has_patient = self._room.held["has_patient"][: rows.records].tolist()
        patients = [next(named) if has else None for has in has_patient]
        return self._room.words("names", rows.named), patients

    def put(self, data: memoryview, *, lines: bool) -> bool:
        """Read a block, its texts into their room; whether the kernel takes it."""
        rows = self._room.rows
        self._room.fit(len(data), len(data) >> _SPARE)
        rows.texts = address(self._texts.room(len(data)))
        return bool(self._library.read_notes(address(data), len(data), lines, byref(rows)) == TAKEN)

    def keep(self) -> None:
        """The texts of the notes that were read last."""
        self._texts.keep(*self.sizes())

    def sizes(self) -> tuple[memoryview, memoryview]:
        """The bytes and characters of each of those texts."""
        records = self._room.rows.records
        return self._room.copied("sizes", records), self._room.copied("chars", records)


class PassingTexts(GatheredTexts):
    """Texts of notes, block by block; ``sizes`` are of the files whose texts will wait for them."""

    def __init__(self, library: CDLL, sizes: Iterable[int]) -> None:
        super().__init__(0)
        self._library, self._largest = library, max(sizes, default=0)

    def room(self, size: int) -> memoryview:
        """The same for each block."""
        if len(self._held) < size:
            self._held = room_for(size + (size >> _SPARE), "B")
        return self._held

    def add(self, _texts: list[str]) -> NoReturn:
        """The kernel has not read them."""
        raise TextsNeededError

    def keep(self, _sizes: memoryview, _chars: memoryview) -> None:
        """They are read again."""

    def all(self) -> "WaitingTexts":
        """What annotations say is kept in place of what notes do."""
        return WaitingTexts(self._library, self, self._largest)


class WaitingTexts(NoteTexts):
    """Notes' texts that nobody keeps: what annotations say waits until the notes are read a second time, and is
    compared with each block of them while the processor's cache has it. Annotations say a sixth of what notes do.

    Whatever is asked of a text, and whatever does not stand where it should, raises ``TextsNeededError``: in the usual
    order all can be explained.
    """

    def __init__(self, library: CDLL, passing: PassingTexts, largest: int) -> None:
        self._library, self._passing, self._largest = library, passing, largest
        self._reader, self._files = NoteReader(library, passing), list[KeptTexts]()
        self._rooms = list[memoryview]()

    def __getattr__(self, name: str) -> NoReturn:
        raise TextsNeededError(name)

    def another_file(self, notes: int) -> None:
        """Blocks are of another file from now on."""
        rooms = {
            "texts": room_for(self._largest, "B"),
            "bytes": room_for(self._largest // _ROW + 1, "i"),
            "rows_of": room_for(notes, "i"),
            **{name: room_for(notes, "q") for name in ("first_row", "first_byte")},
        }
        self._rooms += rooms.values()
        limits = {"text_room": self._largest, "row_room": self._largest // _ROW + 1, "notes": notes}
        self._files.append(KeptTexts(**{name: address(room) for name, room in rooms.items()}, **limits))

    def keep(self, block: KernelBlock, numbers: Values) -> None:
        """What a block's annotations say."""
        told = address(block.data), byref(block.room.rows), address(numbers), byref(self._files[-1])
        if not self._library.keep_texts(*told):
            raise TextsNeededError

    def compare(self, data: memoryview, first_keys: tuple[str, ...], files: Iterable[Columns]) -> None:
        """With the notes, which are read as they were before."""
        lines, passed = form_of(data) == "lines", 0
        kept = [*zip(self._files, files, strict=True)]
        if any(one.rows != len(columns) for one, columns in kept):
            raise TextsNeededError
        starts = [(byref(one), laid_end_to_end(columns.held["start"], "i")) for one, columns in kept]
        with closing(line_blocks(data) if lines else array_blocks(data, first_keys)) as blocks:
            for block in blocks:
                passed += self._compare(block.data, lines, passed, starts)
                forget(data, block.offset, block.offset + len(block.data) - mmap.PAGESIZE)
        if self._files and passed != self._files[0].notes:
            raise TextsNeededError
        vars(self).clear()  # counting may have the memory

    def _compare(self, data: memoryview, lines: bool, passed: int, starts: Starts) -> int:
        reader = self._reader
        if not reader.put(data, lines=lines):
            raise TextsNeededError
        sizes, chars = reader.sizes()
        put = self._passing.room(0)[: sum(sizes)]
        texts = NoteTexts(put, sizes, chars, marked(put, sizes, chars), spooled=False)
        told, stand = Notes(*map(address, texts.laid.held.values())), self._library.kept_texts_stand
        if not all(stand(byref(told), passed, len(sizes), kept, address(start)) for kept, start in starts):
            raise TextsNeededError
        return len(sizes)
