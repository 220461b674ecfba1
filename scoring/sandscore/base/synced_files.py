"""Files of attempts, brought to disk together: many cost hardly more waiting than one.

They count for nothing until their attempt is committed, so they may stand in their places before they are on disk.
"""

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO


class Drafts:
    """Files are whole when they are written, and on disk when ``settle`` ends."""

    def __init__(self) -> None:
        self._files: list[tuple[BinaryIO, Path]] = []

    def write(self, path: Path, content: bytes) -> None:
        """Raises OSError where there is no room; what was written of it is removed."""
        try:
            place = path
            file = path.open("xb")
        except FileExistsError:  # somebody else is at it, or died over it: whoever is done replaces it
            place = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(3)}.part")
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


def sync_folders(folders: Iterable[Path]) -> None:
    """What was made in these folders is there after a power cut too."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
