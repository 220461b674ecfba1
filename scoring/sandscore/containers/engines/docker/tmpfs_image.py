"""The smallest image there is: one program that waits for ever, to hold memory-backed folders open."""

import io
import tarfile
from typing import TYPE_CHECKING

from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.tiny_program import waiting_program

if TYPE_CHECKING:
    from docker import DockerClient

_NAME, _VERSION = "sandscore-holder", "1"


def holder_image(client: "DockerClient") -> str:
    """The name of the image, made on the engine if it is not there."""
    from docker.errors import ImageNotFound

    name = f"{_NAME}:{_VERSION}"
    with asking("looking for the holder image"):
        try:
            client.api.inspect_image(name)
        except ImageNotFound:
            architecture = client.version()["Arch"]
            client.api.import_image_from_data(
                _tar(waiting_program(architecture)), repository=_NAME, tag=_VERSION, changes=['CMD ["/hold"]']
            )
    return name


def _tar(executable: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("hold")
        entry.size, entry.mode = len(executable), 0o555
        archive.addfile(entry, io.BytesIO(executable))
    return packed.getvalue()
