"""The identity of a process that made or holds something, so that another can tell whether it is still there."""

import os
from functools import cache
from pathlib import Path

_ELSEWHERE = "elsewhere"


@cache
def boot() -> str:
    """Names this start of the machine; where the system has no name for it, all starts are one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def own_name() -> str:
    """Machine since its start, process name space, process, and when that process began."""
    return _name(os.getpid())


def fate(owner: str) -> bool | None:
    """Whether the process is there still; None where it cannot be asked from here."""
    place, _, process = owner.rpartition("/")
    pid = process.partition("@")[0]
    if place != _place() or place == _ELSEWHERE or not pid.isdigit():
        return None
    return _name(int(pid)) == owner


def gone(owner: str) -> bool:
    """Whether the process is certainly no more. One that cannot be asked may still be there."""
    return fate(owner) is False


def _place() -> str:
    try:
        return f"{boot()}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 (a magic link, not a path)
    except OSError:
        return _ELSEWHERE


def _name(pid: int) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        began = "gone" if state[0] in "ZX" else state[19]
    except OSError:
        began = "gone"
    return f"{_place()}/{pid}@{began}"
