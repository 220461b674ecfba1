"""nervaluate's greedy pairing, prediction by prediction in file order, on the pairs that can meet at all.

The original looks at every true mention for every prediction, four times a document and four times more per
type. Here those that can meet are found once by a sweep; the choices among them are the original's.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sandscore.measuring.general.matching import overlapping_pairs
from sandscore.records.documents import Annotation

SCHEMAS = ("strict", "partial", "ent_type", "exact")
UNLABELLED = "NONE"


class Candidate(NamedTuple):
    """A true mention a prediction may take: is it enough overlap, and is it a hit under each schema."""

    true: int
    enough: bool
    strict: bool
    partial: bool
    exact: bool
    same_label: bool
    distance: int


class Outcome(NamedTuple):
    """Indices of predictions (of true mentions for ``missed``) by what became of them."""

    correct: list[int]
    other: list[int]
    spurious: list[int]
    missed: list[int]


def label_of(annotation: Annotation) -> str:
    """The original takes words only, so "no label" is one."""
    return annotation.label or UNLABELLED


def candidates(true: Sequence[Annotation], predictions: Sequence[Annotation], least: float) -> list[list[Candidate]]:
    """Per prediction the true mentions with enough overlap or the same bounds, in file order."""
    found: list[list[Candidate]] = [[] for _ in predictions]
    for i, j in sorted(_meeting(true, predictions)):
        t, p = true[i], predictions[j]
        t_end, p_end = t.start + t.length, p.start + p.length
        shared = min(t_end, p_end) - max(t.start, p.start)
        touching = p.start < t_end and p_end > t.start
        enough = touching and (shared / t.length) * 100.0 >= least
        bounds = t.start == p.start and t_end == p_end
        if enough or bounds:
            label = label_of(t) == label_of(p)
            distance = abs(p.start - t.start) + abs(p_end - t_end)
            hits = (bounds and label, bounds and enough, bounds)
            found[j].append(Candidate(i, enough, *hits, label, distance))
    return found


def pair(found: list[list[Candidate]], true_count: int, schema: str) -> Outcome:
    """What becomes of every mention under one schema."""
    column = Candidate._fields.index(schema) if schema != "ent_type" else -1
    used = bytearray(true_count)
    outcome = Outcome([], [], [], [])
    for j, choices in enumerate(found):
        taken, hit = _nearest(choices, used) if column < 0 else _first(choices, used, column)
        if taken < 0:
            outcome.spurious.append(j)
            continue
        used[taken] = 1
        (outcome.correct if hit else outcome.other).append(j)
    outcome.missed.extend(i for i in range(true_count) if not used[i])
    return outcome


def _first(choices: list[Candidate], used: bytearray, column: int) -> tuple[int, bool]:
    fallback = -1
    for choice in choices:
        if used[choice[0]]:
            continue
        if choice[column]:
            return choice[0], True
        if fallback < 0 and choice[1]:
            fallback = choice[0]
    return fallback, False


def _nearest(choices: list[Candidate], used: bytearray) -> tuple[int, bool]:
    best, fallback, least = -1, -1, 0
    for choice in choices:
        if used[choice[0]] or not choice[1]:
            continue
        if choice.same_label:
            if best < 0 or choice.distance < least:
                best, least = choice[0], choice.distance
        elif fallback < 0:
            fallback = choice[0]
    return (best, True) if best >= 0 else (fallback, False)


def _meeting(true: Sequence[Annotation], predictions: Sequence[Annotation]) -> list[tuple[int, int]]:
    """Overlapping pairs; all pairs where a mention ends before it starts, which no sweep understands."""
    if any(a.length < 1 for side in (true, predictions) for a in side):
        return [(i, j) for i in range(len(true)) for j in range(len(predictions))]
    sides = [[(a.start, a.start + a.length) for a in side] for side in (true, predictions)]
    return overlapping_pairs(*sides)
