"""A table of one kind of thing: rows of ours by name, and a stranger's where a user names one.

A row is a class that says what it is called, what it is and where that is defined. Our own rows stand in a table of
``name -> "module:Class"``, the same pairs that the project's entry points give, so that listing names imports nothing.
Entry points of other people are read only for a name that is not ours, and only that one is imported.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from sandscore.base.errors import UsageFault, did_you_mean
from sandscore.base.removable_rooms import REMOVABLE

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class TableRow:
    """What every row of every table says of itself."""

    name: ClassVar[str]
    description: ClassVar[str]
    """What it is, in one line."""
    source: ClassVar[str] = ""
    """Where it is defined: a paper, a program and its version, a page of ours."""

    @classmethod
    def fault(cls) -> str | None:
        """Why the row cannot be used, for a kind that asks more of its rows; None where nothing is wrong."""
        return None


R = TypeVar("R", bound=TableRow)


class Registry(Generic[R]):
    """One kind's table. ``base`` is the class that every row extends, as ``"module:Class"``.

    ``beside`` may be named where a row is asked for, and is none.
    """

    def __init__(
        self, kind: str, group: str, base: str, ours: Mapping[str, str], *, beside: Sequence[str] = ()
    ) -> None:
        self.kind, self.group, self._beside = kind, group, beside
        self._base, self._ours = base, dict(ours)
        self._found: dict[str, type[R]] = {}
        self._plugins: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Our own, in the order of the table; nothing is imported."""
        return tuple(self._ours)

    @property
    def targets(self) -> dict[str, str]:
        """Our own rows' places, as the project's entry points give them."""
        return dict(self._ours)

    @property
    def base(self) -> type[R]:
        """The class that every row extends."""
        return cast("type[R]", _object(self._base))

    def __iter__(self) -> Iterator[type[R]]:
        """Our own rows, imported one by one."""
        return map(self.find, self.names)

    def find(self, name: str) -> type[R]:
        """The row of that name, ours or an installed package's; else a usage error that lists ours."""
        if name not in self._found:
            self._found[name] = self._own(name) if name in self._ours else self._plugged(name)
        return self._found[name]

    def is_installed(self, name: str) -> bool:
        """Whether an installed package has a row of that name; nothing is imported."""
        from importlib.metadata import entry_points

        return bool(entry_points(group=self.group, name=name))

    def plugin(self, name: str) -> str | None:
        """The installed package that a row comes from, with its version; None for one of ours."""
        if name in self._ours:
            return None
        self.find(name)
        return self._plugins[name]

    def unknown(self, name: str) -> UsageFault:
        """What is said of a name that nobody has: the allowed ones, and the nearest of them."""
        allowed = (*self._beside, *self.names)
        return UsageFault(f"unknown {self.kind} '{name}'{did_you_mean(name, allowed)}; allowed: {', '.join(allowed)}")

    def _own(self, name: str) -> type[R]:
        with REMOVABLE:
            return self._loaded(name, self._ours[name])

    def _plugged(self, name: str) -> type[R]:
        entry = self._entry(name)
        if entry.dist is None:
            raise self.unknown(name)
        plugin = f"{entry.dist.name} {entry.dist.version}"
        try:
            row = self._loaded(name, f"{entry.module}:{entry.attr}")
        except UsageFault:
            raise
        except Exception as fault:
            said = f"{type(fault).__name__}: {fault}"
            raise UsageFault(f"the {self.kind} '{name}' of {plugin} cannot be loaded: {said}") from None
        self._plugins[name] = plugin
        return row

    def _entry(self, name: str) -> "EntryPoint":
        from importlib.metadata import entry_points

        found = {entry.value: entry for entry in entry_points(group=self.group, name=name)}
        if not found:
            raise self.unknown(name)
        if len(found) > 1:
            owners = " and ".join(sorted(str(entry.dist and entry.dist.name) for entry in found.values()))
            raise UsageFault(f"several installed packages have a {self.kind} '{name}': {owners}")
        return next(iter(found.values()))

    def _loaded(self, name: str, target: str) -> type[R]:
        row = _object(target)
        if not (isinstance(row, type) and issubclass(row, self.base)):
            raise UsageFault(f"the {self.kind} '{name}' is not a class that extends {self._base}")
        if getattr(row, "name", None) != name:
            raise UsageFault(f"the {self.kind} '{name}' calls itself '{getattr(row, 'name', None)}'")
        if name not in self._ours and (fault := row.fault()):  # tests ask ours
            raise UsageFault(f"the {self.kind} '{name}' cannot be used: {fault}")
        return row


def _object(target: str) -> object:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)
