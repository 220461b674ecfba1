"""The limits in force on a started container, as the host's kernel tells of its first process.

What an engine says of itself is one thing; a limit that it took and does not keep would make a score that cannot be
compared, and is refused before a note is handed over.
"""

import resource
from collections.abc import Iterator

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.process_view import ProcessView, capability_mask
from sandscore.records.run_record import LimitsInForce, RunFault, RunLimits

_NEARLY = 1e-3
"""A quota is a whole number of microseconds."""


def limits_in_force(box: Sandbox) -> LimitsInForce | None:
    """Checked; None where its processes cannot be seen from here, or there are none any more."""
    try:
        number = box.process()
        found = None if number is None else _of_the_living(ProcessView(number))
    except (OSError, RunFault, KeyError, ValueError):
        return None
    if found is not None and (wrong := list(not_in_force(box.limits, found))):
        raise OrganiserFault(f"the engine took limits that it does not keep: {'; '.join(wrong)}; see docs/engines.md")
    return found


def _of_the_living(process: ProcessView) -> LimitsInForce | None:
    """None where it came to its end while it was looked at: what was read may be the root group's."""
    found = told_of(process)
    return None if process.ending else found


def told_of(process: ProcessView) -> LimitsInForce | None:
    """What the kernel keeps of a process; None where its control group is not to be seen from here."""
    memory = process.limit("memory", "memory.max", "memory.limit_in_bytes")
    processes = process.limit("pids", "pids.max")
    cpus = cpus_of(process)
    if memory is None or processes is None or cpus is None:
        return None
    status = process.status
    return LimitsInForce(
        memory_bytes=_number(memory),
        swap_bytes=_swap(process, _number(memory)),
        cpus=cpus,
        processes=_number(processes),
        open_files=_number(process.open_files),
        capabilities=status["CapBnd"],
        no_new_privileges=status["NoNewPrivs"] == "1",
        system_calls_filtered=status["Seccomp"] == "2",
    )


def cpus_of(process: ProcessView) -> float | None:
    """Processors that its control group may keep busy; -1 where that is without bound."""
    said = process.limit("cpu", "cpu.max", "cpu.cfs_quota_us")
    if said is None:
        return None
    quota, _, period = said.partition(" ")
    period = period or process.limit("cpu", "cpu.cfs_period_us") or "0"
    return int(quota) / int(period) if quota.isdigit() and int(period) else -1.0


def _number(written: str) -> int:
    """-1 where there is no bound."""
    return int(written) if written.isdigit() else -1


def _swap(process: ProcessView, memory: int) -> int | None:
    """Version 2 counts swap by itself, version 1 memory and swap together, if at all."""
    if (alone := process.limit("memory", "memory.swap.max")) is not None:
        return _number(alone)
    both = process.limit("memory", "memory.memsw.limit_in_bytes")
    return None if both is None else int(both) - memory


def not_in_force(limits: RunLimits, found: LimitsInForce) -> Iterator[str]:
    """What the kernel keeps otherwise than it was asked for; it keeps memory in whole pages."""
    if not 0 <= limits.memory_bytes - found.memory_bytes < resource.getpagesize():
        yield f"memory is {_shown(found.memory_bytes)} instead of {limits.memory_bytes:,} bytes"
    if found.swap_bytes:
        yield f"swap is {_shown(found.swap_bytes)} instead of none"
    if abs(found.cpus - limits.cpus) > _NEARLY:
        yield f"CPU is {_shown(found.cpus)} instead of {limits.cpus:g}"
    if found.processes != limits.processes:
        yield f"processes are {_shown(found.processes)} instead of {limits.processes:,}"
    if found.open_files != limits.open_files:
        yield f"open files are {_shown(found.open_files)} instead of {limits.open_files:,}"
    if int(found.capabilities, 16) & ~capability_mask(limits.capabilities):
        yield f"capabilities are {found.capabilities}"
    if not found.no_new_privileges:
        yield "programs may gain rights"
    if not found.system_calls_filtered:
        yield "system calls are not filtered"


def _shown(number: float) -> str:
    if number < 0:
        return "unbounded"
    return f"{int(number):,}" if number == int(number) else f"{number:g}"
