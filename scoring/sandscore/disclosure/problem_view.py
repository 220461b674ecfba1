"""The problems that validation found, as a team may be told of them."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sandscore.disclosure.released import Audience, Item, Released, choice_bits, passed
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.problem import CODES, Problem

LISTED = 100
FIT = "does-not-fit-notes"
_ABOUT_NOTES = ("unknown-note", "out-of-bounds", "text-mismatch")
"""Told apart, or counted, these would say where the notes have which text."""
_ABOUT_DATA = "missing-note"
_GRID_ANSWERS = 32
"""Of a count on the grid 0, 1, 2, 5, 10, … up to 10 000 000 000."""


class ShownProblems(Struct, frozen=True):
    """Problems one by one where they may be told, errors first; and how often each code was found, where it may."""

    problems: list[Problem]
    counts: dict[str, int | None]


class ProblemsItem(Item[ShownProblems], frozen=True, kw_only=True):
    """Everything that validation found."""

    problems: Sequence[Problem]
    counts: Mapping[str, int]
    rehearsal: bool = False
    """Found on practice notes."""


def problems_view(item: ProblemsItem, audience: Audience, policy: DisclosurePolicy) -> Released[ShownProblems]:
    """All of it where the notes are no secret to the team; else codes."""
    full = item.rehearsal or policy.problems == "full"
    if audience is Audience.TEAM and full:
        errors_first = sorted(item.problems, key=lambda problem: problem.severity)[:LISTED]
        return passed(item, ShownProblems(errors_first, dict(sorted(item.counts.items()))), "problems")
    counts: dict[str, int | None] = {}
    for code, count in sorted(item.counts.items()):
        if code in _ABOUT_NOTES:
            counts[FIT] = None
        elif code != _ABOUT_DATA:
            counts[code] = on_grid(count)
    bits = len(CODES) * choice_bits(_GRID_ANSWERS)
    return passed(item, ShownProblems([], dict(sorted(counts.items()))), "problems", bits)


def on_grid(count: int) -> int:
    """The nearest of 0 and 1, 2, 5 times a power of ten; the smaller where two are as near."""
    if count < 1:
        return 0
    power: int = 10 ** int(math.log10(count))
    return min((step * power for step in (1, 2, 5, 10)), key=lambda near: (abs(near - count), near))
