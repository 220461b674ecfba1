"""An archive of one image, as ``docker save``, ``podman save`` and tools of the Open Container Initiative write it.

The archive is gone through once, to learn where its files begin; what it says of them is read by digest, or by the
names that ``manifest.json`` gives, and each layer is compared with what the image's description says of it. One that is
packed as a whole is unpacked first, into a file without a name.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct, field

from sandscore.base.errors import MissingFile
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import told
from sandscore.containers.images.image_parts import (
    MOST_DOCUMENT_BYTES,
    BlobName,
    ImageManifest,
    ImagePlatform,
    LayerPart,
    Unpacker,
    described,
    digest_of,
    here,
    not_for_us,
    read_document,
    require_moderate,
    require_no_bomb,
    require_ours,
    saved,
)
from sandscore.containers.images.layer_entries import (
    FILE,
    HARD_LINK,
    SYMBOLIC_LINK,
    EntryReader,
    EntryTally,
    LayerEntry,
)
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from sandscore.containers.registries.image_pull import TakesImages

_BLOCK, _PIECE = 512, 1 << 20
_MOST_FILES = 10_000
_MOST_LINKS = 2
_INDEX, _LAYOUT, _SAVED = "index.json", "oci-layout", "manifest.json"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_MANIFEST_LISTS = "image.index", "manifest.list"


class _IndexEntry(BlobName, frozen=True):
    media: str = field(name="mediaType", default="")
    platform: ImagePlatform | None = None

    @property
    def is_list(self) -> bool:
        return any(words in self.media for words in _MANIFEST_LISTS)


class _Index(Struct, frozen=True):
    manifests: tuple[_IndexEntry, ...]


class _Saved(Struct, frozen=True):
    """One image of ``docker save``."""

    config: str = field(name="Config")
    layers: tuple[str, ...] = field(name="Layers")
    names: tuple[str, ...] | None = field(name="RepoTags", default=None)


class _Places:
    """Where the files of an archive begin, and how long they are."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[int, int]] = {}
        self.links: dict[str, str] = {}

    def begin(self, entry: LayerEntry, offset: int) -> None:
        name = b"/".join(entry.path).decode(errors="replace")
        if entry.kind is FILE:
            self.files[name] = (offset, entry.size)
        elif entry.kind in (SYMBOLIC_LINK, HARD_LINK):
            beside = os.path.dirname(name) if entry.kind is SYMBOLIC_LINK else ""  # noqa: PTH120 (a name in an archive)
            self.links[name] = os.path.normpath(os.path.join(beside, entry.target.decode(errors="replace")))  # noqa: PTH118

    def content(self, piece: memoryview) -> None: ...

    def end(self) -> None: ...

    def find(self, name: str) -> tuple[int, int]:
        for _ in range(_MOST_LINKS):
            name = self.links.get(name, name)
        if name not in self.files:
            raise _lacking(name)
        return self.files[name]


class ArchivedImage:
    """The image of an open archive."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        self._file, self._most = file, most_bytes
        self._places = _places(file)
        self.digest: str | None = None
        """Of the manifest, where the archive has one by its digest."""
        self.names: tuple[str, ...] = ()
        if _INDEX in self._places.files and _LAYOUT in self._places.files:
            self._read_layout()
        elif _SAVED in self._places.files:
            self._read_saved()
        else:
            raise _refused(f"it has neither {_SAVED} nor {_INDEX}")
        self.id = digest_of(self.description)

    description: bytes
    layers: tuple[LayerPart, ...]

    @contextmanager
    def opened(self, layer: LayerPart) -> Iterator[Iterator[bytes]]:
        yield self._pieces(*self._places.find(layer.name))

    def otherwise(self) -> RunFault:
        return _refused("a file of it is not what its name says")

    def _pieces(self, offset: int, size: int) -> Iterator[bytes]:
        self._file.seek(offset)
        while size and (piece := self._file.read(min(size, _PIECE))):
            size -= len(piece)
            yield piece

    def _document(self, name: str) -> bytes:
        offset, size = self._places.find(name)
        if size > MOST_DOCUMENT_BYTES:
            raise _refused(f"its {one_line(name)} is too long")
        return b"".join(self._pieces(offset, size))

    def _blob(self, blob: BlobName) -> bytes:
        _require_here(blob)
        content = self._document(_blob_name(blob.digest))
        if len(content) != blob.size or digest_of(content) != blob.digest:
            raise self.otherwise()
        return content

    def _read_layout(self) -> None:
        index = read_document(self._document(_INDEX), _Index, _refused(f"its {_INDEX} is none"))
        chosen = _chosen(index)
        content = self._blob(chosen)
        if chosen.is_list:
            chosen = _chosen(read_document(content, _Index, _refused("its list of images is none")))
            if chosen.is_list:
                raise _refused("it has a list of images in a list of images")
            content = self._blob(chosen)
        manifest = read_document(content, ImageManifest, _refused("its manifest is none"))
        if manifest.config is None or manifest.manifests is not None:
            raise _refused("its manifest is none")
        for layer in manifest.layers:
            _require_here(layer)
        require_moderate(sum(layer.size for layer in manifest.layers), self._most)
        self.digest, self.description = chosen.digest, self._blob(manifest.config)
        said = self._said(len(manifest.layers))
        self.layers = tuple(
            LayerPart(_blob_name(layer.digest), layer.size, unpacked, layer.digest)
            for layer, unpacked in zip(manifest.layers, said, strict=True)
        )

    def _read_saved(self) -> None:
        listed = read_document(self._document(_SAVED), list[_Saved], _refused(f"its {_SAVED} is none"))
        if len(listed) != 1:
            raise _refused(f"it holds {len(listed)} images; save one alone")
        [image] = listed
        self.names = image.names or ()
        self.description = self._document(image.config)
        named = image.config.rpartition("/")[2].removesuffix(".json")
        if len(named) == 64 and digest_of(self.description) != f"sha256:{named}":
            raise self.otherwise()
        said = self._said(len(image.layers))
        self.layers = tuple(
            LayerPart(name, self._places.find(name)[1], unpacked)
            for name, unpacked in zip(image.layers, said, strict=True)
        )

    def _said(self, layers: int) -> tuple[str, ...]:
        said = described(self.description, layers)
        require_ours(said)
        return said.rootfs.diff_ids


PREFIX = "oci-archive:"
"""Before the path of an archive that stands where an image's name would."""
_KEPT = "sandscore-archive"


def find_archived(engine: "TakesImages", path: Path, limits: RunLimits) -> ImageFacts:
    """The facts of an archive's image, taken in by the engine where it does not have it yet."""
    with image_archive(path, limits.image_bytes) as image:
        name = f"{_KEPT}:{image.id.partition(':')[2]}"
        if engine.image_id(name) is None:
            engine.load_image(saved(image, name, limits.image_bytes))
    found = engine.find_image(name, limits)
    return found.model_copy(update={"reference": f"{PREFIX}{path.name}", "digest": image.digest})


@contextmanager
def image_archive(path: Path, most_bytes: int) -> Iterator[ArchivedImage]:
    """The image of an archive, which is not changed; a RunFault where it is none, or not as it should be."""
    try:
        file = path.open("rb")
    except OSError as fault:
        raise MissingFile(f"{path}: {'there is no such file' if not path.exists() else fault.strerror}") from None
    with file:
        if not path.is_file():
            raise MissingFile(f"{path}: this is not a file")
        with _plain(file, most_bytes) as plain:
            yield ArchivedImage(plain, most_bytes)


@contextmanager
def _plain(file: BinaryIO, most_bytes: int) -> Iterator[BinaryIO]:
    first = file.read(4)
    file.seek(0)
    if not first.startswith(_PACKED):
        yield file
        return
    with tempfile.TemporaryFile() as whole:
        unpacker, packed = Unpacker(), 0
        while piece := file.read(_PIECE):
            packed += len(piece)
            for part in unpacker.unpacked(piece):
                with told("the archive, unpacked,"):
                    whole.write(part)
                require_moderate(whole.tell(), most_bytes)
                require_no_bomb(packed, whole.tell())
        whole.seek(0)
        yield whole


def _places(file: BinaryIO) -> _Places:
    """Contents are passed over."""
    found = _Places()
    reader = EntryReader(found, EntryTally(_MOST_FILES))
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    while block := file.read(_BLOCK):
        reader.feed(block)
        if reader.content_left:
            reader.skip()
            if reader.offset > size:
                raise _refused("it ends in the middle of a file")
            file.seek(reader.offset)
    reader.finish()
    return found


def _chosen(index: _Index) -> _IndexEntry:
    """The one image that is for this machine."""
    fitting = {one.digest: one for one in index.manifests if one.platform in (None, here())}
    if not fitting:
        raise not_for_us()
    if len(fitting) > 1:
        raise _refused(f"it holds {len(fitting)} images; save one alone")
    return next(iter(fitting.values()))


def _blob_name(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _require_here(blob: BlobName) -> None:
    """Nothing is fetched from addresses that a manifest names."""
    if blob.urls:
        raise _refused("a layer of it is elsewhere, at an address that it names")


def _lacking(name: str) -> RunFault:
    return _refused(f"there is no {one_line(name)} in it")


def _refused(why: str) -> RunFault:
    return RunFault(Outcome.IMAGE_MISSING, f"the archive is no image that can be run: {why}")
