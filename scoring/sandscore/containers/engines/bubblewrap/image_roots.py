"""Unpacked images in a folder of ours: each once, by the digest of its description, whole under its name or not there.

A name is a small file that says which image it means. What a killed process was unpacking bears that process's name,
and is removed by the next; images go with the last of their names.
"""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from posixpath import normpath
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct, field

from sandscore.base.process_identity import gone, own_name
from sandscore.base.whole_files import told, write_file
from sandscore.containers.engines.engine_protocol import INPUT, OUTPUT, abandoned
from sandscore.containers.images.image_archive import ArchivedImage, image_archive
from sandscore.containers.images.image_parts import ImageDescription, StartConfig
from sandscore.containers.images.layer_entries import path_mark, refused
from sandscore.containers.images.layer_unpacking import resolved, unpack_layers
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

_VARIABLE = "SANDSCORE_IMAGES"
_NEW, _FACTS, _ROOT, _NAMES = ".new-", "image.json", "root", "names"
_SCRATCH = "/tmp"  # noqa: S108 (the container's own)
_KERNEL = ("/dev", "/proc", "/sys")
_FILES = {
    "hosts": "127.0.0.1\tlocalhost sandbox\n::1\tlocalhost\n",
    "hostname": "sandbox\n",
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
}
"""What an engine puts into every container, so that nothing asks the host's own resolver."""


class UnpackedImage(Struct, frozen=True):
    """An image as it lies there; ``places``: where each VOLUME is, its links followed inside the image."""

    id: str
    size_bytes: int
    places: dict[str, str]
    config: StartConfig = field(default_factory=StartConfig)


class _Name(Struct, frozen=True):
    name: str
    id: str
    marks: dict[str, str] = field(default_factory=dict)


def usual_folder() -> Path:
    """Where the environment says, else in the account's cache."""
    if named := os.environ.get(_VARIABLE):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sandscore" / "images"


class ImageRoots:
    """The images of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with told(folder):
            (folder / _NAMES).mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.chmod(0o700)

    def id_of(self, name: str) -> str | None:
        """Of an image that is here, by a name or by its own id."""
        if name.startswith("sha256:"):
            return name if self._place(name).is_dir() else None
        found = self._named(self._name_file(name))
        return found.id if found is not None and self._place(found.id).is_dir() else None

    def find(self, reference: str, limits: RunLimits) -> ImageFacts:
        identity = self.id_of(reference)
        if identity is None:
            raise RunFault(
                Outcome.IMAGE_MISSING,
                f"there is no image '{reference}' here, and none is fetched: hand it over as a file with --oci",
            )
        found = self.opened(identity)
        if found.size_bytes > limits.image_bytes:
            raise RunFault(
                Outcome.IMAGE_MISSING,
                f"the image has {found.size_bytes:,} bytes, more than the {limits.image_bytes:,} allowed",
            )
        return ImageFacts(
            reference=reference, id=identity, size_bytes=found.size_bytes, volumes=tuple(sorted(found.places))
        )

    def opened(self, identity: str) -> UnpackedImage:
        try:
            return msgspec.json.decode((self._place(identity) / _FACTS).read_bytes(), type=UnpackedImage)
        except (OSError, msgspec.MsgspecError):
            raise RunFault(Outcome.INFRASTRUCTURE, f"the unpacked image {identity} cannot be read") from None

    def root(self, identity: str) -> Path:
        return self._place(identity) / _ROOT

    def load(self, archive: Iterator[bytes]) -> None:
        """An archive as ``docker save`` writes it, under the one name that it gives."""
        with told("the archive of an image"), tempfile.NamedTemporaryFile(dir=self._folder, prefix=self._new()) as file:
            for piece in archive:
                file.write(piece)
            file.flush()
            with image_archive(Path(file.name), 1 << 62) as image:
                if self.id_of(image.id) is None:
                    self._unpack(image)
                for name in image.names:
                    self.name(name, image.id, {})

    @contextmanager
    def making(self) -> "Iterator[Path]":
        """A folder for an image that is not done yet, removed unless it was kept."""
        place = self._folder / self._new()
        with told(place):
            (place / _ROOT).mkdir(parents=True, mode=0o755)
            try:
                yield place
            finally:
                if place.exists():
                    remove_tree(place)

    def keep(self, place: Path, image: UnpackedImage) -> None:
        """What was made is an image from now on; where somebody was faster, theirs stays."""
        write_file(place / _FACTS, msgspec.json.encode(image), sync=True)
        with suppress(OSError):
            place.rename(self._place(image.id))

    def _unpack(self, image: ArchivedImage) -> None:
        with self.making() as place:
            root = place / _ROOT
            size = unpack_layers(image, os.fsencode(root), 1 << 62)
            said = msgspec.json.decode(image.description, type=ImageDescription)
            self.keep(place, prepared(root, image.id, size, said.config or StartConfig()))

    def name(self, name: str, identity: str, marks: Mapping[str, str]) -> None:
        with told(self._folder):
            content = msgspec.json.encode(_Name(name, identity, dict(marks)))
            write_file(self._name_file(name), content, mode=0o600)

    def remove(self, name: str) -> None:
        """The name, and the image with the last of its names; raises nothing."""
        identity = self.id_of(name)
        for found in self._all_names():
            if name in (found.name, found.id):
                with suppress(OSError):
                    self._name_file(found.name).unlink()
        if identity is not None and identity not in {found.id for found in self._all_names()}:
            aside = self._folder / self._new()
            with suppress(OSError):
                self._place(identity).rename(aside)
                remove_tree(aside)

    def remove_abandoned(self) -> int:
        """What processes that are no more were unpacking; how many folders and files that were."""
        left = [found for found in self._folder.glob(f"{_NEW}*") if gone(unquote(found.name.split("~")[1]))]
        for found in left:
            if found.is_dir():
                remove_tree(found)
            else:
                found.unlink(missing_ok=True)
        return len(left)

    def remove_abandoned_images(self) -> None:
        for found in self._all_names():
            if found.marks and abandoned(found.marks):
                self.remove(found.name)

    def _all_names(self) -> list[_Name]:
        found = map(self._named, sorted((self._folder / _NAMES).glob("*.json")))
        return [name for name in found if name is not None]

    def _named(self, file: Path) -> _Name | None:
        try:
            return msgspec.json.decode(file.read_bytes(), type=_Name)
        except (OSError, msgspec.MsgspecError):
            return None

    def _name_file(self, name: str) -> Path:
        return self._folder / _NAMES / f"{path_mark((name.encode(),)).hex()}.json"

    def _place(self, identity: str) -> Path:
        return self._folder / quote(identity, safe="")

    def _new(self) -> str:
        return f"{_NEW}~{quote(own_name(), safe='')}~{secrets.token_hex(4)}"


def prepared(root: Path, identity: str, size: int, config: StartConfig) -> UnpackedImage:
    """An unpacked root, made ready to be mounted read-only: what is mounted on it is there, as a folder of its own."""
    places = {volume: _folder(root, volume) for volume in sorted(map(_plain, config.volumes or {}))}
    for place in (*_KERNEL, _SCRATCH, INPUT, OUTPUT):
        if _folder(root, place) != place:
            raise refused("has a link in the place of a folder that every container has", (place[1:].encode(),))
    if config.folder:
        _folder(root, config.folder)
    settings = root / _folder(root, "/etc")[1:]
    for name, content in _FILES.items():
        with suppress(OSError):
            file = settings / name
            file.unlink(missing_ok=True)
            file.write_text(content, encoding="ascii")
            file.chmod(0o644)
    return UnpackedImage(identity, size, places, config)


def _plain(volume: str) -> str:
    plain = normpath("/" + volume).replace("//", "/")
    if plain == "/" or any(f"{plain}/".startswith(f"{kernel}/") for kernel in _KERNEL):
        raise RunFault(Outcome.CRASHED, f"the image declares a VOLUME '{volume}' that is no plain path")
    return plain


def _folder(root: Path, place: str) -> str:
    """A folder of the image, made where it is not there; where it is once links are followed."""
    parts = tuple(part for part in os.fsencode(place).split(b"/") if part not in (b"", b"."))
    found = resolved(os.fsencode(root), parts)
    for depth in range(1, len(found) + 1):
        inside = Path(os.fsdecode(b"/".join((os.fsencode(root), *found[:depth]))))
        if not inside.is_symlink() and inside.is_dir():
            continue
        if inside.exists() or inside.is_symlink():
            raise refused("has a file in the place of a folder", found)
        inside.mkdir(mode=0o755)
        inside.chmod(0o755)
    return "/" + os.fsdecode(b"/".join(found))


def remove_tree(folder: Path) -> None:
    """Also what its owner may not write to."""

    def opened(_function: object, path: str, _fault: object) -> None:
        parent = os.path.dirname(path)  # noqa: PTH120 (a place inside)
        for place in (parent, path):
            with suppress(OSError):
                if stat.S_ISDIR(os.lstat(place).st_mode):
                    os.chmod(place, 0o700)  # noqa: PTH101
        with suppress(OSError):
            if stat.S_ISDIR(os.lstat(path).st_mode):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)  # noqa: PTH108

    shutil.rmtree(folder, onerror=opened)
