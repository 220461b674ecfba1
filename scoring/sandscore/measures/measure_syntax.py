"""Measures and profiles as values: ``name(key=value,…)``, printed and parsed the same everywhere.

The name in a paper, on the command line, in the score card and as a leaderboard column is one string, and
``parse(str(value)) == value``. Parameters that keep their default are not printed.
"""

import re
from collections.abc import Callable
from typing import ClassVar

from msgspec import Struct

from sandscore.base.errors import UsageFault, did_you_mean
from sandscore.base.registry import TableRow

Scalar = bool | int | float | str

_FORM = r"(?a)\s*([A-Za-z][A-Za-z0-9_-]*)\s*(?:\(([^()]*)\))?\s*"


class Parameter(Struct, frozen=True):
    """One knob: its name, its default (whose type is the knob's type) and what else it may be."""

    name: str
    default: Scalar
    choices: tuple[Scalar, ...] = ()
    least: float | None = None
    most: float | None = None
    file: bool = False
    """Whether it names a file; cards show the file's hash in place of its name."""
    sample: str = ""
    """What such a file may hold, where nothing can be measured without one."""

    def read(self, written: str) -> Scalar:
        """The value behind its written form, or a usage error that says what is allowed."""
        value = self._typed(written)
        if value is None:
            raise UsageFault(f"'{written}' is not a value of {self.name}: {self.allowed}")
        if self.choices and value not in self.choices:
            raise UsageFault(f"'{written}' is not a value of {self.name}: {self.allowed}")
        if not isinstance(value, str) and not self._within(value):
            raise UsageFault(f"{self.name}={written} is out of range: {self.allowed}")
        return value

    @property
    def allowed(self) -> str:
        if self.choices:
            return "must be " + " or ".join(map(show, self.choices))
        kind = {
            bool: "true or false",
            int: "a whole number",
            float: "a number",
            str: "a file" if self.file else "a word",
        }[type(self.default)]
        low = f" from {self.least:g}" if self.least is not None else ""
        high = f" up to {self.most:g}" if self.most is not None else ""
        return f"must be {kind}{low}{high}"

    def _within(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def _typed(self, written: str) -> Scalar | None:
        if isinstance(self.default, bool):
            return {"true": True, "false": False}.get(written.lower())
        if isinstance(self.default, str):
            return written
        try:
            number = int(written) if isinstance(self.default, int) else float(written)
        except ValueError:
            return None
        return number if abs(number) < float("inf") else None


class Named(Struct, frozen=True):
    """A name with the parameters that differ from their defaults; what ``str`` prints, ``parse`` reads."""

    name: str
    settings: tuple[tuple[str, Scalar], ...] = ()

    def __str__(self) -> str:
        inner = ",".join(f"{key}={show(value)}" for key, value in self.settings)
        return f"{self.name}({inner})" if inner else self.name


class ParameterisedRow(TableRow):
    """A row of a table whose things have parameters: measures and profiles."""

    parameters: ClassVar[tuple[Parameter, ...]] = ()

    @classmethod
    def settle(cls, value: Named) -> dict[str, Scalar]:
        """Every parameter with its value, defaults filled in."""
        return {p.name: p.default for p in cls.parameters} | dict(value.settings)


def show(value: Scalar) -> str:
    """A parameter's value as it is written."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def parse(written: str, find: Callable[[str], type[ParameterisedRow]], what: str = "measure") -> Named:
    """The value behind ``name(key=value,…)``, its row found by the name; an error lists what is allowed."""
    form = re.fullmatch(_FORM, written)
    if not form:
        raise UsageFault(f"cannot read the {what} '{written}'; write it as name or name(key=value,key=value)")
    name, inside = form[1], (form[2] or "").strip()
    row = find(name)
    given: dict[str, Scalar] = {}
    parameters = {p.name: p for p in row.parameters}
    for part in inside.split(",") if inside else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key in given:
            raise UsageFault(
                f"cannot read '{part.strip()}' in the {what} '{written}'; write each parameter once, as key=value"
            )
        if key not in parameters:
            names = ", ".join(parameters) or "none"
            raise UsageFault(
                f"unknown parameter '{key}' of the {what} {name}{did_you_mean(key, parameters)}; allowed: {names}"
            )
        given[key] = parameters[key].read(value)
    kept = ((p.name, given[p.name]) for p in row.parameters if given.get(p.name, p.default) != p.default)
    return Named(name, tuple(kept))
