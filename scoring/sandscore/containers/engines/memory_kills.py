"""Memory kills in a control group: counted in a file, and heard from the kernel where somebody else removes the group.

An engine removes a container's group when the container ends; one that hears of the end before the kill never says so.
"""

import os
import select
from contextlib import ExitStack, suppress
from pathlib import Path

_CONTROL, _USE = "memory.oom_control", "memory.usage_in_bytes"
_BEYOND_BYTES = 1 << 62
_REMOVAL_SECONDS = 1.0
"""How long after a group has vanished the kernel may still be telling of it."""


def any_counted(told: str) -> bool:
    """By what ``memory.oom_control`` (version 1) or ``memory.events`` (version 2) says."""
    return dict(line.split()[:2] for line in told.splitlines()).get("oom_kill", "0") != "0"


def memory_group(process: int, name: str) -> Path | None:
    """The group of version 1 of that name that limits a process's memory; None where there is none to be seen."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/cgroup").read_text(encoding="ascii").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "memory" and name in path:
                return Path("/sys/fs/cgroup/memory") / path.lstrip("/")
    return None


class MemoryKills:
    """Of one group of version 1; known from the moment of the kill on, also when the group has gone.

    On one descriptor the kernel counts each lack of memory, before it kills for it, and at last the group's removal.
    On another, for a use of memory that is never reached, it counts the removal alone; who asked last is told first.
    """

    def __init__(self, group: Path) -> None:
        """An OSError where there is no such group."""
        self._group, self._told = group, 0
        with ExitStack() as stack:
            self._removal = _counter(stack, group, _USE, str(_BEYOND_BYTES))
            self._lack = _counter(stack, group, _CONTROL)
            self._seen = any_counted((group / _CONTROL).read_text(encoding="ascii"))
            self._open = stack.pop_all()

    @property
    def seen(self) -> bool:
        """Whether any process in the group was killed so far."""
        self._listen()
        if self._told and not self._seen:
            gone = not self._group.exists()
            if gone and select.select([self._removal], [], [], _REMOVAL_SECONDS)[0]:
                self._listen()
            self._seen = self._told > gone
        return self._seen

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            self._told += os.eventfd_read(self._lack)

    def close(self) -> None:
        self._open.close()


def _counter(stack: ExitStack, group: Path, file: str, *more: str) -> int:
    """A descriptor on which the kernel counts what happens to that file of the group."""
    counter = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    stack.callback(os.close, counter)
    with (group / file).open("rb") as watched:
        asked = " ".join((str(counter), str(watched.fileno()), *more))
        (group / "cgroup.event_control").write_text(asked, encoding="ascii")
    return counter
