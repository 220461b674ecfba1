"""Images: found on the engine or pulled, looked at before anything of them runs; or built of files in memory."""

import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.docker.docker_engine import asking, explained
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.errors import APIError


def find_image(client: "DockerClient", reference: str, limits: RunLimits) -> ImageFacts:
    """The image's facts, pulling it where the engine does not have it."""
    from docker.errors import APIError, ImageNotFound

    pulled = False
    with asking("looking at the image"):
        try:
            found = client.api.inspect_image(reference)
        except ImageNotFound:
            _pull(client, reference)
            pulled = True
            found = client.api.inspect_image(reference)
        except APIError as fault:
            raise _refused(reference, fault) from None
    facts = _facts(reference, found)
    if facts.size_bytes > limits.image_bytes:
        if pulled:
            client.api.remove_image(reference, force=True)
        raise RunFault(
            Outcome.IMAGE_MISSING,
            f"the image has {facts.size_bytes:,} bytes, more than the {limits.image_bytes:,} allowed",
        )
    return facts


def _pull(client: "DockerClient", reference: str) -> None:
    from docker.errors import APIError, NotFound

    if re.fullmatch(r"sha256:[0-9a-f]{64}", reference):
        raise RunFault(Outcome.IMAGE_MISSING, f"no image with the id {reference} is on this engine")
    bare, _, tag = reference.partition("@")[0].rpartition(":")
    named = bool(bare) and "/" not in tag
    try:
        if "@" in reference:
            client.api.pull(reference.partition("@")[0], tag=reference.partition("@")[2])
        else:
            client.api.pull(bare if named else reference, tag=tag if named else "latest")
    except NotFound:
        raise RunFault(Outcome.IMAGE_MISSING, f"there is no image '{reference}', here or in its registry") from None
    except APIError as fault:
        raise _refused(reference, fault) from None


def load_image(client: "DockerClient", archive: Iterator[bytes]) -> None:
    """What the engine refuses is the image's fault."""
    with asking("taking in the image"):
        for told in client.api.load_image(archive):
            if refused := told.get("error") or told.get("message"):
                sentence = " ".join(str(refused).split())[:300]
                raise RunFault(Outcome.IMAGE_MISSING, f"the engine does not take the image: {sentence}")


def credentials(registry: str) -> tuple[str, str] | None:
    """As ``docker login`` has left them for the account of this process."""
    from docker import auth
    from docker.errors import DockerException

    try:
        found = auth.load_config().resolve_authconfig(registry) or {}
    except DockerException:
        return None
    known = {name.lower(): value for name, value in found.items()}
    user, password = known.get("username"), known.get("password")
    return (user, password) if user and password else None


def _refused(reference: str, fault: "APIError") -> RunFault:
    if fault.status_code is not None and fault.status_code < 500:
        return RunFault(Outcome.IMAGE_MISSING, f"'{reference}' is not an image: {explained(fault)}")
    told = f"'{reference}' is not on this engine and its registry did not give it: {explained(fault)}"
    return RunFault(Outcome.INFRASTRUCTURE, told)


def _facts(reference: str, found: dict[str, Any]) -> ImageFacts:
    if found.get("Os", "linux") != "linux":
        raise RunFault(Outcome.IMAGE_MISSING, f"the image is made for {found['Os']}, not for linux")
    repository = reference.partition("@")[0]
    digests: list[str] = found.get("RepoDigests") or []
    own = [d for d in digests if d.partition("@")[0] == repository] or digests
    return ImageFacts(
        reference=reference,
        id=found["Id"],
        digest=own[0].partition("@")[2] if own else None,
        size_bytes=found.get("Size") or 0,
        volumes=tuple(sorted((found.get("Config") or {}).get("Volumes") or {})),
    )


_LAYER_GONE = ("unknown parent image ID", "No such image: sha256:", "image not known", "layer not known")
"""What an engine says where somebody removes an image that shares a layer with the one that is being built."""


def build_image(
    client: "DockerClient",
    name: str,
    files: Mapping[str, str | bytes],
    arguments: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Build the folder of files, a Dockerfile among them, and return the image's id."""
    from docker.errors import BuildError

    settings = {"tag": name, "buildargs": dict(arguments or {}), "labels": dict(labels or {}), "network_mode": "none"}

    def built(**cache: bool) -> str:
        context = io.BytesIO(_context(files))
        image, _ = client.images.build(fileobj=context, custom_context=True, rm=True, forcerm=True, **settings, **cache)
        identity: str = image.id
        return identity

    with asking(f"building {name}"):
        try:
            try:
                return built()
            except BuildError as fault:
                if not any(words in str(fault.msg) for words in _LAYER_GONE):
                    raise
                return built(nocache=True)
        except BuildError as fault:
            raise InfrastructureFault(f"{name} cannot be built: {fault.msg}") from None


def _context(files: Mapping[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if data.startswith((b"#!", b"\x7fELF")) else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
