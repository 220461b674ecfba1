"""The doctor's look at a Docker engine: the limits that are really in force, its disk, what was left behind."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandscore.containers.engines.docker.cleanup import remove_leftovers
from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.engines.docker.docker_engine import asking, facts, unenforced
from sandscore.containers.engines.docker.tmpfs_image import holder_image
from sandscore.containers.engines.engine_protocol import labels
from sandscore.containers.host_checks import Finding
from sandscore.containers.run_context import preset
from sandscore.containers.transports import may_enter_namespaces
from sandscore.records.run_record import ImageFacts, RunFault

_ROOM_BYTES = 5 << 30


def examine_engine(client: Any) -> Iterator[Finding]:
    """The engine that answers, and whether it does what it is told."""
    info = facts(client)
    yield Finding("engine", "ok", f"Docker {info.get('ServerVersion')}, cgroup v{info.get('CgroupVersion', '1')}")
    ignored = unenforced(info)
    yield Finding(
        "limits known",
        "fault" if ignored else "ok",
        f"ignores {', '.join(ignored)}" if ignored else "memory, swap, processes, CPU",
        "a rootless engine needs cgroup v2 with delegation" if ignored else None,
    )
    if sys.platform != "linux":
        yield Finding("isolation", "fault", "containers cannot be reached", "run on the engine's own host, a Linux")
        return
    inside = may_enter_namespaces()
    yield Finding(
        "isolation",
        "ok" if inside else "note",
        "containers without a network, entered by us" if inside else "an internal network for each container",
        None if inside else "run as root on the engine's host to do without any network",
    )
    yield _room(info)
    yield Finding("leftovers", "ok", f"{remove_leftovers(client)} removed")
    try:
        yield from _in_force(client)
    except RunFault as fault:
        yield Finding("limits in force", "fault", "a container could not be started", fault.reason)


def _room(info: Mapping[str, Any]) -> Finding:
    folder = info.get("DockerRootDir", "/")
    if not Path(folder).is_dir():
        return Finding("disk", "note", f"{folder} cannot be seen from here")
    free = shutil.disk_usage(folder).free
    advice = None if free > _ROOM_BYTES else "docker image prune, or a larger disk"
    return Finding("disk", "note" if advice else "ok", f"{free >> 30} GB free for images", advice)


def _in_force(client: Any) -> Iterator[Finding]:
    """Start a program that does nothing, under the usual limits, and look at what the kernel says of it."""
    limits = preset("strict")
    image = ImageFacts(reference="holder", id=holder_image(client), size_bytes=0)
    with asking("starting a container"):
        container = client.containers.run(
            detach=True, **container_arguments(image, limits, labels("doctor", 60), "none", {})
        )
        try:
            container.reload()
            process = Path("/proc") / str(container.attrs["State"]["Pid"])
            yield from _kernel_says(process, limits.memory_bytes)
        finally:
            container.remove(force=True, v=True)


def _kernel_says(process: Path, memory_bytes: int) -> Iterator[Finding]:
    try:
        lines = (process / "status").read_text(encoding="ascii", errors="replace").splitlines()
        groups = (process / "cgroup").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        yield Finding("limits in force", "note", "the container's processes cannot be seen from here")
        return
    said = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    wanted = {"Seccomp": "2", "NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16}
    wrong = [key for key, value in wanted.items() if said.get(key) != value]
    shown = f"not in force: {', '.join(wrong)}" if wrong else "no rights, our system call filter"
    yield Finding("rights in force", "fault" if wrong else "ok", shown)
    limit = _memory_limit(groups)
    if limit is None:
        yield Finding("memory in force", "note", "the memory limit cannot be read from here")
    else:
        good = limit == str(memory_bytes)
        yield Finding("memory in force", "ok" if good else "fault", f"{limit} bytes in the container's cgroup")


def _memory_limit(groups: list[str]) -> str | None:
    root = Path("/sys/fs/cgroup")
    for line in groups:
        _, controllers, path = line.split(":", 2)
        names = ("memory/" + path.lstrip("/") + "/memory.limit_in_bytes", path.lstrip("/") + "/memory.max")
        for name in names if controllers in ("", "memory") else ():
            if os.access(root / name, os.R_OK):
                return (root / name).read_text(encoding="ascii").strip()
    return None
