"""The Docker engine: reaching it, and turning its refusals into outcomes."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.records.run_record import EngineFacts, Outcome, RunFault

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

USUAL_SOCKET = Path("/var/run/docker.sock")


def close_refused_connections() -> None:
    """docker-py forgets the socket of a connection that was refused, and the interpreter then complains of it."""
    from docker.transport import unixconn

    if unixconn.UnixHTTPConnection.__module__ != unixconn.__name__:
        return

    class ClosedConnection(unixconn.UnixHTTPConnection):  # type: ignore[misc]
        def connect(self) -> None:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.settimeout(self.timeout)
                sock.connect(self.unix_socket)
            except BaseException:
                sock.close()
                raise
            self.sock = sock

    unixconn.UnixHTTPConnection = ClosedConnection


@contextmanager
def docker_client(seconds: float = 120.0) -> Iterator["DockerClient"]:
    """A client of the engine that the environment names, closed afterwards."""
    try:
        import docker
    except ImportError:
        raise InfrastructureFault("running containers needs the docker package: pip install 'sandscore[run]'") from None
    close_refused_connections()
    address = engine_address()
    _require_listening(address.url)
    try:
        if "DOCKER_HOST" in os.environ:
            client = docker.from_env(timeout=seconds)
        else:
            client = docker.DockerClient(base_url=address.url, tls=address.tls or False, timeout=seconds)
        client.ping()
    except docker.errors.DockerException:
        raise nobody(address.url) from None
    with client_closed(client):
        yield client


class EngineAddress(Struct, frozen=True):
    """Where an engine is, and with which certificates it is spoken to."""

    url: str
    tls: Any = None


def engine_address() -> EngineAddress:
    """What DOCKER_HOST says, else the docker command's context, else the first socket of those that engines make."""
    if host := os.environ.get("DOCKER_HOST"):
        return EngineAddress(host)
    if found := _context():
        return found
    sockets = [USUAL_SOCKET, *(path / "docker.sock" for path in _own_folders())]
    there = next((path for path in sockets if path.is_socket()), sockets[0])
    return EngineAddress(f"unix://{there}")


def docker_absent() -> str | None:
    """Why there is no Docker engine, as the end of a sentence; None where one is, or could be started."""
    if _is_named() or shutil.which("dockerd") is not None or find_spec("docker") is None:
        return None
    scheme, _, path = engine_address().url.partition("://")
    if scheme != "unix" or Path(path).exists():
        return None
    return f"there is none on this machine: no socket at {path} (Debian: apt-get install docker.io)"


def docker_ready() -> bool:
    """Whether one is named by the environment, or listens at its local socket."""
    if _is_named():
        return True
    if find_spec("docker") is None:
        return False
    try:
        _require_listening(engine_address().url)
    except InfrastructureFault:
        return False
    return True


def _is_named() -> bool:
    return bool(os.environ.get("DOCKER_HOST") or os.environ.get("DOCKER_CONTEXT"))


def _context() -> EngineAddress | None:
    """The context that ``docker context use`` or DOCKER_CONTEXT chose; None where it is the default one."""
    from docker.context import ContextAPI
    from docker.errors import DockerException

    name = os.environ.get("DOCKER_CONTEXT")
    try:
        context = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
    except (DockerException, OSError, ValueError) as fault:
        raise InfrastructureFault(f"the docker command's context cannot be read: {fault}") from None
    if context is None and name:
        raise InfrastructureFault(f"DOCKER_CONTEXT is '{name}', and there is no such context: docker context ls")
    if context is None or context.name == "default" or not context.Host:
        return None
    return EngineAddress(context.Host, context.TLSConfig)


def _own_folders() -> Iterator[Path]:
    """Where engines without root (Linux) and Docker Desktop (macOS, Linux) make their sockets."""
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(runtime)
    home = Path.home() / ".docker"
    yield from (home / "run", home / "desktop")


def nobody(address: str) -> InfrastructureFault:
    return InfrastructureFault(
        f"no Docker engine answers at {address}; start one (Debian: apt-get install docker.io) or set DOCKER_HOST"
    )


def _require_listening(address: str) -> None:
    """Somebody listens on the engine's local socket, and lets us; engines elsewhere are asked by their client."""
    scheme, _, path = address.partition("://")
    if scheme != "unix":
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except PermissionError:
            raise InfrastructureFault(
                f"permission denied on the socket {path}: there is a Docker engine, and it is not this account's to "
                "use; join the group docker, or name an engine of your own: DOCKER_HOST=unix://…"
            ) from None
        except OSError:
            raise nobody(address) from None


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


def engine_facts(name: str, info: Mapping[str, Any]) -> EngineFacts:
    """The same, as run.json has it."""
    return EngineFacts(
        name=name,
        version=info.get("ServerVersion"),
        runtime=info.get("DefaultRuntime"),
        cgroups=info.get("CgroupVersion", "1"),
        rootless="name=rootless" in (info.get("SecurityOptions") or ()),
    )


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
