"""The problems that validation found, as a team may be told of them."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.disclosure.released import Audience, Item, Released, byte_bits, choice_bits, passed
from sandscore.records.diagnosis import OF_THE_FILE, Diagnosis
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
    diagnosis: list[Diagnosis] = []
    """What explains many of them at once; where they may not be told, what is seen in the file alone."""


class ProblemsItem(Item[ShownProblems], frozen=True, kw_only=True):
    """Everything that validation found."""

    problems: Sequence[Problem]
    counts: Mapping[str, int]
    diagnosis: Sequence[Diagnosis] = ()
    rehearsal: bool = False
    """Found on practice notes."""


def problems_view(item: ProblemsItem, audience: Audience, policy: DisclosurePolicy) -> Released[ShownProblems]:
    """All of it where the notes are no secret to the team; else codes."""
    full = item.rehearsal or policy.problems == "full"
    if audience is Audience.TEAM and full:
        errors_first = sorted(item.problems, key=lambda problem: problem.severity)[:LISTED]
        shown = ShownProblems(errors_first, dict(sorted(item.counts.items())), list(item.diagnosis))
        return passed(item, shown, "problems", byte_bits(shown) if policy.notes_hidden and not item.rehearsal else 0.0)
    causes = file_causes(item.diagnosis)
    bits = count_bits() + 2 * len(causes) * choice_bits(_GRID_ANSWERS) if policy.notes_hidden else 0.0
    return passed(item, ShownProblems([], code_counts(item.counts), causes), "problems", bits)


def file_causes(diagnosis: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The causes that show in the file alone, with rough counts: any other says what stands where in the notes."""
    return [
        Diagnosis(one.cause, one.scope, on_grid(one.explains), on_grid(one.of), one.fixable)
        for one in diagnosis
        if one.cause in OF_THE_FILE
    ]


def code_counts(counts: Mapping[str, int]) -> dict[str, int | None]:
    """How often each code was found, roughly; for what depends on the notes only whether."""
    shown: dict[str, int | None] = {}
    for code, count in sorted(counts.items()):
        if code in _ABOUT_NOTES:
            shown[FIT] = None
        elif code != _ABOUT_DATA:
            shown[code] = on_grid(count)
    return dict(sorted(shown.items()))


def first_code(counts: Mapping[str, int]) -> str:
    """The first error that was found, in the order of the codes."""
    code = next((code for code, severity in CODES.items() if severity == "error" and counts.get(code)), _ABOUT_DATA)
    return FIT if code in _ABOUT_NOTES else code


def count_bits() -> float:
    """Of the codes with their rough counts."""
    return len(CODES) * choice_bits(_GRID_ANSWERS)


def on_grid(count: int) -> int:
    """The nearest of 0 and 1, 2, 5 times a power of ten; the smaller where two are as near."""
    if count < 1:
        return 0
    power: int = 10 ** int(math.log10(count))
    return min((step * power for step in (1, 2, 5, 10)), key=lambda near: (abs(near - count), near))


def reason_of(found: ProblemCollector) -> str:
    """One sentence: what, how often, what explains most of it, and the first error."""
    counts = ", ".join(f"{code} {count:,}" for code, count in sorted(found.counts.items()))
    first = next((problem for problem in found.problems if problem.severity == "error"), None)
    said = f"; first: {first.pointer or '/'}: {first.message}" if first else ""
    cause = "".join(f"; {one.sentence}" for one in found.diagnosis[:1])
    return f"the predictions are not valid: {counts}{cause}{said}"
