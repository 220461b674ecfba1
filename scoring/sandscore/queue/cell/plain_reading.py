"""The quick way into a cell: a process so small that making another of it costs little, and what that one reads.

It knows the kernel, the notes, and nothing else: neither numpy nor gold, of which it has never seen any. Each file is
read in a process of its own, behind the filter of system calls, by the kernel alone, and only where there is nothing
to be said about it; all others, and all about which anything is odd, are read in an ordinary cell.
"""

import ctypes
import gc
import marshal
import mmap
import os
import resource
import socket
import struct
from collections.abc import Callable
from typing import Any, NoReturn

from sandscore.annotations.kernel.kernel_library import (
    PROPERTIES,
    TAKEN,
    UNKNOWN_LABEL,
    UNKNOWN_SECOND,
    KernelForm,
    NameTable,
    Notes,
    Rows,
    Spellings,
    kernel,
)
from sandscore.queue.cell.system_call_filter import (
    close_all_but,
    confine,
    die_with_parent,
    fork_bare,
    leave_namespaces,
)

LARGEST = 1 << 24
"""Bytes of a file that is read so; of a larger one it matters little what a process costs."""
LONGEST_REQUEST = 1 << 16
READ, LEFT = b"\1", b"\0"
"""The answers: whether there is a report."""
NOTES_ARRAYS = ("texts", "begin", "chars", "first_mark", "marks")
NAMES_ARRAYS = ("names", "begin", "slots")
HEAD = struct.Struct("8q")
"""Of a report: rows, tokens, records; annotations that repeat others, that overlap some, that nobody has compared; and
bytes of the labels' spellings, and of the second labels'."""
_ROW, _TOKEN, _RECORD = 32, 2, 64
"""Bytes of a file, at the least, that an annotation, a token and a record take."""
_INTS, _DOUBLES = 4, 8
_ALIGNED = 8
_MEMORY, _SECONDS, _WRITTEN = 1 << 25, 10, 8
"""Beyond what is there: memory, time, and bytes of a report for each of the file."""
_AGAIN, _SMALL = 8, 1 << 17
_PAGE = mmap.PAGESIZE
_PRIVATE, _SHARED, _NAMELESS, _NOT_RESERVED = mmap.MAP_PRIVATE, mmap.MAP_SHARED, mmap.MAP_ANONYMOUS, 0x4000
_BLANKS = b" \t\r\n"
_LOOKED_AT = 64


class _Memory:
    """The C library's maps: addresses, for the kernel."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._map, self._unmap = library.mmap, library.munmap
        self._map.restype = ctypes.c_void_p
        self._map.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
        self._unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)

    def of_file(self, descriptor: int, size: int, kind: int) -> int:
        return self._mapped(size, mmap.PROT_READ, kind, descriptor)

    def empty(self, size: int) -> int:
        """Zeros, none of which takes memory before it is written to."""
        return self._mapped(size, mmap.PROT_READ | mmap.PROT_WRITE, _PRIVATE | _NAMELESS | _NOT_RESERVED, -1)

    def _mapped(self, size: int, rights: int, kind: int, descriptor: int) -> int:
        found: int = self._map(None, size, rights, kind, descriptor, 0)
        if found == ctypes.c_void_p(-1).value:
            raise OSError(ctypes.get_errno(), "no memory")
        return found

    def free(self, address: int, size: int) -> None:
        self._unmap(address, size)


class _Room:
    """What the kernel writes into, for files up to some size; nothing here is ever written to but in a cell."""

    def __init__(self, memory: _Memory, size: int, notes: int) -> None:
        rows, tokens, records = size // _ROW + 1, size // _TOKEN + 1, size // _RECORD + 1
        wanted = {
            "confidence": rows * _DOUBLES,
            **dict.fromkeys(("start", "length", "label", "text", "written", "words"), rows * _INTS),
            **dict.fromkeys(("repeats", "overlaps", "found"), rows * _INTS),
            **dict.fromkeys(("begin", "size"), tokens * _INTS),
            **dict.fromkeys(("per_record", "numbers"), records * _INTS),
            **dict.fromkeys(("names", "decoded"), size + 1),
            **dict.fromkeys(("labels", "seconds"), ctypes.sizeof(Spellings)),
            "counts": 3 * _ALIGNED,
            "seen": notes,
        }
        ends, end = {}, 0
        for name, taken in wanted.items():
            ends[name], end = end, end + taken + -taken % _ALIGNED
        self.size, self.notes = size, notes
        self.place = memory.empty(end), end
        self.at = {name: self.place[0] + offset for name, offset in ends.items()}
        self._ends, self._bytes = ends, memoryview((ctypes.c_char * end).from_address(self.place[0]))
        told = {name: self.at[name] for name, *_ in Rows._fields_ if name in self.at}
        self.rows = Rows(**told, row_room=rows, token_room=tokens, record_room=records)
        self.labels, self.seconds = (Spellings.from_address(self.at[name]) for name in ("labels", "seconds"))
        self.counts = (ctypes.c_int64 * 3).from_address(self.at["counts"])

    def begin_of(self, name: str, size: int) -> memoryview:
        """Its first bytes, seen through a view that there is already: a cell that made one would pay for each."""
        return self._bytes[self._ends[name] : self._ends[name] + size]


class _KnownNotes:
    """Notes and their names, in a map that nobody can write to."""

    def __init__(self, memory: _Memory, descriptor: int, size: int, offsets: tuple[int, ...], whole: bool) -> None:
        self.place = memory.of_file(descriptor, size, _SHARED), size
        at = [self.place[0] + offset for offset in offsets]
        self.notes = Notes(**dict(zip(NOTES_ARRAYS, at, strict=False)))
        self.count, slots = offsets[-2:]
        names = dict(zip(NAMES_ARRAYS, at[len(NOTES_ARRAYS) :], strict=False))
        self.names = NameTable(**names, count=self.count, slot_room=slots, whole=whole)


class PlainReader:
    """Reads one file after another, each in a process that ends with it."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library, self._memory = library, _Memory()
        self._known: _KnownNotes | None = None
        self._room: _Room | None = None
        self._form: tuple[Any, KernelForm] | None = None
        self._used = 0

    def know(self, descriptor: int, size: int, offsets: tuple[int, ...], whole: bool) -> None:
        """Of several data sets only the last: cells know of no other."""
        if self._known is not None:
            self._memory.free(*self._known.place)
            self._known = None
        self._known = _KnownNotes(self._memory, descriptor, size, offsets, whole)
        self._used = 0

    def read(self, form: Any, size: int, given: int, report: int) -> bool:
        """Whether there is a report now."""
        if self._known is None:
            return False
        written, room = self._written(form), self._fitting(size, self._known.count)
        limits = self._limits(size)
        cell = fork_bare()
        if not cell:
            self._read_and_leave(self._known, written, room, limits, size, given, report)
        return os.waitpid(cell, 0)[1] == 0

    def _fitting(self, size: int, notes: int) -> _Room:
        if self._room is None or self._room.size < size or self._room.notes < notes:
            if self._room is not None:
                self._memory.free(*self._room.place)
                self._room = None
            self._room, self._used = _Room(self._memory, 1 << size.bit_length(), notes), 0
        return self._room

    def _written(self, said: Any) -> KernelForm:
        if self._form is None or self._form[0] != said:
            array, names, required = said
            written = KernelForm(array=array, names=(ctypes.c_char_p * PROPERTIES)(*names), required=required)
            written.array_size, written.want_tokens = len(array), 1
            written.sizes = (ctypes.c_int64 * PROPERTIES)(*map(len, names))
            self._form = said, written
        return self._form[1]

    def _limits(self, size: int) -> tuple[tuple[int, int], ...]:
        if not self._used:
            with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (nothing is imported for it)
                self._used = int(file.read().split()[0]) * _PAGE
        return (
            (resource.RLIMIT_AS, self._used + _MEMORY + size),
            (resource.RLIMIT_CPU, _SECONDS),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, _WRITTEN * size + LONGEST_REQUEST),
        )

    def _read_and_leave(
        self,
        known: _KnownNotes,
        form: KernelForm,
        room: _Room,
        limits: tuple[tuple[int, int], ...],
        size: int,
        given: int,
        report: int,
    ) -> NoReturn:
        end = 1
        try:
            die_with_parent()
            data = self._memory.of_file(given, size, _PRIVATE)
            close_all_but(report)
            for which, most in limits:
                resource.setrlimit(which, (most, most))
            if confine() and (parts := self._found(data, size, known, form, room)):
                end = int(os.writev(report, parts) < sum(map(len, parts)))
        finally:
            os._exit(end)

    def _found(self, data: int, size: int, known: _KnownNotes, form: KernelForm, room: _Room) -> list[Any]:
        """The parts of a report; none where the file must be looked at more closely."""
        first = ctypes.string_at(data, min(size, _LOOKED_AT)).lstrip(_BLANKS)[:1]
        spelt = self._columns(data, size, first == b"{", form, room)
        rows, at = room.rows, room.at
        if spelt is None or not rows.rows or rows.records < 1 + (first == b"{"):
            return []
        if not self._library.join_names(known.names, rows, at["seen"], at["numbers"]):
            return []
        if self._library.find_misplaced(data, rows, at["numbers"], known.notes, at["found"]):
            return []
        clashing = "repeats", "overlaps", "found"
        self._library.find_clashes(rows, at["numbers"], *(at[name] for name in clashing), at["counts"])
        labels, seconds = (b"".join(b"%b\0" % one for one in names) for names in spelt)
        head = HEAD.pack(rows.rows, rows.tokens, rows.records, *room.counts, len(labels), len(seconds))
        taken = {"confidence": rows.rows * _DOUBLES, **dict.fromkeys(("numbers", "per_record"), rows.records * _INTS)}
        taken |= dict.fromkeys(("start", "length", "label", "words"), rows.rows * _INTS)
        taken |= dict.fromkeys(("begin", "size"), rows.tokens * _INTS)
        taken |= {name: count * _INTS for name, count in zip(clashing, room.counts, strict=True)}
        names = labels + seconds
        parts = [room.begin_of(name, count) for name, count in taken.items()]
        return [head, names + bytes(-len(names) % _ALIGNED), *parts]

    def _columns(
        self, data: int, size: int, lines: bool, form: KernelForm, room: _Room
    ) -> tuple[list[bytes], list[bytes]] | None:
        """The spellings of labels, in the order of their first appearance; None where the kernel refuses the file."""
        spelt: dict[int, tuple[list[bytes], Spellings]] = {
            UNKNOWN_LABEL: ([], room.labels),
            UNKNOWN_SECOND: ([], room.seconds),
        }
        read: Callable[..., int] = self._library.read_annotations
        again = _AGAIN * max(size, _SMALL)  # bytes: new labels all at the end would have all read for each
        while again > 0:
            found = read(data, size, lines, form, room.labels, room.seconds, room.rows)
            if found == TAKEN:
                return spelt[UNKNOWN_LABEL][0], spelt[UNKNOWN_SECOND][0]
            if found not in spelt:
                return None
            names, spellings = spelt[found]
            begin, length = room.rows.label_at, room.rows.label_size
            name = ctypes.string_at(data + begin, length)
            if b"\\" in name or not self._library.learn_spelling(spellings, name, length, len(names)):
                return None
            names.append(name)
            again -= begin
        return None


def serve(descriptor: int) -> None:
    """One file after another, until the other end is closed."""
    die_with_parent()
    close_all_but(descriptor)
    leave_namespaces()
    library = kernel()
    if library is None:
        return
    reader = PlainReader(library)
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as line:
        while True:
            told, descriptors, *_ = socket.recv_fds(line, LONGEST_REQUEST, 3)
            if not told:
                break
            line.send(READ if _answered(reader, marshal.loads(told), descriptors) else LEFT)  # noqa: S302 (of our parent)
            for one in descriptors:
                os.close(one)


def _answered(reader: PlainReader, request: Any, descriptors: list[int]) -> bool:
    form, size, notes = request
    given, report, *others = descriptors
    try:
        for one in others:
            reader.know(one, *notes)
        return reader.read(form, size, given, report)
    except OSError:
        return False
