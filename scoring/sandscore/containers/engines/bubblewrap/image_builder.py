"""Images of files, for the hostile set and the conformance suite: as much of a Dockerfile as those need."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.bubblewrap.image_roots import ImageRoots, prepared
from sandscore.containers.images.image_parts import StartConfig, digest_of

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_UNHEEDED = ("STOPSIGNAL", "HEALTHCHECK", "LABEL", "EXPOSE", "USER")
"""Of these nothing is taken from an image."""


class _Building:
    """An image on its way, line by line."""

    def __init__(self, images: ImageRoots, program: str, root: Path, files: Mapping[str, bytes]) -> None:
        self._images, self._program, self._root, self._files = images, program, root, files
        self.config = StartConfig()
        self.base = ""

    def follow(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        doing: dict[str, Callable[[str], None]] = {
            "FROM": self._begin,
            "COPY": self._copy,
            "RUN": self._run,
            "ENV": self._variable,
            "CMD": lambda rest: self._set(command=tuple(json.loads(rest))),
            "ENTRYPOINT": lambda rest: self._set(entrypoint=tuple(json.loads(rest))),
            "WORKDIR": lambda rest: self._set(folder=rest),
            "VOLUME": lambda rest: self._set(
                volumes={**(self.config.volumes or {}), **{place: {} for place in rest.split()}}
            ),
        }
        if word in doing:
            doing[word](rest.strip())
        elif word not in _UNHEEDED:
            raise InfrastructureFault(f"bubblewrap builds no image with '{word}'")

    def _set(self, **changed: object) -> None:
        self.config = replace(self.config, **changed)

    def _begin(self, name: str) -> None:
        if name == "scratch":
            return
        if (identity := self._images.id_of(name)) is None:
            raise InfrastructureFault(f"there is no image '{name}' to build on")
        self.base, self.config = identity, self._images.opened(identity).config
        shutil.copytree(self._images.root(identity), self._root, symlinks=True, dirs_exist_ok=True)

    def _copy(self, rest: str) -> None:
        source, target = rest.split()
        for name, content in self._files.items():
            if name == source:
                self._write(target, content)
            elif name.startswith(f"{source}/"):
                self._write(f"{target}/{name.removeprefix(f'{source}/')}", content)

    def _write(self, target: str, content: bytes) -> None:
        place = self._root / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o755 if content.startswith((b"#!", b"\x7fELF")) else 0o644)

    def _variable(self, rest: str) -> None:
        given = [word for word in shlex.split(rest) if "=" in word]
        self._set(env=(*(self.config.env or ()), *given))

    def _run(self, rest: str) -> None:
        if not self._program:
            raise InfrastructureFault("an image is built by bubblewrap, which is not here: apt-get install bubblewrap")
        words = [self._program, "--unshare-all", "--die-with-parent", "--uid", "0", "--gid", "0", "--clearenv"]
        words += ["--setenv", "PATH", _PATH, "--bind", str(self._root), "/", "--", *json.loads(rest)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={}, cwd="/")
        if done.returncode:
            raise InfrastructureFault(f"the image cannot be built: {' '.join(done.stderr.split())[:300]}")


def build(
    images: ImageRoots, program: str, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]
) -> str:
    """The folder of files, a Dockerfile among them, as an image under that name; its id."""
    content = {key: value.encode() if isinstance(value, str) else value for key, value in files.items()}
    with images.making() as place:
        building = _Building(images, program, place / "root", content)
        for line in content["Dockerfile"].decode().splitlines():
            if line.strip():
                building.follow(line.strip())
        told = [building.base, *(f"{key} {digest_of(value)}" for key, value in sorted(content.items()))]
        identity = digest_of("\n".join(told).encode())
        size = sum(path.lstat().st_size for path in place.rglob("*"))
        images.keep(place, prepared(place / "root", identity, size, building.config))
    images.name(name, identity, marks)
    return identity
