"""One regular file out of a container, as data: no link followed, nothing unpacked, no byte beyond the limit."""

import io
import stat
import tarfile
from collections.abc import Iterator
from typing import Any

from sandscore.records.run import Outcome, RunFault
from sandscore.running.engine import asking

_BLOCK = 512
_HEADER_BYTES = 16 << 10
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_GO_MODES = {1 << 31: stat.S_IFDIR, 1 << 27: stat.S_IFLNK, 1 << 26: stat.S_IFBLK, 1 << 25: stat.S_IFIFO}
_GO_SOCKET = 1 << 24


def take_file(container: Any, path: str, most_bytes: int) -> bytes:
    """The content of a regular file of at most so many bytes; what else is there ends the run."""
    from docker.errors import NotFound

    with asking("taking out the result"):
        try:
            stream, facts = container.get_archive(path)
        except NotFound:
            raise RunFault(Outcome.INVALID_OUTPUT, f"there is no {path}") from None
        try:
            _check(path, facts, most_bytes)
            return _content(path, _first_entry(stream, most_bytes + _HEADER_BYTES), most_bytes)
        finally:
            stream.close()


def _check(path: str, facts: dict[str, Any], most_bytes: int) -> None:
    """The engine's own look at the file, before a byte of it is read."""
    mode = int(facts["mode"])
    kind = next((unix for go, unix in _GO_MODES.items() if mode & go), None)
    if kind is None and mode & _GO_SOCKET:
        kind = stat.S_IFSOCK
    if kind is not None:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is {_KINDS[kind]}, not a regular file")
    if int(facts["size"]) > most_bytes:
        raise RunFault(
            Outcome.INVALID_OUTPUT, f"{path} has {int(facts['size']):,} bytes, more than the {most_bytes:,} allowed"
        )


def _first_entry(stream: Iterator[bytes], most_bytes: int) -> bytes:
    taken = bytearray()
    for piece in stream:
        taken += piece
        if len(taken) > most_bytes + _BLOCK:
            break
    return bytes(taken)


def _content(path: str, packed: bytes, most_bytes: int) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            entry = archive.next()
            if entry is None or not entry.isreg() or entry.issparse() or entry.size > most_bytes:
                raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is not a regular file")
            inside = archive.extractfile(entry)
            content = inside.read(most_bytes) if inside is not None else b""
    except tarfile.TarError:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} could not be taken out") from None
    if len(content) != entry.size:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} could not be taken out whole")
    return content
