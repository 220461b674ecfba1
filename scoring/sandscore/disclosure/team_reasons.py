"""Reasons that a team may be told about its predictions on hidden data: code, place, count, and its own value.

A validator's sentence may go on to say where a text stands in the note, or how long the note is: that is cut off.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.records.problem import Problem

LISTED = 100
_FROM_THE_NOTE = ("; it stands ", ", which has ")
_ABOUT_THE_DATA = "missing-note"


def told(problem: Problem) -> dict[str, Any] | None:
    """The problem without what comes from the note; None where nothing else would be left."""
    if problem.code == _ABOUT_THE_DATA:
        return None
    return asdict(problem) | {"message": without_clues(problem.message)}


def without_clues(sentence: str) -> str:
    """The sentence up to where it begins to speak of the note."""
    for clue in _FROM_THE_NOTE:
        sentence = sentence.partition(clue)[0]
    return sentence


def public_problems(findings: ProblemCollector) -> dict[str, Any]:
    """For problems.json: errors first, at most a hundred."""
    ordered = sorted(findings.problems, key=lambda problem: problem.severity)
    listed = [record for problem in ordered[: 10 * LISTED] if (record := told(problem)) is not None]
    return {"problems": listed[:LISTED], "counts": dict(sorted(findings.counts.items()))}


def reason_of(problems: dict[str, Any]) -> str:
    """One sentence: what, how often, and the first of them."""
    counts = ", ".join(f"{code} {count:,}" for code, count in problems["counts"].items())
    errors: Sequence[dict[str, Any]] = [p for p in problems["problems"] if p["severity"] == "error"]
    first = f"; first: {errors[0]['pointer'] or '/'}: {errors[0]['message']}" if errors else ""
    return f"the predictions are not valid: {counts}{first}"
