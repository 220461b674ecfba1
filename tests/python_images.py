"""Images with one Python program, on the base image of the example submissions."""

import os
from typing import TYPE_CHECKING

from sandscore.containers.engines.docker.image_store import build_image

if TYPE_CHECKING:
    from docker import DockerClient

BASE = "sandscore-base:bookworm"


class PythonImages:
    """Builds them, each once."""

    def __init__(self, client: "DockerClient") -> None:
        self._client = client
        self.names: list[str] = []

    def __call__(self, name: str, program: str, *lines: str) -> str:
        tag = f"sandscore-test-{os.getpid()}-python-{name}"
        if tag not in self.names:
            dockerfile = ["ARG BASE", "FROM ${BASE}", "COPY program.py /program.py", *lines]
            files = {
                "Dockerfile": "\n".join([*dockerfile, 'CMD ["python3", "-u", "/program.py"]']) + "\n",
                "program.py": program,
            }
            build_image(self._client, tag, files, {"BASE": BASE})
            self.names.append(tag)
        return tag
