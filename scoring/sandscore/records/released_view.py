"""The released view: what passed the gate, with its line in the ledger. Nobody outside ``disclosure`` can make one."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct

ViewT = TypeVar("ViewT", covariant=True)  # noqa: PLC0105 (a name that says what it is)

SEAL = object()
"""For ``disclosure`` alone: a test of the house looks for it everywhere else."""


class Audience(StrEnum):
    """Who is to see something. The organiser sees everything, and needs no gate."""

    TEAM = "team"
    PUBLIC = "public"


class LedgerLine(Struct, frozen=True, kw_only=True):
    """What was released: to which team (None is everybody), and at most how many bits it tells of gold and notes."""

    what: str
    bits: float = 0.0
    team: str | None = None
    submission: str | None = None
    mark: str = ""
    """Of the view itself: the same said again tells nothing new, and is one line."""
    when: str | None = None
    """Set by the home that commits it, in the transaction that makes the view visible."""


class Released(Generic[ViewT]):
    """A view that passed the gate, and its line."""

    __slots__ = ("_line", "_view")

    def __init__(self, view: ViewT, line: LedgerLine, seal: object) -> None:
        if seal is not SEAL:
            raise TypeError("only disclosure.release makes what is released")
        self._view, self._line = view, line

    @property
    def view(self) -> ViewT:
        return self._view

    @property
    def line(self) -> LedgerLine:
        return self._line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Released) and (self._view, self._line) == (other._view, other._line)

    def __hash__(self) -> int:
        return hash(self._line)

    def __repr__(self) -> str:
        return f"Released({self._view!r})"


class PackedView(Struct, frozen=True):
    """A released view on the wire between two processes of ours."""

    view: Any
    line: LedgerLine


def view_of(released: Released[ViewT] | None) -> ViewT | None:
    """Of what may not be there."""
    return None if released is None else released.view


def lines_of(released: Iterable[Released[object] | None]) -> tuple[LedgerLine, ...]:
    """Of those that are there."""
    return tuple(one.line for one in released if one is not None)
