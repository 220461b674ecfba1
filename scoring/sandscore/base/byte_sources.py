"""Files and standard input to bytes in memory maps; ``.gz`` and ``.zst`` are unpacked on the way.

A plain file is mapped privately, so reading costs no copy and writing into the map never touches the file.
Whatever is unpacked or piped goes through a nameless temporary file, so that a large input costs disk, not memory.
Bytes that are in memory already are taken as a file's are, packed or not.
"""

import errno
import io
import mmap
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault, MissingFile, SandscoreError
from sandscore.base.terminal_text import one_line

CHUNK = 1 << 20
HASHED = 1 << 22
_PACKED = 1 << 9
"""Bytes of a .zst that are unpacked at once: each four of them may become 128 kB."""
BOMB_FLOOR = 1 << 30
BOMB_RATIO = 200

Unpack = Callable[[BinaryIO], Iterator[bytes]]


class BadStream(SandscoreError):
    """A compressed file that is not what its ending says, or unpacks beyond all measure."""

    exit_code = 65


class TooLong(BadStream):
    """A file of more bytes, once unpacked, than whoever reads it takes."""


class NamedBytes(Struct, frozen=True):
    """Bytes that are in memory, in the place of a file; packed ones are known by how they begin."""

    name: str
    data: bytes

    def __str__(self) -> str:
        return self.name


InputFile = str | Path | NamedBytes
"""Where an input is; ``-`` is standard input."""


class Source(Struct):
    """An input's bytes under the name its user gave it. ``data`` may be written over in memory."""

    name: str
    data: mmap.mmap | bytearray

    def sha256(self) -> str:
        """Of the unpacked bytes; take it before anything writes into ``data``."""
        from hashlib import sha256

        taken = sha256()
        with memoryview(self.data) as view:
            for at in range(0, len(view), HASHED):
                taken.update(view[at : at + HASHED])
                forget(view, at, at + HASHED)
        return taken.hexdigest()


def packed(name: str, content: bytes) -> Iterator[bytes]:
    """Bytes as a file of that name holds them: packed where its ending says so."""
    if name.endswith(".gz"):
        import gzip

        yield gzip.compress(content, mtime=0)
    elif name.endswith(".zst"):
        import zstandard

        yield zstandard.ZstdCompressor().compress(content)
    else:
        yield content


def forget(data: memoryview, start: int, end: int) -> None:
    """Give the memory behind whole pages of a mapped file back; whoever looks again reads the file again."""
    first, last = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
    if isinstance(data.obj, mmap.mmap) and first < last <= len(data):
        data.obj.madvise(mmap.MADV_DONTNEED, first, last - first)


@contextmanager
def opened(path: InputFile) -> Iterator[Source]:
    """The bytes of a file, of standard input for ``-``, or of what is in memory."""
    name = str(path)
    if isinstance(path, NamedBytes):
        yield Source(name, _unpacked(path))
        return
    with _binary(name) as raw, _read(name, raw, None) as source:
        yield source


@contextmanager
def opened_regular(path: Path, most: int) -> Iterator[Source]:
    """The same for what is handed in: no link, no device, no pipe, and no more than so many bytes, once unpacked."""
    with _regular(str(path)) as raw, _read(str(path), raw, most) as source:
        yield source


def plain_size(path: Path) -> int | None:
    """The bytes of a regular file that is read as it is; None where it would be unpacked, or is none."""
    if any(str(path).endswith(ending) for ending in _UNPACKERS):
        return None
    with suppress(OSError, ValueError):
        seen = os.lstat(path)
        return seen.st_size if stat.S_ISREG(seen.st_mode) else None
    return None


@contextmanager
def _read(name: str, raw: BinaryIO, most: int | None) -> Iterator[Source]:
    unpack = next((u for ending, u in _UNPACKERS.items() if name.endswith(ending)), None)
    if unpack is None and name != "-" and stat.S_ISREG((seen := os.fstat(raw.fileno())).st_mode):
        if most is not None and seen.st_size > most:
            raise _too_long(name, most)
        data = _mapped(raw)
    else:
        data = _spooled(name, raw, unpack, most=most)
    try:
        yield Source(name, data)
    finally:
        if isinstance(data, mmap.mmap):
            _close(data)


def _unpacked(given: NamedBytes) -> mmap.mmap | bytearray:
    ending = next((ending for ending, magic in _BEGINNINGS.items() if given.data.startswith(magic)), None)
    if ending is None:
        return bytearray(given.data)
    with io.BytesIO(given.data) as raw:
        return _spooled(given.name, raw, _UNPACKERS[ending], ending)


def _close(data: mmap.mmap) -> None:
    with suppress(BufferError):  # an exception on its way up may still look at the map; it goes when that does
        data.close()


def _binary(name: str) -> BinaryIO:
    if name == "-":
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    try:
        file = Path(name).open("rb")  # noqa: SIM115 (the caller closes it)
    except (OSError, ValueError) as fault:
        address = " (an address is not fetched: download the file first)" if "://" in name else ""
        raise MissingFile(f"{one_line(name, None)}: {_reason(fault)}{address}") from None
    if stat.S_ISDIR(os.fstat(file.fileno()).st_mode):
        file.close()
        raise MissingFile(f"{one_line(name, None)}: is a directory, not a file")
    return file


def _regular(name: str) -> BinaryIO:
    """Opened without waiting for anybody, and looked at before a byte is read."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as fault:
        link = isinstance(fault, OSError) and fault.errno == errno.ELOOP
        why = "is a link; hand in the file itself" if link else _reason(fault)
        raise MissingFile(f"{one_line(name, None)}: {why}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise MissingFile(f"{one_line(name, None)}: is not a regular file")
    return open(descriptor, "rb")  # noqa: PTH123 (a descriptor, not a path)


def _too_long(name: str, most: int) -> TooLong:
    return TooLong(f"{one_line(name, None)}: has more than the {most:,} bytes allowed")


def _reason(fault: OSError | ValueError) -> str:
    if isinstance(fault, FileNotFoundError):
        return "there is no such file"
    if isinstance(fault, IsADirectoryError):
        return "is a directory, not a file"
    if isinstance(fault, PermissionError):
        return "may not be read (permission denied)"
    return f"cannot be read ({fault.strerror if isinstance(fault, OSError) else 'not a file name'})"


def _mapped(raw: IO[bytes]) -> mmap.mmap | bytearray:
    try:
        return mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_COPY)
    except ValueError:
        return bytearray()


def _spooled(
    name: str, raw: BinaryIO, unpack: Unpack | None, ending: str = "", most: int | None = None
) -> mmap.mmap | bytearray:
    import gzip
    import tempfile
    import zlib

    try:
        with tempfile.TemporaryFile(prefix="sandscore-") as spool:
            for chunk in _measured(name, raw, unpack) if unpack else iter(lambda: raw.read(CHUNK), b""):
                spool.write(chunk)
                if most is not None and spool.tell() > most:
                    raise _too_long(name, most)
            spool.flush()
            return _mapped(spool)
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        kind = (ending or Path(name).suffix)[1:]
        if isinstance(fault, gzip.BadGzipFile) and "gzipped" in str(fault):
            raise BadStream(f"{one_line(name, None)}: ends in .{kind}, but is not packed: rename it") from None
        raise BadStream(f"{one_line(name, None)}: is not a whole {kind} file ({fault})") from None
    except OSError as fault:
        if fault.errno == errno.ENOSPC:
            raise InfrastructureFault(f"no room in {tempfile.gettempdir()} to unpack {one_line(name, None)}") from None
        raise MissingFile(f"{one_line(name, None)}: {_reason(fault)}") from None


def _measured(name: str, raw: BinaryIO, unpack: Unpack) -> Iterator[bytes]:
    written = 0
    for chunk in unpack(raw):
        written += len(chunk)
        if written > max(BOMB_FLOOR, BOMB_RATIO * raw.tell()):
            raise BadStream(f"{one_line(name, None)}: unpacks to more than {BOMB_RATIO} times its size; refused")
        yield chunk


def _gunzip(raw: BinaryIO) -> Iterator[bytes]:
    import gzip

    stream = gzip.GzipFile(fileobj=raw)
    while chunk := stream.read(CHUNK):
        yield chunk


def _unzstd(raw: BinaryIO) -> Iterator[bytes]:
    import zstandard

    unpacker = zstandard.ZstdDecompressor()
    frame, rest = unpacker.decompressobj(), b""
    ended = False
    while chunk := rest or raw.read(_PACKED):
        if ended:
            frame, ended = unpacker.decompressobj(), False
        try:
            yield frame.decompress(chunk)
        except zstandard.ZstdError as fault:
            raise EOFError(str(fault)) from None
        ended, rest = frame.eof, frame.unused_data
    if not ended:
        raise EOFError("it ends in the middle of a frame")


_UNPACKERS: dict[str, Unpack] = {".gz": _gunzip, ".zst": _unzstd}
_BEGINNINGS = {".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}
