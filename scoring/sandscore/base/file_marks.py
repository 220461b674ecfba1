"""The marks of a file that is as it was: device, number, size, when it was written, when it was changed."""

import os
import time
from pathlib import Path

_SETTLED_SECONDS = 1.0
_CHANGED = -1
Marks = tuple[tuple[int, ...], ...]


def marks_of(*paths: Path) -> Marks:
    """What changes when a file does. Opened, not only looked up: a network's file system asks its server then."""
    found = []
    for path in paths:
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
        found.append((seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))
    return tuple(found)


def settled(marks: Marks) -> bool:
    """Files changed a moment ago may change again without their marks showing it: they are read anew next time."""
    return max(mark[_CHANGED] for mark in marks) < time.time_ns() - _SETTLED_SECONDS * 1e9
