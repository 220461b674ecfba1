"""The backup of a queue: one archive of all it is made of, notes and gold among it, taken while workers go on.

First comes the queue itself as its home copies it, then the journal up to its last whole line, then the log while
nobody writes to it, then what lies beside them: whatever is newer than the copy is taken up again from the journal.
"""

import io
import os
import shutil
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import MsgspecError, Struct
from msgspec.json import decode, encode

from sandscore import __version__
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.base.whole_files import part_of, sync_folders, told, write_file
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_layout import (
    EDITED,
    LOGBOOK,
    OWNER_FILE,
    OWNER_FOLDER,
    PRIVATE,
    PUBLIC,
    ROOT,
    SETTINGS,
    make_links,
    owner_only,
)
from sandscore.queue.settings import QueueSettings, folder_names
from sandscore.queue.workspace import Workspace
from sandscore.records.record_reading import read_record

if TYPE_CHECKING:
    from sandscore.queue.homes.home_row import HomeRow

MARK = "sandscore-backup.json"
_DATA, _PRACTICE, _FILES = "data", "practice", "files"
_KINDS = (_DATA, _PRACTICE, _FILES)
_RESTORED = "restored"
"""The folder in the private half where the notes and gold of an archive go, and what else its challenge names."""
_RIGHTS = 0o777
_PASSING = (".scratch-", ".moving", ".publishing.lock", ".published")
_BLOCK = 1 << 20
_FORMAT = 1


class BackedUp(Struct, frozen=True):
    """What is in an archive, or came out of one."""

    files: int
    bytes: int


class _Mark(Struct, frozen=True):
    """The first entry: what made the archive, which folder of data each phase has, and where named files are."""

    format: int
    sandscore: str
    data: dict[str, str]
    practice: dict[str, str]
    files: dict[str, str] = {}


def back_up_queue(workspace: Workspace, row: "HomeRow", target: Path) -> BackedUp:
    """Write the archive; it is there whole or not at all."""
    if not row.backs_up:
        raise UsageFault(f"a queue of the home '{row.name}' cannot be backed up from here")
    with told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with part_of(target) as part, owner_only():
            with tarfile.open(part, mode="x", format=tarfile.PAX_FORMAT) as archive:
                packed = _Packing(archive)
                _pack(workspace, row, packed)
            with part.open("rb") as file:
                os.fsync(file.fileno())
    return BackedUp(packed.files, packed.bytes)


class _Packing:
    """Puts files into an archive with their modes; what vanishes meanwhile was never promised."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self.files = self.bytes = 0

    def content(self, name: str, content: bytes, mode: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(content), mode
        self._archive.addfile(entry, io.BytesIO(content))
        self.files, self.bytes = self.files + 1, self.bytes + len(content)

    def folder(self, name: str, mode: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self._archive.addfile(entry)

    def file(self, name: str, path: Path) -> None:
        """As long as it is now: what is added to it meanwhile is left."""
        with path.open("rb") as file:
            seen = os.fstat(file.fileno())
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = seen.st_size, stat.S_IMODE(seen.st_mode)
            self._archive.addfile(entry, file)
            self.files, self.bytes = self.files + 1, self.bytes + seen.st_size

    def tree(self, name: str, root: Path, left_out: tuple[str, ...] = ()) -> None:
        """Links among it are left: the queue makes its own."""
        self.folder(name, stat.S_IMODE(root.stat().st_mode))
        for path in sorted(root.iterdir()):
            if path.name in left_out or path.name.startswith(_PASSING) or path.name.endswith(".part"):
                continue
            try:
                if path.is_dir() and not path.is_symlink():
                    self.tree(f"{name}/{path.name}", path)
                elif path.is_file() and not path.is_symlink():
                    self.file(f"{name}/{path.name}", path)
            except FileNotFoundError:
                continue


def _pack(workspace: Workspace, row: "HomeRow", packed: _Packing) -> None:
    folders = {_DATA: workspace.settings.data, _PRACTICE: workspace.settings.practice}
    kept = {key: {phase: f"{key}/{at}" for at, phase in enumerate(found)} for key, found in folders.items()}
    named = {name: Path(place) for name, place in workspace.settings.files.items()}
    there = {f"{_FILES}/{at}": name for at, name in enumerate(named)}
    inside = {name: f"{place}/{named[name].name}" for place, name in there.items()}
    mark = _Mark(_FORMAT, __version__, kept[_DATA], kept[_PRACTICE], inside)
    packed.content(MARK, encode(mark), OWNER_FILE)
    packed.folder(PRIVATE, OWNER_FOLDER)
    with tempfile.TemporaryDirectory(prefix="sandscore-") as scratch:
        copy = Path(scratch) / "queue"
        row.back_up(workspace, copy)
        packed.file(f"{PRIVATE}/{row.backs_up}", copy)
    for name in row.own_files:
        if name != row.backs_up and (workspace.private / name).is_file():
            path = workspace.private / name
            content = path.read_bytes()
            mode = stat.S_IMODE(path.stat().st_mode)
            packed.content(f"{PRIVATE}/{name}", content[: content.rfind(b"\n") + 1], mode)
    with PublicLog(workspace).resting():
        packed.tree(f"{PRIVATE}/{LOGBOOK}", workspace.private / LOGBOOK)
        packed.tree(PUBLIC, workspace.root / PUBLIC)
    beside = (*row.own_files, *(f"{name}{end}" for name in row.own_files for end in ("-wal", "-shm")), LOGBOOK)
    packed.tree(PRIVATE, workspace.private, left_out=beside)
    for key, found in folders.items():
        for phase, folder in found.items():
            packed.tree(kept[key][phase], Path(folder))
    for place, name in there.items():
        packed.folder(place, OWNER_FOLDER)
        if named[name].is_dir():
            packed.tree(inside[name], named[name])
        elif named[name].is_file():
            packed.file(inside[name], named[name])


def restore_queue(source: Path, root: Path) -> BackedUp:
    """Make the folder of the queue that an archive holds; where its notes and gold lay is a folder of its own now."""
    if root.exists() and any(root.iterdir()):
        raise UsageFault(f"{root} is not empty; a queue is restored into a folder of its own")
    there = root.exists()
    with told(root):
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(OWNER_FOLDER)
    try:
        return _restored(source, root)
    except BaseException:
        for path in root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if not there:
            root.rmdir()
        raise


def _restored(source: Path, root: Path) -> BackedUp:
    try:
        with tarfile.open(source, mode="r:") as archive:
            mark = _mark(archive, source)
            count = _unpack(archive, root, source)
    except (tarfile.TarError, EOFError) as fault:
        raise OrganiserFault(f"{source} is not a whole backup of a queue: {fault}") from None
    _settle(root, mark, source)
    return count


def _mark(archive: tarfile.TarFile, source: Path) -> _Mark:
    first = archive.next()
    content = archive.extractfile(first) if first is not None and first.name == MARK and first.isreg() else None
    if content is None:
        raise OrganiserFault(f"{source} is not a backup of a queue")
    try:
        mark = decode(content.read(_BLOCK), type=_Mark)
    except MsgspecError:
        raise OrganiserFault(f"{source} is not a backup of a queue") from None
    if mark.format != _FORMAT:
        raise OrganiserFault(f"{source} has format {mark.format}; this version of sandscore reads format {_FORMAT}")
    return mark


def _unpack(archive: tarfile.TarFile, root: Path, source: Path) -> BackedUp:
    files = size = 0
    modes: list[tuple[Path, int]] = []
    with told(root):
        for entry in archive:
            if entry.name == MARK:
                continue
            target = _inside(root, entry, source)
            if entry.isdir():
                target.mkdir(exist_ok=True)
                modes.append((target, entry.mode & _RIGHTS))
                continue
            write_file(target, _pieces(archive, entry), sync=True, mode=OWNER_FILE)
            target.chmod(entry.mode & _RIGHTS)
            files, size = files + 1, size + entry.size
        for folder, mode in reversed(modes):
            folder.chmod(mode)
    return BackedUp(files, size)


def _pieces(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Iterator[bytes]:
    content = archive.extractfile(entry)
    while content is not None and (piece := content.read(_BLOCK)):
        yield piece


def _inside(root: Path, entry: tarfile.TarInfo, source: Path) -> Path:
    """Where an entry goes: under the folder, a plain file or folder, nothing else."""
    parts = PurePosixPath(entry.name).parts
    plain = parts and not entry.name.startswith("/") and ".." not in parts and (entry.isreg() or entry.isdir())
    if not plain or parts[0] not in (PRIVATE, PUBLIC, *_KINDS):
        raise OrganiserFault(f"{source} holds what no queue has: {entry.name!r}")
    own = root.joinpath(PRIVATE, _RESTORED, *parts) if parts[0] in _KINDS else root.joinpath(*parts)
    own.parent.mkdir(parents=True, exist_ok=True)
    return own


def _settle(root: Path, mark: _Mark, source: Path) -> None:
    """Settings that name the folders where notes and gold are now, and the links of a queue's folder."""
    place = root / PRIVATE / SETTINGS
    settings = read_record(QueueSettings, place.read_bytes(), place, "the settings of a queue", OrganiserFault)
    where = (root / PRIVATE / _RESTORED).resolve()
    folders = {_DATA: mark.data, _PRACTICE: mark.practice, _FILES: mark.files}
    moved = {name: {phase: str(where / kept) for phase, kept in found.items()} for name, found in folders.items()}
    with told(root):
        names = settings.names or folder_names(settings.data)
        fresh = settings.model_copy(update={**moved, "names": names})
        write_file(place, fresh.model_dump_json(indent=2).encode() + b"\n", sync=True, mode=OWNER_FILE)
        make_links(root, EDITED)
        root.chmod(ROOT)
        sync_folders([root / PRIVATE, root])
