"""The smallest image there is: one program that waits for ever, to hold memory-backed folders open."""

import io
import struct
import tarfile
from typing import TYPE_CHECKING

from sandscore.containers.engines.docker.docker_engine import asking

if TYPE_CHECKING:
    from docker import DockerClient

_NAME, _VERSION = "sandscore-holder", "1"
_MACHINES = {
    "amd64": (62, bytes.fromhex("b822000000 0f05 ebf7".replace(" ", ""))),
    "arm64": (183, bytes.fromhex("000080d2 010080d2 020080d2 030080d2 280980d2 010000d4 faffff17".replace(" ", ""))),
}
"""ELF machine number and a loop around the system call that waits for a signal: pause, or ppoll of nothing."""
_ADDRESS = 0x400000
_HEADERS = 64 + 56


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
                _tar(program(architecture)), repository=_NAME, tag=_VERSION, changes=['CMD ["/hold"]']
            )
    return name


def program(architecture: str) -> bytes:
    """A static executable: ELF header, one loadable segment, the loop."""
    machine, code = _MACHINES.get(architecture, _MACHINES["amd64"])
    size = _HEADERS + len(code)
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    entry = _ADDRESS + _HEADERS
    header = identity + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return header + segment + code


def _tar(executable: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("hold")
        entry.size, entry.mode = len(executable), 0o555
        archive.addfile(entry, io.BytesIO(executable))
    return packed.getvalue()
