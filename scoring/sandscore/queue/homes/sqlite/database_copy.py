"""A copy of the database elsewhere, to read from where its own disk is full or may not be written to.

SQLite needs room beside a database even to read it; readers go on all the same. What others write meanwhile, where they
can, is seen when the copy is next looked at.
"""

import os
import shutil
import tempfile
from pathlib import Path

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.disk_space import full

_BESIDE = "-wal"
_TRIES = 5
_PLACES = (None, "/dev/shm", "/var/tmp")  # noqa: S108 (a folder of our own is made in it)

Marks = tuple[tuple[int, int, int] | None, ...]


def only_readable(path: Path) -> bool:
    """Whether nothing can be written beside it just now."""
    return not os.access(path.parent, os.W_OK) or full(path.parent)


class DatabaseCopy:
    """The database and what is written ahead of it, as they were at one moment; gone when it is closed."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._folder = _folder(source)
        self.path = self._folder / source.name
        self.marks = self._taken()

    @property
    def outdated(self) -> bool:
        return _marks(self._source) != self.marks

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _taken(self) -> Marks:
        for _ in range(_TRIES):
            before = _marks(self._source)
            try:
                for end in (_BESIDE, ""):
                    found, target = Path(f"{self._source}{end}"), Path(f"{self.path}{end}")
                    if found.exists():
                        shutil.copyfile(found, target)
                    else:
                        target.unlink(missing_ok=True)
            except OSError as fault:
                self.close()
                raise InfrastructureFault(f"{self._source} cannot be copied: {fault.strerror}") from None
            if _marks(self._source) == before:
                return before
        self.close()
        raise InfrastructureFault(f"{self._source} changes faster than it can be copied")


def _folder(source: Path) -> Path:
    """Beside nothing else, on a disk with room for it."""
    size = sum(mark[1] for mark in _marks(source) if mark is not None)
    for place in _PLACES:
        where = Path(place or tempfile.gettempdir())
        if where.is_dir() and os.access(where, os.W_OK) and shutil.disk_usage(where).free > 2 * size:
            return Path(tempfile.mkdtemp(prefix="sandscore-", dir=where))
    raise InfrastructureFault(f"the disk of {source} is full or read-only, and there is no room elsewhere to read it")


def _marks(source: Path) -> Marks:
    found: list[tuple[int, int, int] | None] = []
    for end in ("", _BESIDE):
        try:
            seen = Path(f"{source}{end}").stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((seen.st_ino, seen.st_size, seen.st_mtime_ns))
    return tuple(found)
