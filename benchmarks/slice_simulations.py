"""How often a planted gap is found, and how often one where there is none: slices, and paired perturbed copies.

118 patients of 20 mentions each, five groups of which one has 30 % of the mentions; patients differ (a standard
deviation of 0.5 in log odds), and so do their shares of each group. ``python benchmarks/slice_simulations.py`` prints a
row for each world and writes slice_simulations.json; the tests run a short form.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sandscore.slices.simultaneous import GroupInterval, group_intervals

PATIENTS, MENTIONS = 118, 20
SHARES = (0.3, 0.175, 0.175, 0.175, 0.175)
SPREAD = 0.5
TARGET = Path(__file__).with_suffix(".json")
Counts = NDArray[np.int64]
World = Callable[[np.random.Generator, float], tuple[Counts, Counts, bool]]


def found_by_slice(
    draw: np.random.Generator, gap: float, recall: float = 0.9, patients: int = PATIENTS
) -> tuple[Counts, Counts, bool]:
    """Found mentions and mentions by slice and patient, all together last; the first slice is worse by ``gap``."""
    tilted = draw.dirichlet(np.array(SHARES) * 20, size=patients)
    of = np.array([draw.multinomial(MENTIONS, shares) for shares in tilted]).T
    odds = draw.normal(0, SPREAD, size=patients)
    chance = np.array([recall - gap, *[recall] * (len(SHARES) - 1)])
    n = draw.binomial(of, _shifted(chance[:, None], odds))
    return np.vstack((n, n.sum(axis=0))), np.vstack((of, of.sum(axis=0))), False


def found_on_copies(
    draw: np.random.Generator, gap: float, recall: float = 0.9, patients: int = PATIENTS
) -> tuple[Counts, Counts, bool]:
    """The same mentions on five copies, and on the notes themselves last.

    Each copy rewrites 30 % of the mentions. Of those it rewrites an annotator loses and finds as many by chance (3 % of
    all), and on the first copy loses ``gap`` more.
    """
    odds = draw.normal(0, SPREAD, size=patients)
    seen = draw.random((patients, MENTIONS)) < _shifted(np.full((1, 1), recall), odds[None]).T
    rows = []
    for copy in range(5):
        rewritten = draw.random(seen.shape) < SHARES[0]
        lost = 0.03 + (gap if copy == 0 else 0)
        again = np.where(seen, draw.random(seen.shape) >= lost / recall, draw.random(seen.shape) < 0.03 / (1 - recall))
        rows.append(np.where(rewritten, again, seen).sum(axis=1))
    n = np.array([*rows, seen.sum(axis=1)])
    return n, np.full_like(n, MENTIONS), True


def _shifted(chance: NDArray[np.float64], odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chances of each patient whose mean over patients is the one given, nearly."""
    scale = np.sqrt(1 + SPREAD**2 * 0.346)
    shifted: NDArray[np.float64] = 1 / (1 + np.exp(-(np.log(chance / (1 - chance)) * scale + odds)))
    return shifted


def judged(told: list[GroupInterval]) -> tuple[bool, bool]:
    """Whether the first group was found to be worse, and whether any group was found to differ."""
    ends = [one.gap_ci for one in told]
    worse = ends[0] is not None and ends[0][1] < 0
    return worse, any(end is not None and not end[0] <= 0 <= end[1] for end in ends)


def simulated(world: World, gap: float, boards: int, seed: int) -> dict[str, float]:
    """The share of data sets in which the planted gap was found, and in which any group was called different."""
    draw = np.random.default_rng(seed)
    outcomes = []
    for number in range(boards):
        n, of, paired = world(draw, gap)
        outcomes.append(judged(group_intervals(n, of, seed + number, paired=paired)))
    worse, any_group = np.mean(outcomes, axis=0)
    return {"gap": gap, "found": float(worse), "any": float(any_group), "data_sets": boards}


def main(boards: int) -> None:
    worlds: dict[str, World] = {"slices": found_by_slice, "perturbed copies": found_on_copies}
    out = {}
    for name, world in worlds.items():
        for gap in (0.0, 0.05):
            out[f"{name}, gap {gap:g}"] = told = simulated(world, gap, boards, 12)
            print(f"{name:18} gap {gap:4.2f}  found {told['found']:.3f}  any group {told['any']:.3f}", flush=True)
    TARGET.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
