"""A process as the host's kernel sees it: whose it is, what it may do, its name spaces, mounts and limits."""

import os
import re
import stat
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from msgspec import Struct

_CGROUPS = Path("/sys/fs/cgroup")
_EXITING = 0x4
"""The kernel's PF_EXITING."""
_CAPABILITIES = (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT "
    "SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP "
    "MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE"
).split()
"""In the order of their bits: capabilities(7)."""


def capability_mask(names: tuple[str, ...]) -> int:
    """The bits of capabilities, as the kernel writes them."""
    return sum(1 << _CAPABILITIES.index(name) for name in names)


class Mount(Struct, frozen=True):
    """One line of mountinfo."""

    device: str
    root: str
    place: str
    options: frozenset[str]
    kind: str


class ProcessView:
    """Read anew at every question; OSError where the process has gone or may not be looked at."""

    def __init__(self, number: int) -> None:
        self._folder = Path("/proc") / str(number)

    @property
    def status(self) -> dict[str, str]:
        lines = self._read("status").splitlines()
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}

    @property
    def environment(self) -> dict[str, str]:
        pairs = (entry.partition("=") for entry in self._read("environ").split("\0") if entry)
        return {name: value for name, _, value in pairs}

    @property
    def ending(self) -> bool:
        """On its way out: version 1 of control groups then shows it in the root group, which limits nothing."""
        flags = self._read("stat").rpartition(")")[2].split()[6]
        return bool(int(flags) & _EXITING)

    @property
    def open_files(self) -> str:
        """The hard limit of descriptors."""
        found = re.search(r"^Max open files\s+\S+\s+(\S+)", self._read("limits"), re.MULTILINE)
        return found[1] if found else "unknown"

    @property
    def mounts(self) -> list[Mount]:
        return [_mount(line) for line in self._read("mountinfo").splitlines()]

    @property
    def routes(self) -> list[tuple[int, int]]:
        """Destination and mask of its IPv4 routes, as numbers."""
        lines = [line.split() for line in self._read("net/route").splitlines()[1:]]
        return [(_little_endian(fields[1]), _little_endian(fields[7])) for fields in lines]

    def name_space(self, kind: str) -> int:
        return (self._folder / "ns" / kind).stat().st_ino

    def mapped(self, kind: str) -> list[str]:
        """How its users (``uid``) or groups (``gid``) are called: the first inside, the same on the host, how many."""
        return self._read(f"{kind}_map").split()

    def inside(self, place: str) -> Path:
        """A path of the process's own root. Only for containers whose links are not hostile."""
        return self._folder / "root" / place.lstrip("/")

    def limit(self, controller: str, *names: str) -> str | None:
        """What the first of these files of its cgroup says, of version 1 or 2; None where none can be read."""
        for folder in self._groups(controller):
            for path in (folder / name for name in names):
                if os.access(path, os.R_OK):
                    return path.read_text(encoding="ascii").strip()
        return None

    @cached_property
    def together(self) -> "list[ProcessView]":
        """All processes of its cgroup, itself among them."""
        listed = self.limit("pids", "cgroup.procs") or ""
        return [ProcessView(int(number)) for number in listed.split()] or [self]

    def _groups(self, controller: str) -> Iterator[Path]:
        for line in self._read("cgroup").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield _CGROUPS / path.lstrip("/")
            elif controller in controllers.split(","):
                yield _CGROUPS / controller / path.lstrip("/")

    def _read(self, name: str) -> str:
        return (self._folder / name).read_text(encoding="utf-8", errors="replace")


def own_view() -> ProcessView:
    """This process: the host's side of every comparison."""
    return ProcessView(os.getpid())


def is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False


def _mount(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    fields = before.split()
    place = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
    return Mount(fields[2], fields[3], place, frozenset(fields[5].split(",")), after.split()[0])


def _little_endian(written: str) -> int:
    return int.from_bytes(bytes.fromhex(written)[::-1], "big")
