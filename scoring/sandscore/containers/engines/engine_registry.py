"""The table of engines: ours, and one of somebody else's package where it is named; and which of them runs here."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from sandscore.base.errors import OrganiserFault
from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry, TableRow

if TYPE_CHECKING:
    from sandscore.containers.engines.engine_protocol import Engine
    from sandscore.containers.host_checks import Finding

GROUP = "sandscore.engines"
DEFAULT = "docker"


class EngineRow(TableRow):
    """One way to run containers on this machine."""

    def absent(self) -> str | None:
        """Why none of the kind can be had here, as the end of a sentence; None where one can be, were it stopped."""
        return None

    def is_ready(self) -> bool:
        """Whether a run that names no engine may take this one; found out at once, and nothing is started for it."""
        return self.absent() is None

    def connect(self, seconds: float = 120.0) -> "AbstractContextManager[Engine]":
        """The engine, let go of afterwards; an InfrastructureFault where none of the kind answers."""
        raise NotImplementedError

    def requirements(self) -> "Iterator[Finding]":
        """What must be installed for it, as the doctor tells it."""
        raise NotImplementedError

    def examine(self) -> "Iterator[Finding]":
        """What the doctor finds out about the engine that answers: the limits that are really in force first of all."""
        raise NotImplementedError


ENGINES: Registry[EngineRow] = Registry(
    "engine", GROUP, "sandscore.containers.engines.engine_registry:EngineRow", OWN_ROWS[GROUP]
)


def chosen_engine(name: str | None = None) -> type[EngineRow]:
    """The engine of that name, which must be here; else the usual one, or the only one that is ready."""
    if name is not None:
        row = ENGINES.find(name)
        if (why := row().absent()) is not None:
            raise OrganiserFault(f"the engine '{name}' was asked for, and {why}")
        return row
    usual = ENGINES.find(DEFAULT)
    if usual().is_ready():
        return usual
    ready = [row for row in ENGINES if row is not usual and row().is_ready()]
    if len(ready) > 1:
        names = ", ".join(row.name for row in ready)
        raise OrganiserFault(
            f"no Docker engine answers here, and there are {names}: say which with --engine, or engine under [images] "
            "in challenge.toml"
        )
    return ready[0] if ready else usual


def connected(name: str | None = None, seconds: float = 120.0) -> "AbstractContextManager[Engine]":
    """The engine of that name, else the one that runs here."""
    return chosen_engine(name)().connect(seconds)
