"""The hostile images: a static busybox, the attacks as scripts, and one variable that says which attack it is."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.engine_protocol import Engine, labels
from sandscore.containers.tiny_program import FORBIDDEN_CALLS, calling_program

_LIFE_SECONDS = 3600
_SCRIPTS = Path(__file__).parent / "scripts"
_PLACES = ("/bin/busybox", "/usr/bin/busybox")
_DYNAMIC = b"/ld-linux"
BUSYBOX_IMAGE = """FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "--install", "-s", "/bin"]"""
_BASE = f"""{BUSYBOX_IMAGE}
COPY scripts /
RUN ["/bin/busybox", "chmod", "-R", "755", "/start", "/answer", "/calls"]
RUN ["/bin/busybox", "mkdir", "-m", "777", "/open", "/data"]
WORKDIR /data
VOLUME /data
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=1s CMD ["/bin/busybox", "true"]
CMD ["/start"]
"""


@contextmanager
def hostile_images(engine: Engine, prefix: str) -> Iterator["HostileImages"]:
    """Builds images under a prefix of names and removes them in the end."""
    engine.remove_abandoned_images()
    images = HostileImages(engine, prefix)
    try:
        yield images
    finally:
        images.remove()


class HostileImages:
    """Images by the name of their attack, built when first asked for."""

    def __init__(self, engine: Engine, prefix: str) -> None:
        self._engine, self._prefix = engine, prefix
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
        self._engine.build_image(name, files, self._marks)
        self._built.append(name)

    def remove(self) -> None:
        for name in reversed(self._built):
            self._engine.remove_image(name)
        self._built.clear()


def _files() -> dict[str, str | bytes]:
    scripts = {f"scripts/{p.relative_to(_SCRIPTS)}": p.read_bytes() for p in _SCRIPTS.rglob("*") if p.is_file()}
    calls = {f"scripts/calls/{call}": calling_program(call) for call in FORBIDDEN_CALLS}
    return {"bin/busybox": busybox(), **scripts, **calls}


def busybox() -> bytes:
    """The program, such as runs in an image that holds nothing else."""
    for place in (*_PLACES, shutil.which("busybox")):
        if place is not None and Path(place).is_file():
            program = Path(place).read_bytes()
            if _DYNAMIC not in program[:4096]:
                return program
    raise InfrastructureFault("the hostile images need a static busybox: apt-get install busybox-static")
