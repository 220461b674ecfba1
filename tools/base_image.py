"""Asks the engine for an image, or gives it one: ``base_image.py has NAME``, ``base_image.py import NAME TARBALL``.

``base_image.py models NAME BASE PACKAGES…`` makes the base of the templates with models: Debian's Node, and folders of
Python packages. ``base_image.py reach`` says where an engine answers; without one it ends with 75 and a sentence.
"""

import io
import sys
import tarfile
import tempfile
from pathlib import Path

from docker.errors import ImageNotFound

from sandscore.base.errors import SandscoreError
from sandscore.containers.engines.docker.docker_engine import docker_client, engine_address


def has(name: str) -> bool:
    """Whether the engine holds an image of that name."""
    with docker_client() as client:
        try:
            client.images.get(name)
        except ImageNotFound:
            return False
    return True


def give(name: str, tarball: Path) -> None:
    """Make an image of a root file system."""
    repository, _, tag = name.partition(":")
    with docker_client() as client:
        client.api.import_image_from_file(str(tarball), repository=repository, tag=tag, changes=['CMD ["python3"]'])


def models(name: str, base: str, folders: list[Path]) -> None:
    """A base with Node and what participants install, so that it is there without an index of packages.

    Of a package that two folders hold the first one's is taken.
    """
    packages = {found.name: found for folder in reversed(folders) for found in folder.iterdir()}
    with tempfile.TemporaryFile() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            dockerfile = _MODELS.format(base=base).encode()
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(dockerfile)
            archive.addfile(entry, io.BytesIO(dockerfile))
            for package, found in sorted(packages.items()):
                if not package.startswith(_LEFT_OUT):
                    archive.add(found, f"packages/{package}", filter=_readable)
        context.seek(0)
        with docker_client(900) as client:
            client.images.build(fileobj=context, custom_context=True, tag=name, rm=True, forcerm=True)


def _readable(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """By any user, as the program in the container is; no compiled files of ours."""
    entry.uid = entry.gid = 0
    entry.mode |= 0o555 if entry.isdir() else 0o444
    return None if entry.name.endswith(("__pycache__", "/tests", "/tests/package")) else entry


_LEFT_OUT = ("pip", "setuptools", "pandas", "plotly", "narwhals", "presidio_evaluator")
_MODELS = """FROM {base}
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs && rm -rf /var/lib/apt/lists/*
COPY packages /usr/local/lib/python3.11/dist-packages
"""


def reach() -> int:
    """The exit code: whether an engine answers, and lets us."""
    try:
        with docker_client():
            print(engine_address().url)
    except SandscoreError as fault:
        print(f"engine: {fault}", file=sys.stderr)
        return fault.exit_code
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "reach":
        sys.exit(reach())
    if sys.argv[1] == "has":
        sys.exit(not has(sys.argv[2]))
    if sys.argv[1] == "models":
        models(sys.argv[2], sys.argv[3], [Path(folder) for folder in sys.argv[4:]])
        sys.exit()
    give(sys.argv[2], Path(sys.argv[3]))
