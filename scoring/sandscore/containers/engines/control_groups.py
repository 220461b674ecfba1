"""The kernel's control groups, of version 1 or 2: one for each container, with limits on memory, processes and time.

They are made at the top, where Docker has its own, or below the group of this process where that is all that is ours.
Version 2 keeps processes and groups apart: where ours was handed over whole (``systemd-run --user --scope -p
Delegate=yes``), this process moves into a group beside the containers' first. A group's name says who made it, for the
next start to remove it.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from msgspec import Struct

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.engine_protocol import EXPIRES, OWNER, abandoned
from sandscore.containers.engines.memory_kills import any_counted
from sandscore.containers.engines.sandbox import Usage
from sandscore.records.run_record import RunLimits

NEEDED = ("memory", "pids", "cpu")
_TIME = "cpuacct"
_PREFIX, _OURS = "sandscore.", "sandscore-harness"
_MOUNT = "/sys/fs/cgroup"
_PERIOD = 100_000
_ENDING_SECONDS, _POLL_SECONDS = 5.0, 0.005


class ControlRoot(Struct, frozen=True):
    """Where groups can be made: a folder for each controller, all of them the same one in version 2."""

    version: int
    folders: Mapping[str, Path]

    @property
    def places(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self.folders.values()))

    def group(self, marks: Mapping[str, str], token: str) -> "ControlGroup":
        """A new one; an OrganiserFault where it cannot be made."""
        name = f"{_PREFIX}{quote(marks[OWNER], safe='')}.{marks[EXPIRES]}.{token}"
        made = ControlGroup(self, name)
        try:
            for place in self.places:
                (place / name).mkdir()
        except OSError as fault:
            made.remove()
            raise OrganiserFault(f"{_missing(NEEDED)}: {place} takes no groups of ours ({fault.strerror})") from None
        return made

    def groups(self) -> "Iterator[tuple[dict[str, str], ControlGroup]]":
        """All that runs have made, with the marks of who did."""
        names = {found.name for place in self.places for found in place.glob(f"{_PREFIX}*")}
        for name in sorted(names):
            parts = name.removeprefix(_PREFIX).split(".")
            if len(parts) == 3:
                yield {OWNER: unquote(parts[0]), EXPIRES: parts[1]}, ControlGroup(self, name)

    def remove_leftovers(self) -> int:
        left = [group for marks, group in self.groups() if abandoned(marks)]
        for group in left:
            group.remove()
        return len(left)


class ControlGroup:
    """One container's."""

    def __init__(self, root: ControlRoot, name: str) -> None:
        self._root, self.name = root, name

    def folder(self, controller: str) -> Path:
        return self._root.folders[controller] / self.name

    @property
    def shown(self) -> dict[str, str]:
        """Where a container finds its own groups, and where they are."""
        if self._root.version == 2:
            return {_MOUNT: str(self.folder("memory"))}
        return {f"{_MOUNT}/{controller}": str(self.folder(controller)) for controller in self._root.folders}

    def limit(self, limits: RunLimits) -> None:
        """Put the limits in force; an OrganiserFault where one does not take."""
        quota = int(limits.cpus * _PERIOD)
        memory = str(limits.memory_bytes)
        if self._root.version == 1:
            wanted = [("memory", "memory.limit_in_bytes", memory), ("memory", "memory.memsw.limit_in_bytes", memory)]
            wanted += [("cpu", "cpu.cfs_period_us", str(_PERIOD)), ("cpu", "cpu.cfs_quota_us", str(quota))]
        else:
            wanted = [("memory", "memory.max", memory), ("memory", "memory.swap.max", "0")]
            wanted += [("memory", "memory.oom.group", "0"), ("cpu", "cpu.max", f"{quota} {_PERIOD}")]
        for controller, file, value in [*wanted, ("pids", "pids.max", str(limits.processes))]:
            place = self.folder(controller) / file
            if not place.exists() and ".memsw." in file and not _swaps():
                continue
            try:
                place.write_text(value, encoding="ascii")
            except OSError as fault:
                raise OrganiserFault(f"{_missing([controller])}: {place.name} ({fault.strerror})") from None

    def add(self, process: int) -> None:
        for place in self._root.places:
            (place / self.name / "cgroup.procs").write_text(str(process), encoding="ascii")

    def processes(self) -> list[int]:
        return [int(process) for process in self._read("pids", "cgroup.procs").split()]

    def release(self, process: int) -> None:
        """Back among our own: it is no longer the container's."""
        for place in self._root.places:
            ours = place / _OURS
            with suppress(OSError):
                ((ours if ours.is_dir() else place) / "cgroup.procs").write_text(str(process), encoding="ascii")

    def kill(self) -> None:
        """Whatever is still in it, though its first process has gone."""
        for process in self.processes():
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)

    @property
    def killed_for_memory(self) -> bool:
        """Whether any process in it was."""
        name = "memory.oom_control" if self._root.version == 1 else "memory.events"
        return any_counted(self._read("memory", name))

    @property
    def usage(self) -> Usage:
        if self._root.version == 1:
            spent, unit = self._read(_TIME, "cpuacct.usage"), 1e9
            peak = self._read("memory", "memory.max_usage_in_bytes")
        else:
            lines = dict(line.split()[:2] for line in self._read("cpu", "cpu.stat").splitlines())
            spent, unit = lines.get("usage_usec", ""), 1e6
            peak = self._read("memory", "memory.peak")
        return Usage(int(spent) / unit if spent.strip() else None, int(peak) if peak.strip() else None)

    def remove(self) -> None:
        """Once its last process is gone; what the kernel still holds is found at the next start."""
        deadline = time.monotonic() + _ENDING_SECONDS
        for place in self._root.places:
            folder = place / self.name
            while folder.exists():
                with suppress(OSError):
                    folder.rmdir()
                    break
                if time.monotonic() > deadline:
                    return
                time.sleep(_POLL_SECONDS)

    def _read(self, controller: str, name: str) -> str:
        """Nothing where the kernel has no such file."""
        try:
            return (self.folder(controller) / name).read_text(encoding="ascii")
        except (OSError, KeyError):
            return ""


def control_root(proc: Path = Path("/proc")) -> ControlRoot:
    """Where this process may make groups that limit; an OrganiserFault where it may not."""
    mounts, own = _mounts(proc), _own(proc)
    if all(controller in mounts for controller in NEEDED):
        wanted = (*NEEDED, _TIME) if _TIME in mounts else NEEDED
        found = {controller: _below(mounts[controller], own.get(controller, "/")) for controller in wanted}
        root = ControlRoot(1, found)
    elif "" in mounts:
        place = _below(mounts[""], own.get("", "/"))
        base = place.parent if place.name == _OURS else place
        _hand_down(base, top=base == mounts[""])
        root = ControlRoot(2, dict.fromkeys(NEEDED, base))
    else:
        raise OrganiserFault(f"{_missing(NEEDED)}: this kernel has no control groups, or shows none here")
    if locked := [place for place in root.places if not os.access(place, os.W_OK)]:
        raise OrganiserFault(f"{_missing(NEEDED)}: {locked[0]} is not ours to write; {_ADVICE}")
    return root


def may_limit(proc: Path = Path("/proc")) -> bool:
    """Whether it looks as if groups could be made; nothing is made for it."""
    try:
        mounts, own = _mounts(proc), _own(proc)
    except OSError:
        return False
    wanted = NEEDED if all(controller in mounts for controller in NEEDED) else ("",)
    return all(name in mounts and os.access(_below(mounts[name], own.get(name, "/")), os.W_OK) for name in wanted)


_ADVICE = "run as root, or hand a group down: systemd-run --user --scope -p Delegate=yes sandscore …"


def _hand_down(base: Path, *, top: bool) -> None:
    """Version 2: groups below may have the controllers. All processes of the group must be in one below it first."""
    try:
        given = (base / "cgroup.controllers").read_text(encoding="ascii").split()
        if missing := [controller for controller in NEEDED if controller not in given]:
            raise OrganiserFault(f"{_missing(missing)}: {base} has not got them; {_ADVICE}")
        switch = base / "cgroup.subtree_control"
        if set(NEEDED) <= set(switch.read_text(encoding="ascii").split()):
            return
        if not top:
            ours = base / _OURS
            ours.mkdir(exist_ok=True)
            for process in (base / "cgroup.procs").read_text(encoding="ascii").split():
                (ours / "cgroup.procs").write_text(process, encoding="ascii")
        switch.write_text(" ".join(f"+{controller}" for controller in NEEDED), encoding="ascii")
    except OSError as fault:
        raise OrganiserFault(f"{_missing(NEEDED)}: {base} ({fault.strerror}); {_ADVICE}") from None


def _missing(controllers: "tuple[str, ...] | list[str]") -> str:
    return f"limits would not be in force ({', '.join(controllers)})"


def _mounts(proc: Path) -> dict[str, Path]:
    """Where each controller of version 1 is mounted; version 2 is the empty name."""
    found: dict[str, Path] = {}
    for line in (proc / "self" / "mountinfo").read_text(encoding="utf-8").splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split()[:3]
        place = Path(before.split()[4])
        if kind == "cgroup2":
            found[""] = place
        elif kind == "cgroup":
            found |= dict.fromkeys(options.split(","), place)
    return found


def _own(proc: Path) -> dict[str, str]:
    """The group of this process, by controller."""
    lines = (proc / "self" / "cgroup").read_text(encoding="utf-8").splitlines()
    split = [line.split(":", 2) for line in lines]
    return {controller: path for _, controllers, path in split for controller in controllers.split(",")}


def _below(mount: Path, group: str) -> Path:
    """The top, where it is ours to write or nothing else can be seen; else the folder of this process's group."""
    place = mount if os.access(mount, os.W_OK) else mount / group.lstrip("/")
    return place if place.is_dir() else mount


def _swaps() -> bool:
    try:
        return len(Path("/proc/swaps").read_text(encoding="ascii").splitlines()) > 1
    except OSError:
        return False
