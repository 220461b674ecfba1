"""The parts of an image, wherever they come from: its description and its layers, each compared with its digest.

A layer is unpacked as it passes, to be counted, compared and looked into, and kept only by whom it is handed to.
"""

import hashlib
import io
import json
import platform
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct, field

from sandscore.containers.images.layer_entries import EntryReader, EntryTaker, EntryTally, NoTaker
from sandscore.records.run_record import Outcome, RunFault

MOST_DOCUMENT_BYTES = 8 << 20
_MOST_LAYERS = 125
_BLOCK, _PIECE, _SLICE = 512, 1 << 20, 256
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_STRANGE = (b"BZh", b"\xfd7zXZ\x00")
_MOST_RATIO, _UNSUSPECTED = 200, 256 << 20
"""More than so many bytes out of one, past so many, is a bomb: text and machine code have ten at most."""

Digest = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
_Form = TypeVar("_Form")


class BlobName(Struct, frozen=True):
    """A part of an image, by the SHA-256 of its bytes."""

    digest: Digest
    size: Annotated[int, Meta(ge=0)]
    urls: tuple[str, ...] | None = None


class ImagePlatform(Struct, frozen=True):
    """The kind of machine an image is for; other versions of one architecture are not told apart."""

    os: str = ""
    architecture: str = ""


class ListedManifest(Struct, frozen=True):
    """One image of a list."""

    digest: Digest
    platform: ImagePlatform | None = None


class ImageManifest(Struct, frozen=True):
    """Of an image: what it is made of. Or a list of images, of which one is for this machine."""

    config: BlobName | None = None
    layers: tuple[BlobName, ...] = ()
    manifests: tuple[ListedManifest, ...] | None = None


class LayerDigests(Struct, frozen=True):
    """The digests of layers as they are unpacked, the lowest first."""

    diff_ids: tuple[Digest, ...] = ()


class StartConfig(Struct, frozen=True):
    """How an image's program is started."""

    env: tuple[str, ...] | None = field(name="Env", default=None)
    entrypoint: tuple[str, ...] | None = field(name="Entrypoint", default=None)
    command: tuple[str, ...] | None = field(name="Cmd", default=None)
    folder: str | None = field(name="WorkingDir", default=None)
    volumes: dict[str, Any] | None = field(name="Volumes", default=None)
    labels: dict[str, str] | None = field(name="Labels", default=None)


class ImageDescription(Struct, frozen=True):
    """As much as concerns us of what an image says of itself."""

    rootfs: LayerDigests
    os: str = "linux"
    architecture: str = ""
    config: StartConfig | None = None


class LayerPart(Struct, frozen=True):
    """A layer: what its source calls it, its bytes as they are, packed or not, and its digests."""

    name: str
    size: int
    unpacked: str
    packed: str | None = None


class ImageParts(Protocol):
    """An image whose parts can be had one after another."""

    @property
    def description(self) -> bytes: ...

    @property
    def layers(self) -> tuple[LayerPart, ...]: ...

    def opened(self, layer: LayerPart) -> AbstractContextManager[Iterator[bytes]]:
        """Its bytes as they are."""

    def otherwise(self) -> Exception:
        """What is wrong where a part is not what its name says."""


def here() -> ImagePlatform:
    """The platform of this machine."""
    return ImagePlatform("linux", _ARCHITECTURES.get(platform.machine(), platform.machine()))


def read_document(content: bytes, form: type[_Form], fault: Exception) -> _Form:
    """A document of an image in the form it must have."""
    try:
        return msgspec.json.decode(content, type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise fault from None


def described(description: bytes, layers: int) -> ImageDescription:
    """What the image says of itself, as far as it fits what there is of it."""
    said = read_document(description, ImageDescription, not_described())
    if len(said.rootfs.diff_ids) != layers:
        raise not_described()
    if layers > _MOST_LAYERS:
        raise RunFault(Outcome.IMAGE_MISSING, f"the image has more than {_MOST_LAYERS} layers")
    return said


def require_ours(said: ImageDescription) -> None:
    """It is made for this kind of machine, as far as it says so."""
    if said.os not in ("", "linux") or said.architecture not in ("", here().architecture):
        raise not_for_us()


def not_described() -> RunFault:
    return RunFault(Outcome.IMAGE_MISSING, "the image does not say what its layers are")


def not_for_us() -> RunFault:
    return RunFault(Outcome.IMAGE_MISSING, f"the image is not made for linux on {here().architecture}")


def chosen_manifest(listed: tuple[ListedManifest, ...]) -> ListedManifest:
    """That for this machine's kind, in a list."""
    fitting = next((one for one in listed if one.platform == here()), None)
    if fitting is None:
        raise not_for_us()
    return fitting


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


class LayerExamination:
    """Layers of one image on their way, all of them together moderate."""

    def __init__(self, parts: ImageParts, most_bytes: int) -> None:
        self._parts, self._most = parts, most_bytes
        self._tally = EntryTally()
        self.unpacked = 0

    def passed(self, layer: LayerPart, taker: EntryTaker | None = None) -> Iterator[bytes]:
        """Its bytes as they are; the taker is handed its entries. Raises where it is not what it should be, at the end
        at the latest."""
        packed, plain, size = hashlib.sha256(), hashlib.sha256(), 0
        before, unpacker, reader = self.unpacked, Unpacker(), EntryReader(taker or NoTaker(), self._tally)
        with self._parts.opened(layer) as pieces:
            for piece in pieces:
                size += len(piece)
                packed.update(piece)
                for part in unpacker.unpacked(piece):
                    self.unpacked += len(part)
                    require_moderate(self.unpacked, self._most)
                    require_no_bomb(size, self.unpacked - before)
                    plain.update(part)
                    reader.feed(part)
                yield piece
        if size != layer.size or layer.packed not in (None, f"sha256:{packed.hexdigest()}"):
            raise self._parts.otherwise()
        if f"sha256:{plain.hexdigest()}" != layer.unpacked:
            raise RunFault(Outcome.IMAGE_MISSING, "a layer of the image is not what the image says it is")
        reader.finish()


def require_moderate(size: int, most: int) -> None:
    if size > most:
        told = f"the image has {size:,} bytes or more, more than the {most:,} allowed"
        raise RunFault(Outcome.IMAGE_MISSING, told)


def require_no_bomb(packed: int, unpacked: int) -> None:
    if unpacked > _UNSUSPECTED and unpacked > _MOST_RATIO * packed:
        raise RunFault(Outcome.IMAGE_MISSING, f"the image is packed more than {_MOST_RATIO} to one")


def saved(parts: ImageParts, name: str, most_bytes: int) -> Iterator[bytes]:
    """The image as ``docker save`` writes it; what names its parts comes last."""
    require_moderate(len(parts.description) + sum(layer.size for layer in parts.layers), most_bytes)
    examination = LayerExamination(parts, most_bytes)
    yield from _entry("config.json", parts.description)
    files: dict[str, str] = {}
    for layer in parts.layers:
        if layer.name not in files:
            files[layer.name] = f"{len(files)}.tar"
            yield _header(files[layer.name], layer.size)
            yield from examination.passed(layer)
            yield bytes(-layer.size % _BLOCK)
    told = {"Config": "config.json", "RepoTags": [name], "Layers": [files[layer.name] for layer in parts.layers]}
    yield from _entry("manifest.json", json.dumps([told]).encode())
    yield bytes(2 * _BLOCK)


def _header(name: str, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o644
    return entry.tobuf(tarfile.PAX_FORMAT)


def _entry(name: str, content: bytes) -> Iterator[bytes]:
    packed = io.BytesIO()
    packed.write(_header(name, len(content)))
    packed.write(content)
    packed.write(bytes(-len(content) % _BLOCK))
    yield packed.getvalue()


class Unpacker:
    """Undoes gzip and zstd in pieces of a bounded size."""

    def __init__(self) -> None:
        self._first = b""
        self._kind: bytes | None = None
        self._stream: Any = None

    def unpacked(self, piece: bytes) -> Iterator[bytes]:
        if self._kind is None:
            self._first += piece
            if len(self._first) < 6:
                return
            piece, self._kind = self._first, self._kind_of(self._first)
        if self._kind == _GZIP:
            yield from self._gzip(piece)
        elif self._kind == _ZSTD:
            yield from self._zstd(piece)
        else:
            yield piece

    def _kind_of(self, first: bytes) -> bytes:
        if first.startswith(_STRANGE):
            raise RunFault(
                Outcome.IMAGE_MISSING, "a layer of the image is packed with something else than gzip or zstd"
            )
        return next((kind for kind in (_GZIP, _ZSTD) if first.startswith(kind)), b"tar")

    def _gzip(self, piece: bytes) -> Iterator[bytes]:
        try:
            while True:
                if self._stream is None or self._stream.eof:
                    self._stream = zlib.decompressobj(wbits=31)
                part = self._stream.decompress(piece, _PIECE)
                yield part
                piece = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
                if not piece and (self._stream.eof or len(part) < _PIECE):
                    return
        except zlib.error:
            raise RunFault(Outcome.IMAGE_MISSING, "a layer of the image cannot be unpacked") from None

    def _zstd(self, piece: bytes) -> Iterator[bytes]:
        """A few bytes at a time, since all they unpack to comes at once: a block of four may have 128 KB."""
        import zstandard

        try:
            for at in range(0, len(piece), _SLICE):
                left = piece[at : at + _SLICE]
                while left:
                    if self._stream is None or self._stream.eof:
                        self._stream = zstandard.ZstdDecompressor(max_window_size=128 << 20).decompressobj()
                    yield self._stream.decompress(left)
                    left = self._stream.unused_data if self._stream.eof else b""
        except zstandard.ZstdError:
            raise RunFault(Outcome.IMAGE_MISSING, "a layer of the image cannot be unpacked") from None
