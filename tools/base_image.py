"""Asks the engine for an image, or gives it one: ``base_image.py has NAME``, ``base_image.py import NAME TARBALL``.

``base_image.py reach`` says where an engine answers; without one it ends with 75 and a sentence.
"""

import sys
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
    give(sys.argv[2], Path(sys.argv[3]))
