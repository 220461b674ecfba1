"""Podman's service: reached at a socket that somebody keeps open, or started for as long as it is needed.

Podman has no daemon. A service of our own ends with the process that started it, by its own will or the kernel's; the
containers that it made are found by their labels, as everybody's are.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sandscore.base.errors import InfrastructureFault
from sandscore.base.process_identity import gone, own_name
from sandscore.containers.engines.docker.docker_engine import client_closed, close_refused_connections

if TYPE_CHECKING:
    from docker import DockerClient

_START_SECONDS = 30.0
_WORDS = "1.41"
"""The version of Docker's interface that is spoken. Asked which it has, Podman would look up the packages of all the
programs it uses, which takes longer than the start of a container."""
_FOLDER, _OWNER = "sandscore-podman-", "owner"
_DIES_WITH_PARENT = 1
_INSTALL = "Debian: apt-get install podman runc catatonit"


def podman_absent() -> str | None:
    """Why there is no Podman, as the end of a sentence."""
    if shutil.which("podman") is not None or os.environ.get("CONTAINER_HOST"):
        return None
    return f"there is no program podman on this machine ({_INSTALL})"


@contextmanager
def podman_client(seconds: float) -> Iterator["DockerClient"]:
    """A client of the service that CONTAINER_HOST names, else of one of our own."""
    try:
        import docker
    except ImportError:
        raise InfrastructureFault("running containers needs the docker package: pip install 'sandscore[run]'") from None
    close_refused_connections()
    with _address() as address:
        _require_listening(address)
        try:
            client = docker.DockerClient(base_url=address, version=_WORDS, timeout=seconds)
            client.ping()
        except docker.errors.DockerException as fault:
            raise InfrastructureFault(f"Podman does not answer at {address}: {fault}") from None
        with client_closed(client):
            yield client


def _require_listening(address: str) -> None:
    if fault := _silence(address.removeprefix("unix://")):
        raise InfrastructureFault(f"no Podman answers at {address}: {fault}")


def _silence(place: str) -> str | None:
    """Why nobody listens at a socket; None where somebody does."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(place)
        except OSError as fault:
            return fault.strerror
    return None


@contextmanager
def _address() -> Iterator[str]:
    if host := os.environ.get("CONTAINER_HOST"):
        if not host.startswith("unix://"):
            raise InfrastructureFault(f"CONTAINER_HOST is {host}; only a Podman of this machine is used: unix://…")
        yield host
        return
    if shutil.which("podman") is None:
        raise InfrastructureFault(f"there is no program podman on this machine ({_INSTALL})")
    with tempfile.TemporaryDirectory(prefix=_FOLDER) as folder:
        (Path(folder) / _OWNER).write_text(own_name(), encoding="utf-8")
        place = Path(folder) / "socket"
        with (Path(folder) / "log").open("w+b") as log:
            service = subprocess.Popen(
                ["podman", *_options(), "system", "service", "--time", "0", f"unix://{place}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "DISABLE_HC_SYSTEMD": "true"},
                start_new_session=True,
                preexec_fn=_tied_to_parent,  # noqa: PLW1509 (one call of the kernel, nothing that could be locked)
            )
            try:
                _await(service, place, Path(folder) / "log")
                yield f"unix://{place}"
            finally:
                _end(service)


def _end(service: "subprocess.Popen[bytes]") -> None:
    """All of it: without root Podman is two processes, of which the first may go before it has told the second."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(service.pid, number)
        with suppress(subprocess.TimeoutExpired):
            service.wait(timeout=10)


def remove_folders() -> int:
    """Of services whose owners were killed; how many that were."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        try:
            owner = (folder / _OWNER).read_text(encoding="utf-8")
        except OSError:
            continue  # it is being made just now, or is somebody else's
        if gone(owner):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _options() -> list[str]:
    """Where there is no systemd, nobody else makes control groups and journals."""
    found = []
    if not Path("/run/systemd/system").is_dir():
        found += ["--cgroup-manager", "cgroupfs", "--events-backend", "file"]
    if (runtime := named_runtime()) is not None:
        found += ["--runtime", runtime]
    return found


def named_runtime() -> str | None:
    """The program that a service of ours is told to start containers with: crun refuses control groups of version 1.

    None where Podman chooses by itself.
    """
    if os.environ.get("CONTAINER_HOST") or Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return None
    return shutil.which("runc")


def _tied_to_parent() -> None:
    """Die when whoever started this dies, even if it is killed."""
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGTERM)


def _await(service: "subprocess.Popen[bytes]", place: Path, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while _silence(str(place)) is not None:
        if service.poll() is not None or time.monotonic() > deadline:
            said = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
            raise InfrastructureFault(f"podman system service does not start: {said or 'it says nothing'}")
        time.sleep(0.01)
