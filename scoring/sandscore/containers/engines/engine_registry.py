"""The table of engines: ours, and one of somebody else's package where it is named."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from sandscore.base.own_rows import OWN_ROWS
from sandscore.base.registry import Registry, TableRow

if TYPE_CHECKING:
    from sandscore.containers.engines.engine_protocol import Engine
    from sandscore.containers.host_checks import Finding

GROUP = "sandscore.engines"
DEFAULT = "docker"


class EngineRow(TableRow):
    """One way to run containers on this machine."""

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


def connected(name: str | None = None, seconds: float = 120.0) -> "AbstractContextManager[Engine]":
    """The engine of that name, or the usual one."""
    return ENGINES.find(name or DEFAULT)().connect(seconds)
