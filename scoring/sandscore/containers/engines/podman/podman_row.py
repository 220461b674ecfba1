"""Podman as a row of the table, and as runs know it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from sandscore.containers.engines.engine_protocol import Engine
from sandscore.containers.engines.engine_registry import EngineRow

if TYPE_CHECKING:
    from sandscore.containers.host_checks import Finding


class PodmanRow(EngineRow):
    """The Podman of this account, or the one that CONTAINER_HOST names."""

    name: ClassVar[str] = "podman"
    description: ClassVar[str] = "the Podman of this account, or the one of this machine that CONTAINER_HOST names"
    source: ClassVar[str] = "docs/engines.md"

    def absent(self) -> str | None:
        from sandscore.containers.engines.podman.podman_service import podman_absent

        return podman_absent()

    @contextmanager
    def connect(self, seconds: float = 120.0) -> Iterator[Engine]:
        from sandscore.containers.engines.podman.podman_engine import PodmanEngine
        from sandscore.containers.engines.podman.podman_service import podman_client

        with podman_client(seconds) as client:
            yield PodmanEngine(client)

    def requirements(self) -> "Iterator[Finding]":
        from sandscore.containers.host_checks import installed

        yield installed("docker", "docker", "fault", "pip install 'sandscore[run]'")

    def examine(self) -> "Iterator[Finding]":
        from sandscore.containers.engines.podman.podman_engine import PodmanEngine, examine_engine
        from sandscore.containers.engines.podman.podman_service import podman_client

        with podman_client(120.0) as client:
            yield from examine_engine(PodmanEngine(client))
