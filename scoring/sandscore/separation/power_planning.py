"""Numbers of patients that separate two systems: the challenge's own test, on simulated systems and gold's patients.

Patients are drawn from gold with replacement. Both systems are imagined with precision equal to recall: each finds an
annotation with its own probability, and makes as many false positives as it misses. ``overlap`` is the share of the
better system's errors that the other makes too: systems that fail alike are easier to separate. Some patients are
harder than others, for both systems alike: errors vary by half their number from patient to patient.

Of leaks the same misses are counted, as mentions or as characters, all of a patient of one length; of patients who leak
at all nothing else is imagined than that each does with a system's own probability.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.ranking.pair_tests import ALPHA
from sandscore.ranking.resampling import Floats, coins, exact_dtype, rows_for
from sandscore.ranking.stepdown import TOLERANCE
from sandscore.records.formula import f_beta
from sandscore.task_table.task import Task

DRAWS = 999
HARDNESS = 4.0
"""Shape of a gamma distribution with mean 1 and standard deviation one half."""
MOST_PATIENTS = 100_000
Progress = Callable[[int], object]


LEAKS = ("char_leak", "mention_leak", "patient_leak")
"""Measures of leaks that can be planned for."""


class PowerPlan(Struct, frozen=True):
    """Two systems, ``gap`` apart in F1 (or F-beta, or a leak), and how sure one wants to be to tell them apart."""

    gap: float
    f1: float = 0.9
    overlap: float = 0.5
    power: float = 0.8
    simulations: int = 400
    beta: float = 1.0
    leak: str | None = None
    """The measure in place of F-beta, and its share with the better system."""
    share: float = 0.05

    def __post_init__(self) -> None:
        if self.leak is not None and self.leak not in LEAKS:
            raise UsageFault(f"power plans for {', '.join(LEAKS)}, not for '{self.leak}'")
        if self.leak is not None and not (self.share >= 0 and 0 < self.gap <= 1 - self.share):
            raise UsageFault(f"{self.share:g} leaks and a gap of {self.gap:g} are no two shares")
        if self.leak is None and not 0 < self.gap < self.f1 <= 1:
            raise UsageFault(f"the gap ({self.gap:g}) must lie between 0 and the better system's score ({self.f1:g})")
        if not 0 <= self.overlap <= 1 or not 0 < self.power < 1:
            raise UsageFault("overlap is a share from 0 to 1, power lies between 0 and 1")
        if f_beta(self.beta) is None:
            raise UsageFault(f"beta = {self.beta:g} has too many digits or is too large")

    @property
    def missing(self) -> tuple[float, float]:
        """The share that the better and the worse system miss."""
        missed = 1 - self.f1 if self.leak is None else self.share
        return missed, missed + self.gap

    @property
    def weights(self) -> tuple[int, int]:
        """Of misses and of false positives."""
        square = Fraction(str(self.beta)) ** 2
        return square.numerator, square.denominator


class PatientSizes(Struct, frozen=True):
    """How many gold annotations each patient (or note) has and how many characters they are long, and gold's hash."""

    annotations: list[int]
    characters: list[int]
    gold: str


def sizes_of_patients(task: Task, gold: Path, notes: Path | None) -> PatientSizes:
    """What is drawn from."""
    loaded = load_files(task, Inputs(gold=gold, notes=notes), want_tokens=False)
    if loaded.faulty("gold", "notes"):
        raise OrganiserFault(f"gold or notes have errors; see: sandscore validate {task.id} {gold}")
    units = loaded.dataset.roll.units
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    found = np.zeros((2, len(numbers)), np.int64)
    columns = loaded.columns["gold"]
    of = np.array([numbers[unit] for unit in units], np.int64)[columns.note]
    np.add.at(found[0], of, 1)
    np.add.at(found[1], of, columns.length.astype(np.int64))
    return PatientSizes(found[0].tolist(), found[1].tolist(), loaded.sha256["gold"][:12])


class Answer(Struct, frozen=True):
    """``patients`` is None where even the most patients we try do not suffice; ``tried`` lists (patients, power)."""

    patients: int | None
    tried: tuple[tuple[int, float], ...]


def patients_needed(
    annotations: Sequence[int],
    plan: PowerPlan,
    seed: int,
    progress: Progress = lambda _: None,
    characters: Sequence[int] = (),
) -> Answer:
    """The smallest number of patients (to 5 %) with which the test separates the systems as often as asked.

    The simulations must show a standard error more than that: the smallest of several is often a lucky one.
    """
    sizes = np.asarray([annotations, characters or annotations], np.int64)
    if not sizes[0].any():
        raise OrganiserFault("gold has no annotations: there is nothing to simulate from")
    tried: dict[int, float] = {}
    spare = math.sqrt(plan.power * (1 - plan.power) / plan.simulations)

    def enough(patients: int) -> bool:
        tried[patients] = power_at(sizes, plan, patients, seed)
        progress(1)
        return tried[patients] >= plan.power + spare

    low, high = 0, min(MOST_PATIENTS, max(10, _guess(sizes, plan)))
    while not enough(high):
        if high == MOST_PATIENTS:
            return Answer(None, tuple(sorted(tried.items())))
        low, high = high, min(MOST_PATIENTS, math.ceil(high * 1.5))
    while high - low > max(1, high // 20):
        middle = (low + high) // 2 if low else max(high * 2 // 3, 1)
        if middle == high:
            break
        if enough(middle):
            high = middle
        else:
            low = middle
    return Answer(high, tuple(sorted(tried.items())))


def power_at(sizes: NDArray[np.int64], plan: PowerPlan, patients: int, seed: int) -> float:
    """The share of simulated challenges of this size in which the test separates the two systems; ``sizes`` are of
    annotations, or of these and of characters."""
    annotations, characters = sizes if sizes.ndim > 1 else (sizes, sizes)
    stream = np.random.Generator(np.random.PCG64([seed, patients]))
    separated = 0
    at_once = max(1, min(plan.simulations, 4_000_000 // patients))
    for start in range(0, plan.simulations, at_once):
        count = min(at_once, plan.simulations - start)
        drawn = stream.integers(0, len(annotations), (count, patients))
        p = randomisation_p_of(*simulated(annotations[drawn], plan, stream, characters[drawn]), seed)
        separated += int(np.count_nonzero(p <= ALPHA))
    return separated / plan.simulations


def simulated(
    gold: NDArray[np.int64],
    plan: PowerPlan,
    stream: np.random.Generator,
    characters: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Counts of the better and the worse system on these patients: twice the first over the second is the score."""
    miss_a, miss_b = plan.missing
    gold = np.minimum(gold, 1) if plan.leak == "patient_leak" else gold
    both = max(plan.overlap * miss_a, miss_a + miss_b - 1)
    chances = np.array([both, miss_a - both, miss_b - both])
    hardness = np.minimum(stream.gamma(HARDNESS, 1 / HARDNESS, gold.shape), 1 / chances.sum())[..., None]
    if plan.leak == "patient_leak":  # a patient leaks or not: how hard it is adds nothing
        hardness = np.ones_like(hardness)
    found = np.maximum(1 - hardness * chances.sum(), 0)
    kinds = stream.multinomial(gold, np.concatenate([hardness * chances, found], axis=-1))
    if plan.leak is not None:
        length = gold if characters is None or plan.leak != "char_leak" else characters
        missed = [(kinds[..., 0] + kinds[..., own]) * length // np.maximum(gold, 1) for own in (1, 2)]
        return np.stack([missed[0], 2 * length]), np.stack([missed[1], 2 * length])
    spurious = stream.poisson(gold[..., None] * hardness * chances)
    tp = [gold - kinds[..., 0] - kinds[..., own] for own in (1, 2)]
    fp = [spurious[..., 0] + spurious[..., own] for own in (1, 2)]
    misses, invented = plan.weights
    found_both = ((misses + invented) * hits for hits in tp)
    better, worse = (
        np.stack([whole, 2 * (whole + misses * (gold - hits) + invented * extra)])
        for whole, hits, extra in zip(found_both, tp, fp, strict=True)
    )
    return better, worse


def randomisation_p_of(better: NDArray[np.int64], worse: NDArray[np.int64], seed: int) -> Floats:
    """p of each simulated challenge (middle axis), all with the same coins; see ``stepdown``."""
    _, challenges, patients = better.shape
    with np.errstate(invalid="ignore"):
        share = 2 * np.divide(*(better + worse).sum(axis=2))
    lead = (better - worse).astype(np.float64)
    observed = _distance(lead.sum(axis=2)[..., None], share)
    dtype = exact_dtype(patients, 2 * int(np.abs(lead).max(initial=0)))
    exact: NDArray[Any] = lead.astype(dtype)
    reached = np.zeros(challenges, np.int64)
    for thrown in coins(seed, patients, DRAWS, rows_for(patients, DRAWS)):
        flipped = exact @ (2 * thrown.T.astype(dtype) - 1)
        shuffled = _distance(flipped.astype(np.float64), share)
        reached += np.count_nonzero(~(shuffled < observed * (1 - TOLERANCE)), axis=1)
    p: Floats = (1 + reached).astype(np.float64) / (DRAWS + 1)
    return p


def _distance(lead: Floats, share: Floats) -> Floats:
    """How far apart the two are, from what one has more of tp and of 2 tp + fp + fn."""
    apart: Floats = np.abs(2 * lead[0] - share[:, None] * lead[1])
    return apart


def _guess(sizes: NDArray[np.int64], plan: PowerPlan) -> int:
    """A first size, from the normal approximation of errors that are alone in their annotations."""
    alone = 2 * plan.missing[0] * (1 - plan.overlap) + plan.gap
    mean = float((np.minimum(sizes[0], 1) if plan.leak == "patient_leak" else sizes[0]).mean())
    return math.ceil(8 * alone / (plan.gap**2 * max(mean, 1e-3)))
