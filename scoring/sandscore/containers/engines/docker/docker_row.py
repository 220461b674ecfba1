"""The Docker engine as a row of the table, and as runs know it."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

from sandscore.containers.engines.docker import cleanup, docker_folders, docker_sandbox, image_store, network_isolation
from sandscore.containers.engines.docker.docker_engine import (
    asking,
    docker_absent,
    docker_client,
    docker_ready,
    engine_facts,
    facts,
    require_limits,
)
from sandscore.containers.engines.engine_protocol import BatchFolders, Engine, Isolation, Mounts
from sandscore.containers.engines.engine_registry import EngineRow
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.transports import may_enter_namespaces
from sandscore.records.run_record import EngineFacts, ImageFacts, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.host_checks import Finding


class DockerRow(EngineRow):
    """The engine that DOCKER_HOST names, or the one at its usual socket."""

    name: ClassVar[str] = "docker"
    description: ClassVar[str] = "the Docker engine of this machine, or the one that DOCKER_HOST names"
    source: ClassVar[str] = "docs/containers.md"

    def absent(self) -> str | None:
        return docker_absent()

    def is_ready(self) -> bool:
        return docker_ready()

    @contextmanager
    def connect(self, seconds: float = 120.0) -> Iterator[Engine]:
        with docker_client(seconds) as client:
            yield DockerEngine(client)

    def requirements(self) -> "Iterator[Finding]":
        from sandscore.containers.host_checks import installed

        yield installed("docker", "docker", "fault", "pip install 'sandscore[run]'")

    def examine(self) -> "Iterator[Finding]":
        from sandscore.containers.engines.docker.docker_checks import examine_engine

        with docker_client() as client:
            yield from examine_engine(client)


class DockerEngine:
    """Keeps the promises of ``Engine`` with a client of the engine."""

    name = DockerRow.name

    def __init__(self, client: "DockerClient") -> None:
        self.client = client

    def facts(self) -> EngineFacts:
        return engine_facts(self.name, facts(self.client))

    def require_limits(self) -> None:
        require_limits(facts(self.client))

    def remove_leftovers(self) -> int:
        return cleanup.remove_leftovers(self.client)

    def remaining(self) -> list[str]:
        return cleanup.remaining(self.client)

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        return image_store.find_image(self.client, reference, limits)

    def load_image(self, archive: Iterator[bytes]) -> None:
        image_store.load_image(self.client, archive)

    def credentials(self, registry: str) -> tuple[str, str] | None:
        return image_store.credentials(registry)

    def image_id(self, name: str) -> str | None:
        from docker.errors import ImageNotFound

        try:
            return str(self.client.images.get(name).id)
        except ImageNotFound:
            return None

    def build_image(self, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]) -> str:
        return image_store.build_image(self.client, name, files, labels=marks)

    def remove_image(self, name: str) -> None:
        with suppress(RunFault), asking("removing an image"):
            self.client.images.remove(name, force=True, noprune=False)

    def remove_abandoned_images(self) -> None:
        cleanup.remove_abandoned_images(self.client)

    def no_network(self) -> Isolation | None:
        local = str(self.client.api.base_url).startswith("http+docker:")
        return network_isolation.no_network() if local and may_enter_namespaces() else None

    def own_network(self, marks: dict[str, str]) -> AbstractContextManager[Isolation]:
        return network_isolation.own_network(self.client, marks)

    def folders(
        self, notes: bytes, output_bytes: int, limits: RunLimits, marks: dict[str, str]
    ) -> AbstractContextManager[BatchFolders]:
        return docker_folders.folders(self.client, notes, output_bytes, limits, marks)

    def sandbox(
        self, image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts, log: LogWatch
    ) -> AbstractContextManager[Sandbox]:
        return docker_sandbox.sandbox(self.client, image, limits, marks, network, mounts, log)
