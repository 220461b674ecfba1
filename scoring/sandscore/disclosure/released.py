"""The released view: what passed the gate, with the line of the ledger that goes with it. Only this room makes one."""

import math
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct

View = TypeVar("View")


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
    when: str | None = None
    """Set by whoever commits it, in the transaction that makes the view visible."""


class Item(Struct, Generic[View], frozen=True, kw_only=True, tag=True):
    """Something that somebody other than the organiser may want to see; ``View`` is what may become of it."""

    team: str | None = None
    submission: str | None = None


class Released(Generic[View]):
    """A view that passed the gate, and its line."""

    __slots__ = ("line", "view")

    def __init__(self, view: View, line: LedgerLine, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only disclosure.release makes what is released")
        self.view, self.line = view, line


_SEAL = object()


def passed(item: Item[View], view: View, what: str, bits: float = 0.0) -> Released[View]:
    """For the views of this room: ``view`` is what may leave, with at most so many bits in it."""
    line = LedgerLine(what=what, bits=bits, team=item.team, submission=item.submission)
    return Released(view, line, _SEAL)


def withheld(item: Item[View | None], what: str) -> Released[View | None]:
    """Nothing leaves, and nothing is told by that: the policy alone decided it."""
    return passed(item, None, what)


def choice_bits(answers: float) -> float:
    """Of one answer out of so many."""
    return math.log2(answers) if answers > 1 else 0.0
