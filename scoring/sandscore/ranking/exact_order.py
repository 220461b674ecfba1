"""Exact order and its numbers: scores are fractions, compared by cross-multiplication, never as floats."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

from sandscore.records.challenge import Numbering

Score = tuple[Fraction | None, ...] | None
"""One or several exact numbers, compared in order; None is undefined."""
Key = tuple[tuple[bool, Fraction], ...]


def f1_fraction(tp: int, fp: int, fn: int) -> Fraction | None:
    whole = 2 * tp + fp + fn
    return Fraction(2 * tp, whole) if whole else None


def sort_key(score: Score, higher_is_better: bool = True) -> Key:
    """Sorts the best first; what is undefined comes after everybody, in either direction."""
    if score is None:
        return ((True, Fraction(0)),)
    sign = -1 if higher_is_better else 1
    return tuple((part is None, Fraction(0) if part is None else sign * part) for part in score)


def number(keys: Sequence[object], numbering: Numbering) -> list[int | float]:
    """The rank of each of these sorted keys; equal neighbours share one."""
    starts = [i for i in range(len(keys)) if i == 0 or keys[i] != keys[i - 1]]
    out: list[int | float] = []
    for place, (start, stop) in enumerate(pairwise([*starts, len(keys)]), start=1):
        out += [NUMBER[numbering](place, start, stop)] * (stop - start)
    return out


def _average(_place: int, start: int, stop: int) -> int | float:
    doubled = start + 1 + stop
    return doubled / 2 if doubled % 2 else doubled // 2


NUMBER: dict[Numbering, Callable[[int, int, int], int | float]] = {
    "competition": lambda place, start, stop: start + 1,
    "dense": lambda place, start, stop: place,
    "average": _average,
}


def mean_ranks(scores: Sequence[Fraction | None]) -> list[Fraction | None]:
    """Average rank from 1, best first; None where there is no score."""
    defined = [score for score in scores if score is not None]
    out: list[Fraction | None] = []
    for score in scores:
        if score is None:
            out.append(None)
            continue
        better = sum(other > score for other in defined)
        equal = sum(other == score for other in defined)
        out.append(Fraction(2 * better + equal + 1, 2))
    return out
