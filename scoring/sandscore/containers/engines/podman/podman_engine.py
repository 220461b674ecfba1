"""Podman as runs know it: Docker's engine, but for what Podman does in its own way."""

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.control_groups import control_root
from sandscore.containers.engines.docker.docker_engine import asking, unenforced
from sandscore.containers.engines.docker.docker_engine import facts as told_facts
from sandscore.containers.engines.docker.docker_folders import FolderMaker, folders
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.engines.engine_protocol import (
    INPUT,
    OUTPUT,
    BatchFolders,
    CannotEnter,
    Isolation,
    Mounts,
    labels,
)
from sandscore.containers.engines.podman.podman_row import PodmanRow
from sandscore.containers.engines.podman.podman_sandbox import (
    SECCOMP,
    PodmanJson,
    created,
    memory_volume,
    resource_limits,
    sandbox,
)
from sandscore.containers.engines.podman.podman_service import named_runtime, remove_folders
from sandscore.containers.host_checks import Finding
from sandscore.containers.kernel_limits import limits_in_force
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import preset
from sandscore.containers.tiny_program import waiting_program
from sandscore.containers.transports import Door, NamespaceDoor, may_enter_namespaces, open_namespace
from sandscore.records.run_record import EngineFacts, ImageFacts, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.engines.sandbox import Sandbox

_HOLDER = "localhost/sandscore-holder:1"
_HOLDER_PROCESSES = 32
"""Of which the program is one; the threads of runc, which starts it, count too: on a busy machine 4 were too few."""
_NEEDED = ("cpu", "memory", "pids")
_MANAGERS = ("cgroupfs", "systemd")
_KERNEL = Path("/sys/fs/cgroup")
_TRIES = 5
_VANISHED = "locating image with ID"
Answer = TypeVar("Answer")
_LIMIT_FILES = (
    ("memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes", "pids/cgroup.procs", "cpu/cpu.cfs_quota_us"),
    ("*/memory.max", "*/memory.swap.max", "*/pids.max", "*/cpu.max"),
)
"""Of version 1, where each controller has a folder; of version 2, where they are in every group but the first."""


def _undisturbed(ask: Callable[[], Answer]) -> Answer:
    """Asked again where another image is removed meanwhile: Podman looks through all, and fails at one that went."""
    for _ in range(_TRIES):
        try:
            return ask()
        except RunFault as fault:
            if _VANISHED not in fault.reason:
                raise
    return ask()


class PodmanEngine(DockerEngine):
    """Keeps the promises of ``Engine`` with a client of Podman's service."""

    name = PodmanRow.name

    _told: PodmanJson | None = None

    def about(self) -> PodmanJson:
        """What Podman says of itself, in its own words.

        Asked once at most: it looks up the packages of all its programs, which takes longer than a container's start.
        """
        if self._told is None:
            self._told = self._asked()
        return self._told

    def _asked(self) -> PodmanJson:
        with asking("telling about itself"):
            response = self.client.api.get(
                f"{self.client.api.base_url}/v4.0.0/libpod/info", timeout=self.client.api.timeout
            )
            response.raise_for_status()
            told: PodmanJson = response.json()
        return told

    def facts(self) -> EngineFacts:
        return self._started_facts or self.asked_facts()

    @cached_property
    def _started_facts(self) -> EngineFacts | None:
        """What is known without asking of a service of root's, whose runtime we have named; None of any other."""
        runtime = named_runtime()
        if runtime is None or os.environ.get("_CONTAINERS_USERNS_CONFIGURED") or not may_enter_namespaces():
            return None
        with asking("telling its version"):
            told = self.client.api.get(f"{self.client.api.base_url}/_ping", timeout=self.client.api.timeout)
        said = subprocess.run([runtime, "--version"], capture_output=True, text=True, check=False).stdout
        return EngineFacts(
            name=self.name,
            version=told.headers.get("Libpod-API-Version"),
            runtime=said.partition("\n")[0] or None,
            cgroups="1",
            rootless=False,
        )

    def asked_facts(self) -> EngineFacts:
        """The same of any service, in Podman's own words."""
        told = self.about()
        runtime = told["host"].get("ociRuntime", {})
        return EngineFacts(
            name=self.name,
            version=told.get("version", {}).get("Version"),
            runtime=(runtime.get("version") or runtime.get("name") or "").partition("\n")[0] or None,
            cgroups=told["host"].get("cgroupVersion", "").lstrip("v") or None,
            rootless=bool(told["host"].get("security", {}).get("rootless")),
        )

    def require_limits(self) -> None:
        if missing := self.not_limited():
            raise OrganiserFault(
                f"this Podman does not keep limits ({', '.join(missing)}); "
                "without root it needs cgroup v2 with delegation, see docs/engines.md"
            )
        self.hand_down()

    def hand_down(self) -> None:
        """Without root and systemd nobody else gives the groups below ours what was handed to ours; or a refusal."""
        if not self.facts().rootless or os.environ.get("CONTAINER_HOST"):
            return
        if self.about()["host"].get("cgroupManager") == "cgroupfs":
            control_root()

    def not_limited(self) -> list[str]:
        """The limits that this Podman would not keep."""
        if self._started_facts is not None and shown(_KERNEL):
            return []
        ours = not os.environ.get("CONTAINER_HOST")
        return not_limited(self.about(), _KERNEL if ours else None, lambda: told_facts(self.client))

    def remove_leftovers(self) -> int:
        return super().remove_leftovers() + remove_folders()

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        found = _undisturbed(partial(super().find_image, self._here(reference), limits))
        return found.model_copy(update={"reference": reference})

    def image_id(self, name: str) -> str | None:
        local = None if name.startswith("sha256:") else self._id(f"localhost/{name}")
        return local or self._id(name)

    def _id(self, name: str) -> str | None:
        """None too for one that somebody removes just now, which Podman calls a fault of its own."""
        from docker.errors import APIError

        try:
            return super().image_id(name)
        except APIError as fault:
            if "not known" in str(fault.explanation):
                return None
            raise

    def build_image(self, name: str, files: Mapping[str, str | bytes], marks: Mapping[str, str]) -> str:
        return _undisturbed(partial(super().build_image, f"localhost/{name}", files, marks))

    def remove_image(self, name: str) -> None:
        super().remove_image(self._here(name))

    def _here(self, reference: str) -> str:
        """What was built or loaded here without a registry's name is kept under ``localhost``."""
        if reference.startswith("sha256:"):
            return reference
        local = f"localhost/{reference}"
        return local if self._id(local) is not None else reference

    def no_network(self) -> Isolation | None:
        if not may_enter_namespaces():
            return None
        return Isolation("no network; entered through its name space", "none", _namespace_door)

    def own_network(self, marks: dict[str, str]) -> AbstractContextManager[Isolation]:
        if self.facts().rootless:
            raise OrganiserFault(
                "Podman without root has no network that could be entered; it runs batch programs only"
            )
        return super().own_network(marks)

    def folders(
        self, notes: bytes, output_bytes: int, limits: RunLimits, marks: dict[str, str]
    ) -> AbstractContextManager[BatchFolders]:
        return folders(self.client, notes, output_bytes, limits, marks, PodmanFolderMaker(self.client, marks))

    def sandbox(
        self, image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts, log: LogWatch
    ) -> "AbstractContextManager[Sandbox]":
        return sandbox(self.client, image, limits, marks, network, mounts, log)


def _namespace_door(box: Any) -> Door:
    number = box.process()
    descriptor = None if number is None else open_namespace(f"/proc/{number}/ns/net")
    if descriptor is None:
        raise CannotEnter
    return NamespaceDoor(descriptor)


def holder(client: "DockerClient") -> str:
    """The name of the image of one program that waits for ever, built if it is not there."""
    from docker.errors import ImageNotFound

    with asking("looking for the holder image"):
        try:
            client.api.inspect_image(_HOLDER)
        except ImageNotFound:
            program = waiting_program(client.version()["Arch"])
            build_image(client, _HOLDER, {"hold": program, "Dockerfile": 'FROM scratch\nCOPY hold /\nCMD ["/hold"]\n'})
    return _HOLDER


class PodmanFolderMaker(FolderMaker):
    """Makes the volumes and their holder on Podman."""

    def volume(self, name: str, size: int, options: str) -> Any:
        return memory_volume(self.client, name, size, f"{options},noexec", self.marks)

    def holder(self, inside: str, outside: str) -> Any:
        options = ["noexec", "nosuid", "nodev"]
        spec = {
            "image": holder(self.client),
            "netns": {"nsmode": "none"},
            "cap_drop": ["ALL"],
            "no_new_privileges": True,
            "seccomp_profile_path": str(SECCOMP),
            "user": "65534:65534",
            "read_only_filesystem": True,
            "resource_limits": {"memory": {"limit": 8 << 20, "swap": 8 << 20}, "pids": {"limit": _HOLDER_PROCESSES}},
            "r_limits": resource_limits(64),
            "volumes": [
                {"Name": inside, "Dest": INPUT, "Options": ["rw", *options]},
                {"Name": outside, "Dest": OUTPUT, "Options": ["ro", *options]},
            ],
            "stop_signal": 9,
            "labels": self.marks,
        }
        made = created(self.client, spec)
        made.get_archive = partial(_archive, made)
        return made


class ArchiveStream:
    """A file on its way out. Podman gives the connection up with it; it is closed also where it is not read."""

    def __init__(self, response: Any) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._response.iter_content(1 << 16))

    def close(self) -> None:
        self._response.close()


def _archive(container: Any, path: str) -> tuple[ArchiveStream, PodmanJson]:
    """As ``Container.get_archive`` gives it."""
    from docker.errors import NotFound

    api = container.client.api
    place = f"{api.base_url}/v{api.api_version}/containers/{container.id}/archive"
    response = api.get(place, params={"path": path}, stream=True, timeout=api.timeout)
    if not response.ok:
        response.close()
        if response.status_code == 404:
            raise NotFound(path)
        response.raise_for_status()
    return ArchiveStream(response), json.loads(b64decode(response.headers["X-Docker-Container-Path-Stat"]))


def not_limited(about: Mapping[str, Any], kernel: Path | None, asked: Callable[[], Mapping[str, Any]]) -> list[str]:
    """The limits that Podman would not keep, by what it says in its own words and what the kernel has.

    Where the kernel, whose control groups are at ``kernel`` if they can be seen from here, does not show them all,
    Podman is ``asked`` in Docker's words, which takes long.
    """
    host = about["host"]
    if not host.get("security", {}).get("rootless"):
        seen = kernel is not None and host.get("cgroupManager") in _MANAGERS and shown(kernel)
        return [] if seen else unenforced(asked())
    if host.get("cgroupVersion") != "v2":
        return ["cgroup v1 without root"]
    return [name for name in _NEEDED if name not in (host.get("cgroupControllers") or ())]


def shown(kernel: Path) -> bool:
    """Whether there are limits of memory, swap, processes and CPU, in either version of control groups."""
    return any(all(any(kernel.glob(file)) for file in files) for files in _LIMIT_FILES)


def examine_engine(engine: PodmanEngine) -> Iterator[Finding]:
    """The Podman that answers, and whether it does what it is told."""
    found = engine.facts()
    way = "without root" if found.rootless else "as root"
    yield Finding("engine", "ok", f"Podman {found.version} {way}, {found.runtime}, cgroup v{found.cgroups}")
    missing = engine.not_limited()
    yield Finding(
        "limits known",
        "fault" if missing else "ok",
        f"does not keep {', '.join(missing)}" if missing else "memory, swap, processes, CPU",
        "without root it needs cgroup v2 with delegation" if missing else None,
    )
    if missing:
        return
    inside = may_enter_namespaces()
    yield Finding(
        "isolation",
        "ok" if inside else "note",
        "containers without a network, entered by us" if inside else "batch programs only, or a network for each",
        None if inside else "run as root to do without any network",
    )
    yield Finding("leftovers", "ok", f"{engine.remove_leftovers()} removed")
    try:
        engine.hand_down()
        yield _in_force(engine)
    except (RunFault, OrganiserFault) as fault:
        yield Finding("limits in force", "fault", "a container was not limited as it should be", str(fault))


def _in_force(engine: PodmanEngine) -> Finding:
    """Start a program that does nothing, under the usual limits, and look at what the kernel says of it."""
    limits = preset("strict")
    image = ImageFacts(reference="holder", id=holder(engine.client), size_bytes=0)
    with engine.sandbox(image, limits, labels("doctor", 60), "none", {}, LogWatch(0)) as box:
        found = limits_in_force(box)
    if found is None:
        return Finding("limits in force", "note", "the container's processes cannot be seen from here")
    told = (
        f"{found.memory_bytes} bytes, {found.cpus:g} CPU, {found.processes} processes; no rights, our filter of calls"
    )
    return Finding("limits in force", "ok", told)
