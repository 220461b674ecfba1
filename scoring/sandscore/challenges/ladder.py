"""The parameter-free Ladder (Blum & Hardt 2015): a team learns a new score only when it is a real improvement.

Real is: better than the released score by more than the standard error of the difference between the new submission
and the released one, a paired jackknife over patients. What is released is rounded to one patient's worth.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sandscore.ranking.resampling import Floats, f1_of_sums
from sandscore.records.strict_record import StrictRecord

UnitCounts = NDArray[np.int64]


class LadderState(StrictRecord):
    """What is remembered of one team, and never shown: the released score and its submission's counts."""

    released: float | None = None
    submission: str | None = None
    counts: tuple[tuple[int, int, int], ...] = ()


def climb(state: LadderState, submission: str, counts: UnitCounts) -> LadderState:
    """The state after one more submission; ``counts[u]`` is (tp, fp, fn) of a unit."""
    score = f1_of(counts)
    if np.isnan(score):
        return state
    if state.released is not None:
        before = np.asarray(state.counts, np.int64).reshape(-1, 3)
        step = standard_error(leave_one_out(counts) - leave_one_out(before)) if len(before) == len(counts) else 0.0
        if not score > state.released + step:
            return state
    rounded = round(score * len(counts)) / len(counts)
    return LadderState(
        released=rounded, submission=submission, counts=tuple((int(a), int(b), int(c)) for a, b, c in counts)
    )


def replay(submissions: Sequence[tuple[str, UnitCounts]]) -> LadderState:
    """The state after these submissions of one team, oldest first."""
    state = LadderState()
    for name, counts in submissions:
        state = climb(state, name, counts)
    return state


def f1_of(counts: UnitCounts) -> float:
    """Pooled F1; NaN where it is undefined."""
    return float(f1_of_sums(_pair(counts).sum(axis=1)))


def leave_one_out(counts: UnitCounts) -> Floats:
    """Pooled F1 without each unit in turn."""
    pair = _pair(counts)
    return f1_of_sums(pair.sum(axis=1, keepdims=True) - pair)


def standard_error(jackknife: Floats) -> float:
    """Of the estimate whose leave-one-out values these are."""
    values = jackknife[~np.isnan(jackknife)]
    if not len(values):
        return 0.0
    return float(np.sqrt((len(values) - 1) / len(values) * ((values - values.mean()) ** 2).sum()))


def _pair(counts: UnitCounts) -> Floats:
    floats = counts.astype(np.float64)
    return np.stack([floats[:, 0], 2 * floats[:, 0] + floats[:, 1] + floats[:, 2]])
