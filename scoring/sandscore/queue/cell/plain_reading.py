"""The quick way into a cell: a process so small that making another of it costs little, and what that one reads.

It knows the kernel, the notes, and nothing else: neither numpy nor gold, of which it has never seen any. Each file is
read in a process of its own, behind the filter of system calls, by the kernel alone, and only where there is nothing
to be said about it; all others, and all about which anything is odd, are read in an ordinary cell.
"""

import ctypes
import marshal
import mmap
import os
import resource
import socket
import struct
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from sandscore.kernel.kernel_library import (
    CELL_LIMITS,
    MOST_SPELT,
    PROPERTIES,
    REPORT_HEAD,
    CellJob,
    KernelForm,
    NameTable,
    Notes,
    Rows,
    Spellings,
    kernel,
)
from sandscore.queue.cell.system_call_filter import (
    INSTRUCTION,
    close_all_but,
    die_with_parent,
    leave_namespaces,
    own_program,
)

LARGEST = 1 << 24
"""Bytes of a file that is read so; of a larger one it matters little what a process costs."""
LONGEST_REQUEST = 1 << 16
READ, LEFT = b"\1", b"\0"
"""The answers: whether there is a report."""
NOTES_ARRAYS = ("texts", "begin", "chars", "first_mark", "marks")
NAMES_ARRAYS = ("names", "begin", "slots")
HEAD = struct.Struct(f"{REPORT_HEAD}q")
"""Of a report: rows, tokens, records; annotations that repeat others, that overlap some, that nobody has compared; and
bytes of the labels' spellings, and of the second labels'."""
_ROW, _TOKEN, _RECORD = 32, 2, 64
"""Bytes of a file, at the least, that an annotation, a token and a record take."""
_INTS, _DOUBLES = 4, 8
_ALIGNED = 8
_MEMORY, _SECONDS, _WRITTEN = 1 << 25, 10, 8
"""Beyond what is there: memory, time, and bytes of a report for each of the file."""
_LIMITED = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)
_PAGE = mmap.PAGESIZE
_PRIVATE, _SHARED, _NAMELESS, _NOT_RESERVED = mmap.MAP_PRIVATE, mmap.MAP_SHARED, mmap.MAP_ANONYMOUS, 0x4000
_NOT_FOR_CHILDREN = 10
_OF_THE_SYSTEM, _OF_THE_LINKER = ("[stack", "[v"), "ld-"
"""How the names of maps begin that a process of C needs."""

_Structure = TypeVar("_Structure", bound=ctypes.Structure)


class _Memory:
    """The C library's maps: addresses, for the kernel."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._map, self._unmap = library.mmap, library.munmap
        self._map.restype = ctypes.c_void_p
        self._map.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
        self._advise = library.madvise
        self._unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self._advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

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

    def keep_from_children(self, address: int, size: int) -> bool:
        """They are made quicker without it, and have not got it."""
        return not self._advise(address, size, _NOT_FOR_CHILDREN)


class _Block:
    """A map of zeros, given out piece by piece."""

    def __init__(self, memory: _Memory, sizes: Iterable[int]) -> None:
        size = sum(map(_rounded, sizes))
        self.place = memory.empty(size), size
        self._end = self.place[0]

    def room(self, size: int) -> int:
        begin, self._end = self._end, self._end + _rounded(size)
        return begin

    def text(self, content: bytes) -> int:
        begin = self.room(len(content) + 1)
        ctypes.memmove(begin, content, len(content))
        return begin

    def structure(self, kind: type[_Structure], **fields: Any) -> _Structure:
        made = kind.from_address(self.room(ctypes.sizeof(kind)))
        for name, value in fields.items():
            setattr(made, name, value)
        return made


def _rounded(size: int) -> int:
    return size + -size % _ALIGNED


class _KnownNotes:
    """Notes and their names, in a map that nobody can write to."""

    def __init__(self, memory: _Memory, descriptor: int, size: int, offsets: tuple[int, ...], whole: bool) -> None:
        self.place = memory.of_file(descriptor, size, _SHARED), size
        at = [self.place[0] + offset for offset in offsets]
        self.count, slots = offsets[-2:]
        self.notes = dict(zip(NOTES_ARRAYS, at, strict=False))
        names = dict(zip(NAMES_ARRAYS, at[len(NOTES_ARRAYS) :], strict=False))
        self.names = {**names, "count": self.count, "slot_room": slots, "whole": whole}


class _Room:
    """What a cell is told, and what it writes into, for files of one form up to some size."""

    def __init__(self, memory: _Memory, known: _KnownNotes, form: Any, size: int, program: bytes) -> None:
        rows, tokens, records = size // _ROW + 1, size // _TOKEN + 1, size // _RECORD + 1
        array, names, required = form
        columns = {
            "confidence": rows * _DOUBLES,
            **dict.fromkeys(("start", "length", "label", "text", "written", "words"), rows * _INTS),
            **dict.fromkeys(("begin", "size"), tokens * _INTS),
            "per_record": records * _INTS,
            **dict.fromkeys(("names", "decoded"), size + 1),
        }
        beside = {
            **dict.fromkeys(("labels", "seconds"), ctypes.sizeof(Spellings)),
            "seen": known.count,
            "spelt": 2 * MOST_SPELT + _ALIGNED,
            "numbers": records * _INTS,
            **dict.fromkeys(("repeats", "overlaps", "found"), rows * _INTS),
            "head": HEAD.size,
        }
        texts, structures = [array, *names, program], (CellJob, KernelForm, Rows, Notes, NameTable)
        told = [*map(ctypes.sizeof, structures), *(len(text) + 1 for text in texts)]
        block = _Block(memory, [*told, *columns.values(), *beside.values()])
        self.place, self.asked, self.size = block.place, (known, form), size
        begin, *begins, written = map(block.text, texts)
        of_form = block.structure(
            KernelForm, array=begin, array_size=len(array),
            names=(ctypes.c_char_p * PROPERTIES)(*map(ctypes.c_char_p, begins)),
            sizes=(ctypes.c_int64 * PROPERTIES)(*map(len, names)), required=required, want_tokens=1,
        )  # fmt: skip
        notes, known_names = block.structure(Notes, **known.notes), block.structure(NameTable, **known.names)
        made = block.structure(Rows, row_room=rows, token_room=tokens, record_room=records)
        self.job = block.structure(
            CellJob, filter=written, instructions=len(program) // INSTRUCTION,
            which=(ctypes.c_int64 * CELL_LIMITS)(*_LIMITED),
            **{name: ctypes.addressof(one) for name, one in (
                ("form", of_form), ("notes", notes), ("names", known_names), ("rows", made))},
        )  # fmt: skip
        for structure, rooms in ((made, columns), (self.job, beside)):
            for name, taken in rooms.items():
                setattr(structure, name, block.room(taken))


class PlainReader:
    """Reads one file after another, each in a process that ends with it. ``apart``: bytes that those do not have."""

    def __init__(self, library: ctypes.CDLL, program: bytes, apart: int = 0) -> None:
        self._library, self._memory, self._program, self._apart = library, _Memory(), program, apart
        self._find = ctypes.cast(library.find_report, ctypes.c_void_p)
        self._known: _KnownNotes | None = None
        self._room: _Room | None = None
        self._used = 0

    def know(self, descriptor: int, size: int, offsets: tuple[int, ...], whole: bool) -> None:
        """Of several data sets only the last: cells know of no other."""
        if self._known is not None:
            self._memory.free(*self._known.place)
            self._known = None
        self._known = _KnownNotes(self._memory, descriptor, size, offsets, whole)

    def read(self, form: Any, size: int, given: int, report: int) -> bool:
        """Whether there is a report now."""
        if self._known is None:
            return False
        job = self._fitting(self._known, form, size).job
        job.size, job.given, job.report = size, given, report
        job.most[:] = max(self._used, 0) + _MEMORY + size, _SECONDS, 0, _WRITTEN * size + LONGEST_REQUEST
        return bool(self._library.read_in_cell(job, self._find))

    def _fitting(self, known: _KnownNotes, form: Any, size: int) -> _Room:
        if self._room is None or self._room.size < size or self._room.asked != (known, form):
            if self._room is not None:
                self._memory.free(*self._room.place)
                self._room = None
            self._room = _Room(self._memory, known, form, 1 << size.bit_length(), self._program)
            with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (nothing is imported for it)
                self._used = int(file.read().split()[0]) * _PAGE - self._apart
        return self._room


def _python_kept_back(library: ctypes.CDLL) -> int:
    """Cells run the kernel and the C library, and need nothing else of what is here: how many bytes they go without."""
    memory, libc = _Memory(), ctypes.CDLL(None)
    libc.__errno_location.restype = ctypes.c_void_p
    needed: tuple[int, ...] = (
        *(ctypes.cast(one, ctypes.c_void_p).value or 0 for one in (library.find_report, libc.memcpy, libc.prctl)),
        libc.__errno_location(),
    )
    apart = 0
    for begin, end in _spare(needed):
        apart += (end - begin) * memory.keep_from_children(begin, end - begin)
    return apart


def _spare(needed: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Maps that hold none of these addresses, and are no part of a file that holds one, nor what stands behind it."""
    with open("/proc/self/maps", "rb") as file:  # noqa: PTH123
        lines = [line.split(None, 5) for line in file.read().decode("utf-8", "replace").splitlines()]
    places = [[int(at, 16) for at in place.split("-")] for place, *_ in lines]
    maps = [(begin, end, "".join(line[5:])) for (begin, end), line in zip(places, lines, strict=True)]
    files = {name for begin, end, name in maps if name and any(begin <= at < end for at in needed)}
    kept_to = 0
    for begin, end, name in maps:
        held = name in files or name.startswith(_OF_THE_SYSTEM) or name.rpartition("/")[2].startswith(_OF_THE_LINKER)
        if held or any(begin <= at < end for at in needed) or (not name and begin == kept_to):
            kept_to = end
        else:
            yield begin, end


def serve(descriptor: int) -> None:
    """One file after another, until the other end is closed."""
    die_with_parent()
    close_all_but(descriptor)
    leave_namespaces()
    library, program = kernel(), own_program()
    if library is None or program is None:
        return
    reader = PlainReader(library, program, _python_kept_back(library))
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
