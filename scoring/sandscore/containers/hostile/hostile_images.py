"""The hostile images: a static busybox, the attacks as scripts, and one variable that says which attack it is.

Images made from files in memory, by the engine's own builder and without a network.
"""

import io
import tarfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.docker.docker_engine import asking

if TYPE_CHECKING:
    from docker import DockerClient
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandscore.containers.engines.docker.cleanup import labels, remove_abandoned_images
from sandscore.records.run_record import RunFault


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


_LIFE_SECONDS = 3600
_SCRIPTS = Path(__file__).parent / "scripts"
_PLACES = ("/bin/busybox", "/usr/bin/busybox")
_DYNAMIC = b"/ld-linux"
_BASE = """FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY scripts /
RUN ["/bin/busybox", "chmod", "-R", "755", "/start", "/answer"]
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=1s CMD ["/bin/busybox", "true"]
CMD ["/start"]
"""


@contextmanager
def hostile_images(client: "DockerClient", prefix: str) -> Iterator["HostileImages"]:
    """Builds images under a prefix of names and removes them in the end."""
    remove_abandoned_images(client)
    images = HostileImages(client, prefix)
    try:
        yield images
    finally:
        images.remove()


class HostileImages:
    """Images by the name of their attack, built when first asked for."""

    def __init__(self, client: "DockerClient", prefix: str) -> None:
        self._client, self._prefix = client, prefix
        self._marks = labels(prefix, _LIFE_SECONDS)
        self._built: list[str] = []

    def image(self, attack: str) -> str:
        """The reference of the image that carries out an attack."""
        base = f"{self._prefix}-base"
        if base not in self._built:
            self._build(base, {"Dockerfile": _BASE, **_files()})
        name = f"{self._prefix}-{attack}"
        if name not in self._built:
            self._build(name, {"Dockerfile": f"FROM {base}\nENV ATTACK={attack}\n"})
        return name

    def _build(self, name: str, files: dict[str, str | bytes]) -> None:
        build_image(self._client, name, files, labels=self._marks)
        self._built.append(name)

    def remove(self) -> None:
        for name in reversed(self._built):
            with suppress(RunFault), asking("removing an attack's image"):
                self._client.images.remove(name, force=True, noprune=False)
        self._built.clear()


def _files() -> dict[str, str | bytes]:
    scripts = {f"scripts/{p.relative_to(_SCRIPTS)}": p.read_bytes() for p in _SCRIPTS.rglob("*") if p.is_file()}
    return {"bin/busybox": _busybox(), **scripts}


def _busybox() -> bytes:
    for place in (*_PLACES, shutil.which("busybox")):
        if place is not None and Path(place).is_file():
            program = Path(place).read_bytes()
            if _DYNAMIC not in program[:4096]:
                return program
    raise InfrastructureFault("the hostile images need a static busybox: apt-get install busybox-static")
