"""Images made from files in memory, by the engine's own builder and without a network."""

import io
import tarfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sandscore.records.errors import InfrastructureFault
from sandscore.running.engine import asking

if TYPE_CHECKING:
    from docker import DockerClient


def build_image(
    client: "DockerClient",
    name: str,
    files: Mapping[str, str | bytes],
    arguments: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Build the folder of files, a Dockerfile among them, and return the image's id."""
    from docker.errors import BuildError

    with asking(f"building {name}"):
        try:
            image, _ = client.images.build(
                fileobj=io.BytesIO(_context(files)),
                custom_context=True,
                tag=name,
                buildargs=dict(arguments or {}),
                labels=dict(labels or {}),
                network_mode="none",
                rm=True,
                forcerm=True,
            )
        except BuildError as fault:
            raise InfrastructureFault(f"{name} cannot be built: {fault.msg}") from None
    identity: str = image.id
    return identity


def _context(files: Mapping[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if data.startswith((b"#!", b"\x7fELF")) else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()
