"""The writer of files: each is whole under its name or not there, whoever dies meanwhile.

Content is written beside its place under a hidden name that ends in ``.part``, and moved in when all of it is there. A
link is replaced, not followed; what can only be written through (``/dev/stdout``, a named pipe) is written through.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sandscore.base.errors import InfrastructureFault, SandscoreError, UsageFault

Content = bytes | memoryview | Iterable[bytes | memoryview]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_STREAMS = {"stdout": 1, "stderr": 2}
_HELD_OPEN = r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,9})"
_LONGEST = 48
"""Characters of a name that its hidden name repeats: both must fit where names have 255 bytes."""


def write_file(path: Path, content: Content, *, sync: bool = False, mode: int = 0o666, replace: bool = True) -> None:
    """One file, in one piece or as pieces come. ``sync``: it is there after a power cut too.

    Raises OSError; FileExistsError where something stands there that was not to be replaced.
    """
    if replace and (through := _through(path)) is not None:
        with through:
            _fill(through, content)
        return
    with part_of(path, replace=replace) as part, _new(part, mode) as file:
        _fill(file, content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    if sync:
        sync_folders([path.parent])


def write_synced(path: Path, content: Content) -> None:
    """One file that must outlive a power cut; its folder is made. Faults are sentences."""
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content, sync=True)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files of one moment: none is moved in, in the order given, before all are written; folders are made."""
    parts: dict[Path, Path] = {}
    try:
        for name, content in files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            parts[target] = _part(target)
            with parts[target].open("xb") as file:
                file.write(content)
        for target, part in parts.items():
            part.replace(target)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def room_beside(path: Path) -> Path:
    """A folder of our own beside the path, made with the folder that both stand in."""
    from tempfile import mkdtemp

    path.parent.mkdir(parents=True, exist_ok=True)
    return Path(mkdtemp(prefix=".sandscore-", dir=path.parent))


def replace_folder(folder: Path, files: Mapping[str, bytes], beside: Path) -> None:
    """A folder that holds these files and nothing else, made in ``beside`` and put in place of the one there."""
    from shutil import rmtree

    try:
        fresh = beside / "new"
        fresh.mkdir()
        for name, content in files.items():
            with (fresh / name).open("xb") as file:
                file.write(content)
        _swap(fresh, folder, beside / "old")
    finally:
        rmtree(beside, ignore_errors=True)


@contextmanager
def part_of(path: Path, *, replace: bool = True) -> Iterator[Path]:
    """The hidden name under which somebody else writes the file; moved in at the end, removed after a fault."""
    part = _part(path)
    try:
        yield part
        if replace:
            part.replace(path)
        else:
            _move_beside(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def remove_parts(path: Path) -> None:
    """What writers of this file left who were killed."""
    for part in path.parent.glob(f".{path.name[:_LONGEST]}.*.part"):
        part.unlink(missing_ok=True)


def sync_folders(folders: Iterable[Path]) -> None:
    """What was made in these folders is there after a power cut too."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def told(
    where: str | Path,
    sentence: str = "{where} cannot be written: {why}",
    *,
    fault: type[SandscoreError] = InfrastructureFault,
    in_the_way: str | None = None,
) -> Iterator[None]:
    """A file system's refusal as a sentence: no room is always a failure around us, all else is a ``fault``.

    ``in_the_way`` is said where a file stands in a folder's place, or the other way round.
    """
    try:
        yield
    except OSError as refused:
        if in_the_way is not None and isinstance(refused, FileExistsError | NotADirectoryError | IsADirectoryError):
            raise UsageFault(in_the_way) from None
        kind = InfrastructureFault if refused.errno in _NO_ROOM else fault
        raise kind(sentence.format(where=where, why=refused.strerror)) from None


class Drafts:
    """Files of attempts, brought to disk together: many cost hardly more waiting than one.

    They count for nothing until their attempt is committed, so they may stand in their places before they are on
    disk: they are whole when they are written, and on disk when ``settle`` ends.
    """

    def __init__(self) -> None:
        self._files: list[tuple[BinaryIO, Path]] = []

    def write(self, path: Path, content: bytes) -> None:
        """Raises OSError where there is no room; what was written of it is removed."""
        try:
            place = path
            file = path.open("xb")
        except FileExistsError:  # somebody else is at it, or died over it: whoever is done replaces it
            place = _part(path)
            file = place.open("xb")
        try:
            file.write(content)
            file.flush()
            if place != path:
                place.replace(path)
        except OSError:
            with suppress(OSError):
                file.close()
            place.unlink(missing_ok=True)
            raise
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # begin: the first wait is then the last
        self._files.append((file, path.parent))

    def settle(self, levels: int) -> dict[Path, OSError]:
        """Files, their folders, and those above (so many ``levels`` in all). Folders that could not be brought to
        disk, and why."""
        files, self._files = self._files, []
        faults: dict[Path, OSError] = {}
        synced: set[Path] = set()
        for file, folder in files:
            try:
                with file:
                    os.fsync(file.fileno())
            except OSError as fault:
                faults[folder] = fault
        for folder in dict.fromkeys(folder for _, folder in files):
            new = {folder, *folder.parents[: levels - 1]} - synced
            try:
                sync_folders(new)
            except OSError as fault:
                faults[folder] = fault
            else:
                synced |= new
        return faults


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name[:_LONGEST]}.{os.getpid()}.{os.urandom(3).hex()}.part")


def _new(path: Path, mode: int) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb")


def _move_beside(part: Path, path: Path) -> None:
    """Under its name as well, if nothing has it; where there are no links, moved there."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        part.replace(path)
    else:
        part.unlink()


def _fill(file: BinaryIO, content: Content) -> None:
    if isinstance(content, bytes | memoryview):
        file.write(content)
    else:
        file.writelines(content)


def _through(path: Path) -> BinaryIO | None:
    """A device, pipe or socket, opened; for the name of a file that this process holds open, that file."""
    if held := re.fullmatch(_HELD_OPEN, str(path)):
        return os.fdopen(os.dup(_STREAMS.get(held[1]) or int(held[2])), "wb")
    try:
        kind = path.stat().st_mode
    except OSError:
        return None
    return None if stat.S_ISREG(kind) or stat.S_ISDIR(kind) else path.open("wb")


def _swap(fresh: Path, folder: Path, aside: Path) -> None:
    if not folder.exists():
        fresh.rename(folder)
        return
    folder.rename(aside)
    try:
        fresh.rename(folder)
    except BaseException:
        aside.rename(folder)
        raise
