"""The doctor's look at bubblewrap: the limits that are really in force, the filter, what was left behind."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sandscore.base.errors import InfrastructureFault, SandscoreError
from sandscore.containers.engines.bubblewrap.compiled_seccomp import filter_library
from sandscore.containers.engines.control_groups import NEEDED, control_root
from sandscore.containers.engines.engine_protocol import labels
from sandscore.containers.host_checks import Finding
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.process_view import ProcessView
from sandscore.containers.run_context import preset
from sandscore.containers.tiny_program import waiting_program
from sandscore.records.run_record import RunFault

if TYPE_CHECKING:
    from sandscore.containers.engines.bubblewrap.bubblewrap_row import BubblewrapEngine

_HOLDER = "sandscore-holder:1"
_WANTED = {"Seccomp": "2", "NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16}


def requirements() -> Iterator[Finding]:
    """What must be installed."""
    found = shutil.which("bwrap")
    advice = None if found else "apt-get install bubblewrap"
    yield Finding("bubblewrap", "ok" if found else "fault", found or "none", advice)
    try:
        filter_library()
        yield Finding("libseccomp", "ok", "the library is installed")
    except InfrastructureFault as fault:
        yield Finding("libseccomp", "fault", "the library is missing", str(fault))


def examine_bubblewrap(engine: "BubblewrapEngine") -> Iterator[Finding]:
    """Whether it does what it is told."""
    yield Finding("engine", "ok", f"{engine.name} {engine.facts().version}")
    try:
        root = control_root()
        shown = f"control groups, version {root.version}: {', '.join(NEEDED)}"
        yield Finding("limits known", "ok", shown)
        engine.require_limits()
        yield Finding("leftovers", "ok", f"{engine.remove_leftovers()} removed")
        yield from _in_force(engine)
    except RunFault as fault:
        yield Finding("limits in force", "fault", "a container could not be started", fault.reason)
    except SandscoreError as fault:
        yield Finding("limits in force", "fault", "none can be relied on", str(fault))


def _in_force(engine: "BubblewrapEngine") -> Iterator[Finding]:
    """Start a program that does nothing, under the usual limits, and look at what the kernel says of it."""
    limits = preset("strict")
    files: dict[str, str | bytes] = {
        "Dockerfile": 'FROM scratch\nCOPY hold /hold\nCMD ["/hold"]\n',
        "hold": waiting_program(""),
    }
    engine.build_image(_HOLDER, files, {})
    image = engine.find_image(_HOLDER, limits)
    with engine.sandbox(image, limits, labels("doctor", 60), "none", {}, LogWatch(1000)) as box:
        seen = ProcessView(box.process() or 0)
        wrong = [key for key, value in _WANTED.items() if seen.status.get(key) != value]
        shown = f"not in force: {', '.join(wrong)}" if wrong else "no rights, our system call filter"
        yield Finding("rights in force", "fault" if wrong else "ok", shown)
        limit = seen.limit("memory", "memory.max", "memory.limit_in_bytes")
        good = limit == str(limits.memory_bytes)
        yield Finding("memory in force", "ok" if good else "fault", f"{limit} bytes in the container's cgroup")
