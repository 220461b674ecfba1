"""The Docker engine: reaching it, and turning its refusals into outcomes."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.records.run_record import Outcome, RunFault

if TYPE_CHECKING:
    from docker import DockerClient

ENFORCED = ("MemoryLimit", "SwapLimit", "PidsLimit", "CpuCfsQuota")
"""What the engine must be able to limit before anything hostile is run on it."""

_STARTS = 4
_LOST_STARTS = (
    "cannot start a stopped process",
    "cannot start an already running container",
    "container process is already dead",
)
"""What runc and containerd say when a start loses a race between the two of them (docker/for-linux, issue 647): the
engine takes the container down, calls it created again, and the next start succeeds. About 1 in 300 with runc 1.1."""

_NO_GPU = ("could not select device driver", "nvidia-container-cli")
"""What a start says that was asked for graphics processors where there are none, or not so many."""


@contextmanager
def docker_client(seconds: float = 120.0) -> Iterator["DockerClient"]:
    """A client of the engine that the environment names, closed afterwards."""
    try:
        import docker
    except ImportError:
        raise InfrastructureFault("running containers needs the docker package: pip install 'sandscore[run]'") from None
    nobody = InfrastructureFault(
        "no Docker engine answers; start one (Debian: apt-get install docker.io) or set DOCKER_HOST"
    )
    if not _socket_answers():
        raise nobody
    try:
        client = docker.from_env(timeout=seconds)
        client.ping()
    except docker.errors.DockerException:
        raise nobody from None
    with client_closed(client):
        yield client


def _socket_answers() -> bool:
    """Whether somebody listens on the engine's local socket; engines elsewhere are asked by their client."""
    scheme, _, path = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").partition("://")
    if scheme != "unix":
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


@contextmanager
def client_closed(client: "DockerClient") -> Iterator[None]:
    try:
        yield
    finally:
        client.close()


@contextmanager
def asking(doing: str, theirs: str | None = None) -> Iterator[None]:
    """Around calls of the engine: its faults end the run as ours, but for a refusal of what is ``theirs``."""
    import requests.exceptions
    from docker.errors import APIError, DockerException

    try:
        yield
    except (DockerException, requests.exceptions.RequestException) as fault:
        refused = isinstance(fault, APIError) and fault.status_code is not None and fault.status_code < 500
        if theirs and refused:
            raise RunFault(Outcome.CRASHED, f"{theirs}: {explained(fault)}") from None
        raise RunFault(Outcome.INFRASTRUCTURE, f"the engine failed while {doing}: {explained(fault)}") from None


def started(container: Any, attach: Callable[[], None]) -> None:
    """Attach to a container and start it; once more where the runtime lost the start before anything ran."""
    from docker.errors import APIError

    for left in reversed(range(_STARTS)):
        attach()
        try:
            container.start()
            return
        except APIError as fault:
            said = explained(fault)
            if any(words in said for words in _NO_GPU):
                raise OrganiserFault(f"this engine has no such graphics processors to hand on: {said}") from None
            if not (left and any(words in said for words in _LOST_STARTS)):
                raise


def explained(fault: Exception) -> str:
    """One line of what the engine said."""
    told = getattr(fault, "explanation", None) or type(fault).__name__
    return " ".join(str(told).split())[:300]


def facts(client: "DockerClient") -> dict[str, Any]:
    """What the engine says about itself."""
    with asking("telling about itself"):
        info: dict[str, Any] = client.info()
        return info


def unenforced(info: Mapping[str, Any]) -> list[str]:
    """The limits this engine would silently ignore."""
    missing = [name for name in ENFORCED if not info.get(name)]
    if info.get("CgroupDriver") == "none":
        missing.append("CgroupDriver")
    return missing


def require_limits(info: Mapping[str, Any]) -> None:
    """Refuse an engine that ignores limits: a score made without them would not be comparable."""
    if missing := unenforced(info):
        raise OrganiserFault(
            f"this Docker engine ignores limits ({', '.join(missing)}); "
            "rootless engines need cgroup v2 with delegation, see docs/containers.md"
        )
