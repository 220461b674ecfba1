"""Reasons that a team may be told about its predictions on hidden data: code, place, count, and its own value.

A validator's sentence may go on to say where a text stands in the note, or how long the note is: that is cut off.
"""

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.records.problem import Problem

LISTED = 100
_FROM_THE_NOTE = ("; it stands ", ", which has ")
_ABOUT_THE_DATA = "missing-note"


class PublicProblems(Struct, frozen=True):
    """The content of problems.json: errors first, at most a hundred; and how often each code was found."""

    problems: list[Problem]
    counts: dict[str, int]


def told(problem: Problem) -> Problem | None:
    """The problem without what comes from the note; None where nothing else would be left."""
    if problem.code == _ABOUT_THE_DATA:
        return None
    return replace(problem, message=without_clues(problem.message))


def without_clues(sentence: str) -> str:
    """The sentence up to where it begins to speak of the note."""
    for clue in _FROM_THE_NOTE:
        sentence = sentence.partition(clue)[0]
    return sentence


def public_problems(findings: ProblemCollector) -> PublicProblems:
    ordered = sorted(findings.problems, key=lambda problem: problem.severity)
    listed = [one for problem in ordered[: 10 * LISTED] if (one := told(problem)) is not None]
    return PublicProblems(listed[:LISTED], dict(sorted(findings.counts.items())))


def reason_of(found: PublicProblems) -> str:
    """One sentence: what, how often, and the first of them."""
    counts = ", ".join(f"{code} {count:,}" for code, count in found.counts.items())
    errors = [problem for problem in found.problems if problem.severity == "error"]
    first = f"; first: {errors[0].pointer or '/'}: {errors[0].message}" if errors else ""
    return f"the predictions are not valid: {counts}{first}"
