"""Room on the disk: where there is none nothing is claimed, because nothing of it could be kept."""

import os
from pathlib import Path

from sandscore.base.errors import InfrastructureFault

_FULL, _FEWEST_FILES = 1 << 16, 8
"""Bytes with which SQLite can do nothing any more, and files a claim makes."""


def want_room(folder: Path, spare: int) -> None:
    """Raises where fewer than ``spare`` bytes are free, or no files can be made."""
    free, files = _left(folder)
    if free < spare or files < _FEWEST_FILES:
        told = f"{free:,} bytes are free" if free < spare else "no more files can be made"
        raise InfrastructureFault(f"the disk of {folder} is full: {told}; nothing is begun with less than {spare:,}")


def full(folder: Path) -> bool:
    """Whether a write that failed there failed for want of room."""
    free, files = _left(folder)
    return free < _FULL or files < _FEWEST_FILES


def _left(folder: Path) -> tuple[int, int]:
    """Bytes and files; some file systems do not count files."""
    try:
        found = os.statvfs(folder)
    except OSError as fault:
        raise InfrastructureFault(f"{folder} cannot be read: {fault.strerror}") from None
    return found.f_bavail * found.f_frsize, found.f_favail if found.f_files else _FEWEST_FILES
