"""Is this machine fit to run submissions? Each finding says what is there and, where it is not, how to get it."""

import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from sandscore.base.errors import OrganiserFault, SandscoreError
from sandscore.containers.engines.engine_registry import ENGINES, EngineRow, chosen_engine

Level = Literal["ok", "note", "fault"]


class Finding(Struct, frozen=True):
    """A ``note`` can be lived with; with a ``fault`` nothing can be scored here."""

    name: str
    level: Level
    found: str
    advice: str | None = None
    engine: str | None = None
    """The engine that it is about."""
    by: Literal["host", "organiser"] = "host"
    """Whose a fault is: the machine's, or that of what the organiser has set up."""

    def to_dict(self) -> dict[str, str | None]:
        return asdict(self)


def examine(engine: str | None = None) -> Iterator[Finding]:
    """All findings: of the engine that is named, or of each of ours."""
    yield Finding("python", "ok", sys.version.partition(" ")[0])
    yield _reading()
    yield installed("synapse", "synapseclient", "note", "pip install 'sandscore[synapse]' for a Synapse queue")
    config = Path("~/.synapseConfig").expanduser()
    found = "found" if config.exists() else "none"
    yield Finding("synapse access", "ok" if config.exists() else "note", f"{config.name}: {found}")
    busybox = shutil.which("busybox")
    yield Finding(
        "busybox", "ok" if busybox else "note", busybox or "none", None if busybox else "apt-get install busybox-static"
    )
    yield from _engines(engine)


def _engines(asked: str | None) -> Iterator[Finding]:
    """With faults of the one that a run would take, and what others lack as notes."""
    try:
        taken = asked or chosen_engine().name
    except OrganiserFault as fault:
        yield Finding("engines", "fault", str(fault))
        taken = ""
    for name in (asked,) if asked else ENGINES.names:
        for finding in _examined(ENGINES.find(name)()):
            level = "note" if finding.level == "fault" and name != taken else finding.level
            yield replace(finding, level=level, engine=name)


def _examined(row: EngineRow) -> Iterator[Finding]:
    if (why := row.absent()) is not None:
        yield Finding("engine", "fault", "not here", why)
        return
    yield from row.requirements()
    try:
        yield from row.examine()
    except SandscoreError as fault:
        yield Finding("engine", "fault", "cannot be used", str(fault))


def _reading() -> Finding:
    from sandscore.base.removable_rooms import compiled

    if compiled():
        return Finding("reading", "ok", "by compiled code")
    advice = "apt-get install gcc libc6-dev, then install sandscore again"
    return Finding("reading", "note", "by Python alone: slower, with the same results", advice)


def installed(name: str, module: str, otherwise: Level, advice: str) -> Finding:
    """Whether a Python package is there."""
    if find_spec(module) is not None:
        return Finding(name, "ok", "the Python package is installed")
    return Finding(name, otherwise, "the Python package is missing", advice)
