"""Who holds a claim: a process, named so that another process of the machine can tell whether it is still there."""

import os
from pathlib import Path

from sandscore.queueing.times import boot


def own_name() -> str:
    """Machine since its start, process name space, process, and when that process began."""
    return _name(os.getpid())


def gone(owner: str) -> bool:
    """Whether the process is certainly no more. One that cannot be asked may still be there."""
    place, _, process = owner.rpartition("/")
    pid = process.partition("@")[0]
    if place != _place() or not pid.isdigit():
        return False
    return _name(int(pid)) != owner


def _place() -> str:
    try:
        return f"{boot()}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 (a magic link, not a path)
    except OSError:
        return "elsewhere"


def _name(pid: int) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        began = "gone" if state[0] in "ZX" else state[19]
    except OSError:
        began = "gone"
    return f"{_place()}/{pid}@{began}"
