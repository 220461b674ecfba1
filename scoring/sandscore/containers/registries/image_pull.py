"""An image out of a registry: looked at before its first layer, streamed to the engine, believed in nothing.

The manifest says how large everything is, and that is the most that is read. Each layer is unpacked on the way, to
count and to compare, and kept nowhere; what the engine gets is an archive that has no end if anything is wrong,
which it does not take.
"""

import hashlib
import io
import json
import platform
import tarfile
import time
import zlib
from collections.abc import Iterator
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct

from sandscore.containers.registries.registry_client import (
    NotThere,
    RegistryClient,
    RegistryFailed,
)
from sandscore.containers.registries.registry_list import covered, hosts, is_local, parsed
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

PULLED = "sandscore-pulled"
REGISTRY_FAILED = "its registry failed: "
"""How the reason of a fault begins that is a registry's; the second time it is the team's."""
_MOST_DOCUMENT_BYTES = 8 << 20
_MOST_LAYERS = 125
_BLOCK, _PIECE, _SLICE = 512, 1 << 20, 256
_LISTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_STRANGE = (b"BZh", b"\xfd7zXZ\x00")


class TakesImages(Protocol):
    """As much of an engine as a pull needs."""

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts: ...

    def image_id(self, name: str) -> str | None: ...

    def load_image(self, archive: Iterator[bytes]) -> None: ...

    def credentials(self, registry: str) -> tuple[str, str] | None: ...


class PullRules(Struct, frozen=True):
    """``prefixes``: what may be named, and so the hosts that may be asked. ``failed_before``: the registry failed when
    this image was wanted the last time."""

    prefixes: tuple[str, ...]
    failed_before: bool = False


def find_listed(engine: TakesImages, reference: str, limits: RunLimits, rules: PullRules) -> ImageFacts:
    """The image's facts, taken out of its registry where the engine has not got it from there before."""
    if is_local(reference):
        return engine.find_image(reference, limits)
    named = parsed(reference)
    if named is None or not covered(reference, rules.prefixes):
        raise RunFault(Outcome.IMAGE_MISSING, f"'{reference}' is not in a registry that the challenge lists")
    host, repository, digest = named
    name = pulled_name(reference)
    if engine.image_id(name) is None:
        try:
            deadline = time.monotonic() + limits.pull_seconds
            client = RegistryClient(host, repository, hosts(rules.prefixes), deadline, engine.credentials)
            engine.load_image(ImageSource(client, digest, limits.image_bytes).archive(name))
        except NotThere:
            told = f"there is no '{reference}' in its registry, or it is not for us"
            raise RunFault(Outcome.IMAGE_MISSING, told) from None
        except RegistryFailed as fault:
            if rules.failed_before:
                raise RunFault(Outcome.IMAGE_MISSING, f"its registry failed twice: {fault}") from None
            raise RunFault(Outcome.INFRASTRUCTURE, f"{REGISTRY_FAILED}{fault}") from None
    found = engine.find_image(name, limits)
    return found.model_copy(update={"reference": reference, "digest": digest})


def pulled_name(reference: str) -> str:
    """How the engine keeps what came out of a repository by a digest; out of another it is another."""
    named = "{}/{}@{}".format(*(parsed(reference) or ("", "", reference)))
    return f"{PULLED}:{hashlib.sha256(named.encode()).hexdigest()}"


_Digest = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}\Z")]
_Form = TypeVar("_Form")


class _Blob(Struct, frozen=True):
    """A part of an image, by the SHA-256 of its bytes."""

    digest: _Digest
    size: Annotated[int, Meta(ge=0)]


class _Platform(Struct, frozen=True):
    os: str = ""
    architecture: str = ""


class _Listed(Struct, frozen=True):
    digest: _Digest
    platform: _Platform | None = None


class _Manifest(Struct, frozen=True):
    """Of an image: what it is made of. Or a list of images, of which one is for this machine."""

    config: _Blob | None = None
    layers: tuple[_Blob, ...] = ()
    manifests: tuple[_Listed, ...] | None = None


class _Layers(Struct, frozen=True):
    diff_ids: tuple[str, ...] = ()


class _Description(Struct, frozen=True):
    """As much as concerns us of what an image says of itself."""

    rootfs: _Layers


def _read(content: bytes, form: type[_Form], fault: Exception) -> _Form:
    try:
        return msgspec.json.decode(content, type=form)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise fault from None


class ImageSource:
    """One image of a repository."""

    def __init__(self, client: RegistryClient, digest: str, most_bytes: int) -> None:
        self._client, self._digest, self._most = client, digest, most_bytes
        self._unpacked = 0

    def archive(self, name: str) -> Iterator[bytes]:
        """As ``docker save`` writes it; what names its parts comes last."""
        manifest = self._manifest()
        config, layers = manifest.config, manifest.layers
        if config is None:
            raise _no_manifest()
        self._require_moderate(config.size + sum(layer.size for layer in layers))
        if config.size > _MOST_DOCUMENT_BYTES or len(layers) > _MOST_LAYERS:
            raise RunFault(
                Outcome.IMAGE_MISSING, f"the image has more than {_MOST_LAYERS} layers, or a huge description"
            )
        description = self._client.read(f"blobs/{config.digest}", config.size, "*/*")
        _require_digest(description, config.digest)
        said = _read(description, _Description, _not_described()).rootfs.diff_ids
        if len(said) != len(layers):
            raise _not_described()
        yield from _entry("config.json", description)
        files: dict[str, str] = {}
        for layer, unpacked in zip(layers, said, strict=True):
            if layer.digest not in files:
                files[layer.digest] = f"{len(files)}.tar"
                yield _header(files[layer.digest], layer.size)
                yield from self._layer(layer, unpacked)
                yield bytes(-layer.size % _BLOCK)
        parts = {"Config": "config.json", "RepoTags": [name], "Layers": [files[layer.digest] for layer in layers]}
        yield from _entry("manifest.json", json.dumps([parts]).encode())
        yield bytes(2 * _BLOCK)

    def _manifest(self) -> _Manifest:
        """The manifest of the digest, or that of this machine's kind in a list of the digest."""
        found = self._document(self._digest)
        if found.manifests is None:
            return found
        wanted = _Platform("linux", _ARCHITECTURES.get(platform.machine(), platform.machine()))
        fitting = next((one for one in found.manifests if one.platform == wanted), None)
        if fitting is None:
            raise RunFault(Outcome.IMAGE_MISSING, f"the image is not made for linux on {wanted.architecture}")
        return self._document(fitting.digest)

    def _document(self, digest: str) -> _Manifest:
        accepted = ", ".join((*_MANIFESTS, *_LISTS))
        content = self._client.read(f"manifests/{digest}", _MOST_DOCUMENT_BYTES, accepted)
        _require_digest(content, digest)
        return _read(content, _Manifest, _no_manifest())

    def _layer(self, layer: _Blob, unpacked: str) -> Iterator[bytes]:
        """Its bytes as they are, counted and unpacked on the way."""
        packed, plain, size = hashlib.sha256(), hashlib.sha256(), 0
        unpacker = _Unpacker()
        with self._client.opened(f"blobs/{layer.digest}", layer.size) as pieces:
            for piece in pieces:
                size += len(piece)
                packed.update(piece)
                for part in unpacker.unpacked(piece):
                    self._unpacked += len(part)
                    self._require_moderate(self._unpacked)
                    plain.update(part)
                yield piece
        if size != layer.size or f"sha256:{packed.hexdigest()}" != layer.digest:
            raise RegistryFailed("it gave something else than what the manifest names")
        if f"sha256:{plain.hexdigest()}" != unpacked:
            raise RunFault(Outcome.IMAGE_MISSING, "a layer of the image is not what the image says it is")

    def _require_moderate(self, size: int) -> None:
        if size > self._most:
            told = f"the image has {size:,} bytes or more, more than the {self._most:,} allowed"
            raise RunFault(Outcome.IMAGE_MISSING, told)


class _Unpacker:
    """Undoes gzip and zstd in pieces of a bounded size; the engine undoes them again."""

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


def _no_manifest() -> RegistryFailed:
    return RegistryFailed("its manifest is none")


def _not_described() -> RunFault:
    return RunFault(Outcome.IMAGE_MISSING, "the image does not say what its layers are")


def _require_digest(content: bytes, digest: str) -> None:
    if f"sha256:{hashlib.sha256(content).hexdigest()}" != digest:
        raise RegistryFailed("it gave something else than what was asked for by its digest")


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
