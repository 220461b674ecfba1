"""Is this machine fit to run submissions? Each finding says what is there and, where it is not, how to get it."""

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from sandscore.base.errors import SandscoreError
from sandscore.containers.engines.engine_registry import DEFAULT, ENGINES

Level = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    """A ``note`` can be lived with; with a ``fault`` nothing can be scored here."""

    name: str
    level: Level
    found: str
    advice: str | None = None
    by: Literal["host", "organiser"] = "host"
    """Whose a fault is: the machine's, or that of what the organiser has set up."""

    def to_dict(self) -> dict[str, str | None]:
        return asdict(self)


def examine() -> Iterator[Finding]:
    """All findings, the engine's only where one answers."""
    yield Finding("python", "ok", sys.version.partition(" ")[0])
    yield _reading()
    yield from ENGINES.find(DEFAULT)().requirements()
    yield installed("synapse", "synapseclient", "note", "pip install 'sandscore[synapse]' for a Synapse queue")
    config = Path("~/.synapseConfig").expanduser()
    found = "found" if config.exists() else "none"
    yield Finding("synapse access", "ok" if config.exists() else "note", f"{config.name}: {found}")
    busybox = shutil.which("busybox")
    yield Finding(
        "busybox", "ok" if busybox else "note", busybox or "none", None if busybox else "apt-get install busybox-static"
    )
    try:
        yield from ENGINES.find(DEFAULT)().examine()
    except SandscoreError as fault:
        yield Finding("engine", "fault", "cannot be used", str(fault))


def _reading() -> Finding:
    from sandscore.annotations.kernel.kernel_library import kernel

    if kernel() is not None:
        return Finding("reading", "ok", "by compiled code")
    advice = "apt-get install gcc libc6-dev, then install sandscore again"
    return Finding("reading", "note", "by Python alone: slower, with the same results", advice)


def installed(name: str, module: str, otherwise: Level, advice: str) -> Finding:
    """Whether a Python package is there."""
    if find_spec(module) is not None:
        return Finding(name, "ok", "the Python package is installed")
    return Finding(name, otherwise, "the Python package is missing", advice)
