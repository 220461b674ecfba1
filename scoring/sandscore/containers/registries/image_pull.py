"""An image out of a registry: looked at before its first layer, streamed to the engine, believed in nothing.

The manifest says how large everything is, and that is the most that is read. Each layer is unpacked on the way, to
count and to compare, and kept nowhere; what the engine gets is an archive that has no end if anything is wrong,
which it does not take.
"""

import hashlib
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from sandscore.containers.images.image_parts import (
    MOST_DOCUMENT_BYTES,
    ImageManifest,
    LayerPart,
    chosen_manifest,
    described,
    digest_of,
    read_document,
    require_moderate,
    saved,
)
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
_LISTS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


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
            image = RegistryImage(client, digest, limits.image_bytes)
            engine.load_image(saved(image, name, limits.image_bytes))
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


class RegistryImage:
    """One image of a repository."""

    def __init__(self, client: RegistryClient, digest: str, most_bytes: int) -> None:
        self._client = client
        manifest = self._manifest(digest)
        if (config := manifest.config) is None:
            raise _no_manifest()
        require_moderate(config.size + sum(layer.size for layer in manifest.layers), most_bytes)
        if config.size > MOST_DOCUMENT_BYTES:
            raise RunFault(Outcome.IMAGE_MISSING, "the image has a huge description")
        self.description = client.read(f"blobs/{config.digest}", config.size, "*/*")
        _require_digest(self.description, config.digest)
        said = described(self.description, len(manifest.layers)).rootfs.diff_ids
        self.layers = tuple(
            LayerPart(layer.digest, layer.size, unpacked, layer.digest)
            for layer, unpacked in zip(manifest.layers, said, strict=True)
        )

    def _manifest(self, digest: str) -> ImageManifest:
        """The manifest of the digest, or that of this machine's kind in a list of the digest."""
        found = self._document(digest)
        return found if found.manifests is None else self._document(chosen_manifest(found.manifests).digest)

    def _document(self, digest: str) -> ImageManifest:
        accepted = ", ".join((*_MANIFESTS, *_LISTS))
        content = self._client.read(f"manifests/{digest}", MOST_DOCUMENT_BYTES, accepted)
        _require_digest(content, digest)
        return read_document(content, ImageManifest, _no_manifest())

    def opened(self, layer: LayerPart) -> AbstractContextManager[Iterator[bytes]]:
        return self._client.opened(f"blobs/{layer.name}", layer.size)

    def otherwise(self) -> RegistryFailed:
        return RegistryFailed("it gave something else than what the manifest names")


def _no_manifest() -> RegistryFailed:
    return RegistryFailed("its manifest is none")


def _require_digest(content: bytes, digest: str) -> None:
    if digest_of(content) != digest:
        raise RegistryFailed("it gave something else than what was asked for by its digest")
