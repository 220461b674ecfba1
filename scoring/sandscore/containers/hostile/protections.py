"""The protections between a submission and the host, looked at from both sides in one container.

From within, a script tries each protection and says what it got. From outside, the kernel of the host is asked whose
the processes are, what they may do, and which name spaces, mounts and limits they have. Either side is enough to fail
the case that names the protection.
"""

import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path

from msgspec import Struct

from sandscore.containers.engines.engine_protocol import INPUT, OUTPUT, Engine, labels
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.process_view import Mount, ProcessView, capability_mask, is_socket, own_view
from sandscore.containers.run_context import Isolated
from sandscore.records.run_record import ImageFacts, RunFault, RunLimits

Complaints = dict[str, list[str]]
"""By the case that names the protection."""
_DONE = b"LOOKED-AT"
_PATIENCE, _POLL_SECONDS = 60.0, 0.02
_VARIABLES = {"PATH", "HOME", "TMPDIR", "HOSTNAME", "ATTACK", "PWD", "OLDPWD", "SHLVL", "_", "container"}
_METADATA = IPv4Address("169.254.169.254")


class Looked(Struct, frozen=True):
    """A container, its processes as the host sees them, and what was asked for."""

    limits: RunLimits
    image: ImageFacts
    process: ProcessView
    host: ProcessView

    @property
    def status(self) -> list[dict[str, str]]:
        return [one.status for one in self.process.together]


def inspect(
    engine: Engine, image: ImageFacts, limits: RunLimits, targets: Iterable[str], isolation: Isolated = "best"
) -> Complaints:
    """What is not as it must be in a container of the image, which is removed afterwards."""
    marks = labels(f"attack-{os.getpid()}-protections", limits.total_seconds)
    found: Complaints = defaultdict(list)
    log = LogWatch(64 << 10)
    with ExitStack() as stack:
        alone = engine.no_network() if isolation == "best" else None
        network = (alone or stack.enter_context(engine.own_network(marks))).network
        told = _told(limits, image, targets).encode()
        folders = stack.enter_context(engine.folders(told, limits.output_size(0), limits, marks))
        box = stack.enter_context(engine.sandbox(image, limits, marks, network, folders.mounts, log))
        _wait(box)
        _from_outside(found, limits, image, box)
    for line in log.tail.decode(errors="replace").splitlines():
        _, mark, rest = line.partition("ESCAPED: ")
        case, _, complaint = rest.partition(": ")
        if mark:
            found[case].append(complaint)
    return found


def _told(limits: RunLimits, image: ImageFacts, targets: Iterable[str]) -> str:
    """What the script compares with; the addresses it tries."""
    facts = {
        "user": limits.user or "any",
        "rights": f"{capability_mask(limits.capabilities):016x}",
        "scratch": limits.tmp_bytes,
        "executable": limits.tmp_executable,
        "shared": limits.shared_memory_bytes,
        "memory": limits.memory_bytes,
        "quota": int(limits.cpus * 100_000),
        "processes": limits.processes,
        "files": limits.open_files,
    }
    places = [f"place={place}" for place in scratch_places(image)]
    return " ".join([*(f"{key}={value}" for key, value in facts.items()), *places, *(f"target={t}" for t in targets)])


def scratch_places(image: ImageFacts) -> list[str]:
    """Where a container may write."""
    return ["/tmp", *image.volumes]  # noqa: S108 (the container's own)


def _wait(box: Sandbox) -> None:
    """Until the script has tried everything."""
    deadline = time.monotonic() + _PATIENCE
    while _DONE not in box.log.tail:
        box.require_well()
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(_POLL_SECONDS)


def _from_outside(found: Complaints, limits: RunLimits, image: ImageFacts, box: Sandbox) -> None:
    number = box.process()
    for case, look in OUTSIDE.items():
        if number is None:
            found[case].append("its processes cannot be seen from here; attack from the engine's own host")
            continue
        try:
            found[case] += look(Looked(limits, image, ProcessView(number), own_view()))
        except OSError as fault:
            found[case].append(f"the host does not let us see it ({fault.strerror}); attack as root")


def _user(seen: Looked) -> Iterator[str]:
    if seen.limits.user is None:
        return
    inside = seen.limits.user.split(":")
    user = _on_host(seen.process.mapped("uid"), inside[0], os.geteuid())
    group = _on_host(seen.process.mapped("gid"), inside[1], os.getegid())
    for one in seen.status:
        if set(one["Uid"].split()) != {user} or set(one["Gid"].split()) != {group}:
            yield f"a process runs as user {one['Uid'].split()[1]}, group {one['Gid'].split()[1]}"
        if not set(one["Groups"].split()) <= {group}:
            yield f"a process is in the groups {one['Groups']}"


def _on_host(mapped: list[str], wanted: str, own: int) -> str:
    """Whom the host sees. An engine without root has containers of our own account, which is somebody else inside."""
    return str(own) if own and mapped == [wanted, str(own), "1"] else wanted


def _root(seen: Looked) -> Iterator[str]:
    for mount in seen.process.mounts:
        if mount.place in ("/", *_ENGINE_FILES) and "ro" not in mount.options:
            yield f"{mount.place} is mounted for writing"


def _apart(kind: str, what: str) -> Callable[[Looked], Iterator[str]]:
    def look(seen: Looked) -> Iterator[str]:
        if seen.process.name_space(kind) == seen.host.name_space(kind):
            yield f"it shares {what} of the host"

    return look


def _users_apart(seen: Looked) -> Iterator[str]:
    spaces = {one.name_space("user") for one in seen.process.together}
    if len(spaces) > 1:
        yield "a process has a name space of users of its own"


def _no_way_out(seen: Looked) -> Iterator[str]:
    if any(mask == 0 for _, mask in seen.process.routes):
        yield "it has a route to everywhere"


def _no_way_to_metadata(seen: Looked) -> Iterator[str]:
    if any(int(_METADATA) & mask == destination for destination, mask in seen.process.routes):
        yield f"it has a route to {_METADATA}"


def _capabilities(seen: Looked) -> Iterator[str]:
    allowed = capability_mask(seen.limits.capabilities)
    for one in seen.status:
        for key in ("CapBnd", "CapPrm", "CapEff", "CapInh", "CapAmb"):
            if int(one[key], 16) & ~allowed:
                yield f"{key} is {one[key]}"


def _told_by_status(key: str, wanted: str) -> Callable[[Looked], Iterator[str]]:
    def look(seen: Looked) -> Iterator[str]:
        if wrong := [one.get(key, "unknown") for one in seen.status if one.get(key) != wanted]:
            yield f"{key} is {wrong[0]}"

    return look


def _scratch(seen: Looked) -> Iterator[str]:
    wanted = dict.fromkeys(scratch_places(seen.image), seen.limits.tmp_bytes)
    for place, most in {**wanted, "/dev/shm": seen.limits.shared_memory_bytes}.items():  # noqa: S108 (the container's)
        kept = os.statvfs(seen.process.inside(place))
        if kept.f_blocks * kept.f_frsize > -(-most // kept.f_frsize) * kept.f_frsize:
            yield f"{place} has room for {kept.f_blocks * kept.f_frsize:,} bytes"
        if place in wanted and kept.f_files > seen.limits.tmp_files:
            yield f"{place} has room for {kept.f_files:,} files"


def _not_run(seen: Looked) -> Iterator[str]:
    for place in scratch_places(seen.image):
        flags = os.statvfs(seen.process.inside(place)).f_flag
        if not flags & os.ST_NOEXEC and not seen.limits.tmp_executable:
            yield f"programs in {place} may be run"
        if not (flags & os.ST_NOSUID and flags & os.ST_NODEV):
            yield f"{place} takes devices or programs that change their user"


def _memory(seen: Looked) -> Iterator[str]:
    yield from _exactly(seen, seen.limits.memory_bytes, "memory", "memory.max", "memory.limit_in_bytes")
    swap = seen.process.limit("memory", "memory.swap.max", "memory.memsw.limit_in_bytes")
    if swap not in (None, "0", str(seen.limits.memory_bytes)):
        yield f"memory and swap may be {swap}"


def _processes(seen: Looked) -> Iterator[str]:
    yield from _exactly(seen, seen.limits.processes, "pids", "pids.max")


def _exactly(seen: Looked, wanted: int, controller: str, *names: str) -> Iterator[str]:
    said = seen.process.limit(controller, *names)
    if said != str(wanted):
        yield f"its cgroup has the limit {said or 'that cannot be read'}"


def _cpu(seen: Looked) -> Iterator[str]:
    said = seen.process.limit("cpu", "cpu.max", "cpu.cfs_quota_us")
    quota, _, period = (said or "none").partition(" ")
    period = period or seen.process.limit("cpu", "cpu.cfs_period_us") or "0"
    if not quota.isdigit() or int(quota) != round(seen.limits.cpus * int(period)):
        yield f"its cgroup has the quota {quota} in {period} microseconds"


def _open_files(seen: Looked) -> Iterator[str]:
    for one in seen.process.together:
        if one.open_files != str(seen.limits.open_files):
            yield f"a process may open {one.open_files} files"


_ENGINE_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
_ALLOWED_FILES = (*_ENGINE_FILES, "/sbin/docker-init", "/dev/init", "/run/podman-init", "/run/.containerenv")
_HARMLESS_DEVICES = {
    "/dev/null": (1, 3),
    "/dev/zero": (1, 5),
    "/dev/full": (1, 7),
    "/dev/random": (1, 8),
    "/dev/urandom": (1, 9),
    "/dev/tty": (5, 0),
}
"""The kernel's own, with nothing behind them: who may make no devices mounts those of the host."""
_KERNEL_PLACES = {
    "proc": "/proc",
    "sysfs": "/sys",
    "cgroup": "/sys/fs/cgroup",
    "cgroup2": "/sys/fs/cgroup",
    "mqueue": "/dev/mqueue",
    "devpts": "/dev",
}


def _host_mounts(seen: Looked) -> list[Mount]:
    """What the container has of the host's file systems, beside its own root and what every container has."""
    shared = {mount.device for mount in seen.host.mounts}
    return [m for m in seen.process.mounts if not _ordinary(m, seen) and (m.device in shared or m.kind != "tmpfs")]


def _ordinary(mount: Mount, seen: Looked) -> bool:
    if mount.place == "/":
        return True
    if mount.place in _HARMLESS_DEVICES:
        found = seen.process.inside(mount.place).stat()
        device = (os.major(found.st_rdev), os.minor(found.st_rdev))
        return stat.S_ISCHR(found.st_mode) and device == _HARMLESS_DEVICES[mount.place]
    if mount.place in _ALLOWED_FILES:
        return seen.process.inside(mount.place).is_file()
    if mount.place in (INPUT, OUTPUT, "/dev/shm", *scratch_places(seen.image)):  # noqa: S108 (the container's own)
        return mount.kind == "tmpfs"
    below = _KERNEL_PLACES.get(mount.kind)
    return below is not None and f"{mount.place}/".startswith(f"{below}/")


def _folders(seen: Looked) -> Iterator[str]:
    for mount in _host_mounts(seen):
        if not is_socket(seen.process.inside(mount.place)):
            yield f"{mount.place} is {mount.root} of the host ({mount.kind})"


_MOST_ENTRIES = 20_000


def _sockets(seen: Looked) -> Iterator[str]:
    left = _MOST_ENTRIES
    for mount in seen.process.mounts:
        if is_socket(seen.process.inside(mount.place)):
            yield f"a socket of the host is at {mount.place}"
    for mount in _host_mounts(seen):
        for folder, _, names in os.walk(seen.process.inside(mount.place)):
            left -= len(names)
            sockets = [name for name in names if is_socket(Path(folder) / name)]
            if sockets:
                yield f"there is a socket of the host under {mount.place}: {sockets[0]}"
            if left < 0 or sockets:
                break


def _environment(seen: Looked) -> Iterator[str]:
    for one in seen.process.together:
        if more := sorted(one.environment.keys() - _VARIABLES):
            yield f"a process is given the variable {more[0]}"


OUTSIDE: dict[str, Callable[[Looked], Iterator[str]]] = {
    "root-user": _user,
    "writable-root": _root,
    "host-processes": _apart("pid", "the processes"),
    "host-ipc": _apart("ipc", "the memory between processes"),
    "host-network": _apart("net", "the network"),
    "user-namespaces": _users_apart,
    "reaches-internet": _no_way_out,
    "reaches-metadata": _no_way_to_metadata,
    "capabilities": _capabilities,
    "new-privileges": _told_by_status("NoNewPrivs", "1"),
    "system-calls": _told_by_status("Seccomp", "2"),
    "scratch-size": _scratch,
    "own-programs": _not_run,
    "memory-limit": _memory,
    "process-limit": _processes,
    "cpu-limit": _cpu,
    "file-limit": _open_files,
    "host-folders": _folders,
    "engine-socket": _sockets,
    "environment": _environment,
}
"""What the host is asked, by the case that names the protection."""


def explained(fault: RunFault | TimeoutError) -> str:
    """Why there was nothing to look at."""
    return fault.reason if isinstance(fault, RunFault) else f"it was not done within {_PATIENCE:g} s"
