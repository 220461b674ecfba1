"""Columns too long for memory: each in a nameless temporary file, read through a shared map of it.

Memory as the system gives it quickest.
"""

import mmap
import weakref
from contextlib import suppress
from functools import cache
from typing import Any

from sandscore.base.arrays import Kind, Values, as_bytes, seen_as
from sandscore.base.errors import InfrastructureFault

_PIECE = 31 << 20
_POPULATE_WRITE = 23
"""As Linux calls it from 5.14 on; Python has no name for it."""
_LARGE_FILE = 1 << 29
"""Bytes of a mapped file that memory holds."""


@cache
def keep_freed_memory() -> None:
    """Blocks need the same memory again and again, which the C library would give back to the system each time.

    It does not where a larger piece has been freed before; this one is never touched. Once: a second one would come out
    of the memory that is kept, for which numpy would then ask for large pages, and each of those is emptied anew.
    """
    bytes(_PIECE)


def about_to_write(room: memoryview, first: int, last: int) -> None:
    """Bytes of such room that is no part of another: the system gives their pages in one go where it can, in two thirds
    of the time."""
    base = room.obj
    first, last = first // mmap.PAGESIZE * mmap.PAGESIZE, min(last, room.nbytes)
    if isinstance(base, mmap.mmap) and len(base) == room.nbytes and first < last:
        with suppress(OSError):  # an older system: it gives them one by one
            base.madvise(_POPULATE_WRITE, first, last - first)


class _FileMap(mmap.mmap):
    """Memory that can be read again from its file, which no other memory can."""


def mapped(descriptor: int, size: int) -> memoryview:
    """The beginning of a file, only to be read; of a large one ``forget`` gives the memory back."""
    kind = mmap.mmap if size < _LARGE_FILE else _FileMap
    return memoryview(kind(descriptor, size, access=mmap.ACCESS_READ)) if size else memoryview(b"")


class Spool:
    """One column's file; whoever forks after it was opened shares it with the other process."""

    def __init__(self) -> None:
        import tempfile

        try:
            self._file = tempfile.TemporaryFile(prefix="sandscore-", buffering=0)  # noqa: SIM115 (it goes with the spool)
        except OSError as fault:
            raise _no_room(fault) from None
        weakref.finalize(self, self._file.close)

    def append(self, values: Values) -> None:
        """Write values behind those that are there."""
        rest = as_bytes(values)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as fault:
            raise _no_room(fault) from None

    def column(self, kind: Kind) -> memoryview:
        """All that was written; writing into it writes into the file."""
        size = self._file.seek(0, 2)
        return seen_as(_FileMap(self._file.fileno(), size) if size else bytearray(), kind)


def forget(column: Values) -> None:
    """Give the memory of a spooled column back; whoever looks again reads the file again."""
    base: Any = column
    while not isinstance(base, memoryview) and base is not None:
        base = getattr(base, "base", None)
    if isinstance(base, memoryview) and isinstance(base.obj, _FileMap):
        base.obj.madvise(mmap.MADV_DONTNEED)


def _no_room(fault: OSError) -> InfrastructureFault:
    from tempfile import gettempdir

    place = gettempdir()
    return InfrastructureFault(
        f"cannot write to {place}, where large inputs wait until they are scored ({fault.strerror}); "
        "TMPDIR may name another folder"
    )
