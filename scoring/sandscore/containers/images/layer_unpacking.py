"""Layers put one upon the other in a folder of ours: files, folders and links, and nothing that has rights.

Links are read as they will be in the end, with the folder as their root, so nothing is written elsewhere; the folder is
nobody else's meanwhile. Rights to change a user or group, devices and extended attributes stay behind.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress

from sandscore.containers.images.image_parts import ImageParts, LayerExamination
from sandscore.containers.images.layer_entries import (
    DEVICE,
    FILE,
    FOLDER,
    HARD_LINK,
    SYMBOLIC_LINK,
    LayerEntry,
    path_mark,
    refused,
)

_WHITEOUT, _OPAQUE = b".wh.", b".wh..wh..opq"
_MOST_LINKS = 40
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
Path = tuple[bytes, ...]


def unpack_layers(parts: ImageParts, root: bytes, most_bytes: int) -> int:
    """All layers of an image into an empty folder; how many bytes there were."""
    examination = LayerExamination(parts, most_bytes)
    for layer in parts.layers:
        unpacking = LayerUnpacking(root)
        for _ in examination.passed(layer, unpacking):
            """What is taken is taken on the way."""
        unpacking.finish()
    return examination.unpacked


class LayerUnpacking:
    """One layer; what lies beneath it is covered, or goes where it says so."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._own = os.geteuid() == 0
        self._brought: set[bytes] = {path_mark(())}
        """Everything this layer has named, and the folders above it."""
        self._file: int | None = None
        self._entry: LayerEntry | None = None
        self._at = b""
        self._folders: list[tuple[bytes, int]] = []

    def begin(self, entry: LayerEntry, _offset: int) -> None:
        if not entry.path:
            return
        try:
            self._begin(entry)
        except OSError as fault:
            if fault.errno in _NO_ROOM:
                raise
            raise refused("cannot be unpacked", entry.path) from None

    def content(self, piece: memoryview) -> None:
        while self._file is not None and piece:
            piece = piece[os.write(self._file, piece) :]

    def end(self) -> None:
        if self._file is None or self._entry is None:
            return
        descriptor, self._file = self._file, None
        os.close(descriptor)
        os.utime(self._at, (self._entry.changed, self._entry.changed))

    def finish(self) -> None:
        """Folders were changed by what came into them."""
        for place, changed in reversed(self._folders):
            with suppress(FileNotFoundError, NotADirectoryError):
                os.utime(place, (changed, changed), follow_symlinks=False)

    def _begin(self, entry: LayerEntry) -> None:
        above, name = self._resolved(entry.path[:-1]), entry.path[-1]
        if name.startswith(_WHITEOUT):
            self._remove(above, name)
            return
        if entry.kind is DEVICE:
            return
        self._make_folders(above)
        path = (*above, name)
        self._bring(path)
        place = self._place(path)
        if entry.kind is FOLDER:
            self._folder(place, entry)
            return
        source = self._linked(entry) if entry.kind is HARD_LINK else b""
        if source == place:
            raise refused("has a link to itself", entry.path)
        _clear(place)
        if entry.kind is SYMBOLIC_LINK:
            os.symlink(entry.target, place)
            self._give(place, entry)
        elif entry.kind is HARD_LINK:
            os.link(source, place, follow_symlinks=False)
        elif entry.kind is FILE:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file, self._entry, self._at = os.open(place, flags, 0o600), entry, place
            self._give(place, entry)
            os.fchmod(self._file, entry.mode if self._own else entry.mode | 0o400)

    def _folder(self, place: bytes, entry: LayerEntry) -> None:
        if not stat.S_ISDIR(_mode(place)):
            _clear(place)
            os.mkdir(place)
        self._give(place, entry)
        os.chmod(place, entry.mode if self._own else entry.mode | 0o700)
        self._folders.append((place, entry.changed))

    def _linked(self, entry: LayerEntry) -> bytes:
        target = tuple(entry.target.split(b"/"))
        source = self._place((*self._resolved(target[:-1]), target[-1]))
        if not (stat.S_ISREG(_mode(source)) or stat.S_ISLNK(_mode(source))):
            raise refused("has a link to a file that it does not have", entry.path)
        return source

    def _give(self, place: bytes, entry: LayerEntry) -> None:
        if self._own:
            os.lchown(place, entry.user, entry.group)

    def _remove(self, folder: Path, name: bytes) -> None:
        """What the layers beneath have there goes; what this layer brings stays, before and after."""
        if name == _OPAQUE:
            self._strip(folder)
            return
        path = (*folder, name[len(_WHITEOUT) :])
        if path[-1] in (b"", b".", b"..") or path[-1].startswith(_WHITEOUT):
            raise refused("takes away what has no name", path)
        if path_mark(path) in self._brought:
            self._strip(path)
        elif stat.S_ISDIR(_mode(self._place(folder))):
            _clear(self._place(path))

    def _strip(self, folder: Path) -> None:
        place = self._place(folder)
        if not stat.S_ISDIR(_mode(place)):
            return
        for name in os.listdir(place):
            if path_mark((*folder, name)) in self._brought:
                self._strip((*folder, name))
            else:
                _clear(self._place((*folder, name)))

    def _make_folders(self, path: Path) -> None:
        for depth in range(1, len(path) + 1):
            place = self._place(path[:depth])
            mode = _mode(place)
            if not mode:
                os.mkdir(place, 0o755)
            elif not stat.S_ISDIR(mode) and path_mark(path[:depth]) in self._brought:
                raise refused("has a file in the place of a folder", path[:depth])
            elif not stat.S_ISDIR(mode):
                os.unlink(place)
                os.mkdir(place, 0o755)

    def _bring(self, path: Path) -> None:
        for depth in range(len(path), 0, -1):
            mark = path_mark(path[:depth])
            if mark in self._brought:
                return
            self._brought.add(mark)

    def _resolved(self, path: Path) -> Path:
        """The folder a path leads to, links read with our folder as their root."""
        return resolved(self._root, path)

    def _place(self, path: Path) -> bytes:
        return b"/".join((self._root, *path))


def resolved(root: bytes, path: Path) -> Path:
    """Where a path leads in a tree whose root is a folder of ours; what is not there is read as it stands."""
    found: list[bytes] = []
    left, links = list(reversed(path)), 0
    while left:
        part = left.pop()
        if part == b"..":
            del found[-1:]
            continue
        try:
            target = os.readlink(b"/".join((root, *found, part)))
        except OSError:
            found.append(part)
            continue
        links += 1
        if links > _MOST_LINKS:
            raise refused("has links that lead in circles", path)
        if target.startswith(b"/"):
            found.clear()
        left += _backwards(target)
    return tuple(found)


def _backwards(target: bytes) -> Iterator[bytes]:
    return (part for part in reversed(target.split(b"/")) if part not in (b"", b"."))


def _mode(place: bytes) -> int:
    """Zero where nothing is."""
    try:
        return os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0


def _clear(place: bytes) -> None:
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        shutil.rmtree(place)
    elif mode:
        os.unlink(place)
