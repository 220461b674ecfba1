"""The hostile images: a static busybox, the attacks as scripts, and one variable that says which attack it is."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sandscore.records.errors import InfrastructureFault
from sandscore.records.run import RunFault
from sandscore.running.building import build_image
from sandscore.running.engine import asking
from sandscore.running.leftovers import labels, remove_abandoned_images

if TYPE_CHECKING:
    from docker import DockerClient

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
