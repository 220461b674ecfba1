"""Does the board keep its promises? Simulated challenges whose truth is known; seeded, one table.

    python benchmarks/ranking_simulations.py [--short]

Exit code 1 if a promise is broken. Patients have one to five notes that share a difficulty; each note has some
annotations that a system finds, and some it invents. Rows that were chosen are simulated by ``simulated_boards.py``,
cell by cell; what that recorded is judged here too.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import simulated_boards
from numpy.typing import NDArray

from sandscore.challenges.feedback import grid
from sandscore.challenges.ladder import LadderState, climb, f1_of, leave_one_out, standard_error
from sandscore.ranking.confidence_intervals import percentile_intervals
from sandscore.ranking.pair_tests import ALPHA, PairTests, rank_sets
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import ScoreTable
from sandscore.ranking.stepdown import stepdown
from sandscore.separation.power_planning import PowerPlan, patients_needed, simulated

Counts = NDArray[np.int64]
MOST_NOTES = 5
PROBES = 700


@dataclass(frozen=True)
class Row:
    """One line of the printed table; ``kept`` is None where nothing is promised."""

    what: str
    found: str
    promised: str
    kept: bool | None


def notes_of(stream: np.random.Generator, challenges: int, patients: int, systems: int = 1) -> tuple[Counts, Counts]:
    """(systems, challenges, patients, notes, 3) counts of equally good systems, and which notes there are."""
    shape = (challenges, patients)
    there = np.arange(MOST_NOTES) < stream.integers(1, MOST_NOTES + 1, shape)[..., None]
    gold = stream.poisson(4, (*shape, MOST_NOTES)) * there
    ease = stream.beta(8, 2, (*shape, 1))
    tp = stream.binomial(gold, np.broadcast_to(ease, gold.shape), (systems, *gold.shape))
    fp = stream.poisson(0.9 * (1.2 - ease), tp.shape) * there
    return np.stack([tp, fp, gold - tp], axis=-1), there.astype(np.int64)


def f1(counts: Counts) -> float:
    tp, fp, fn = counts.reshape(-1, 3).sum(axis=0)
    return float(2 * tp / (2 * tp + fp + fn))


def table_of(counts: Counts) -> ScoreTable:
    """(systems, units, 3) as a table of one measure."""
    systems, units, _ = counts.shape
    names = tuple(f"s{i}" for i in range(systems))
    everywhere = np.ones((systems, 1, 1), np.bool_)
    return ScoreTable(names, ("",), ("instance_strict",), counts[:, :, None], (slice(0, units),), everywhere, {})


def coverage(counts: Counts, truth: float) -> float:
    """How often the interval of one challenge (the first axis) holds the truth."""
    replicates = f1_replicates(table_of(counts), [0], 1, 4_000)[:, 0]
    held = [
        interval is not None and interval[0] <= truth <= interval[1] for interval in percentile_intervals(replicates)
    ]
    return sum(held) / len(held)


def intervals(short: bool) -> Iterator[Row]:
    """Challenges share the resampling weights, not the data."""
    stream = np.random.default_rng(2026)
    truth = f1(notes_of(stream, 1, 1_000_000)[0])
    challenges = 600 if short else 3_000
    for patients in (25, 50, 100, 200, 300, 500):
        counts, there = notes_of(stream, challenges, patients)
        held = coverage(counts[0].sum(axis=2), truth)
        promised = patients >= 100
        yield Row(
            f"interval holds the truth, {patients} patients",
            f"{held:.1%}",
            "92–97 %" if promised else "board warns",
            0.92 <= held <= 0.97 if promised else None,
        )
        if patients == 100:
            yield Row(
                "the same, had notes been resampled",
                f"{note_coverage(counts[0], there, truth):.1%}",
                "too narrow",
                None,
            )


def note_coverage(counts: Counts, there: Counts, truth: float) -> float:
    """Each challenge has its own number of notes, so each is resampled alone."""
    challenges = min(len(counts), 300)
    held = [coverage(counts[i][there[i] > 0][None], truth) for i in range(challenges)]
    return sum(held) / challenges


def chosen_rows(short: bool) -> Iterator[Row]:
    """The worst of the cells that ``simulated_boards.py`` recorded, as far as so many boards tell; and some anew."""
    recorded: dict[str, dict[str, float]] = json.loads(simulated_boards.KEPT.read_text())
    for patients in sorted(simulated_boards.PATIENTS):
        for kind in simulated_boards.KINDS:
            cells = {
                name: of for name, of in recorded.items() if name.split()[0] == kind and name.endswith(f" {patients}")
            }
            if not cells:
                continue
            name, worst = min(cells.items(), key=lambda item: item[1]["chosen"])
            promised = 0.93 if patients >= 100 else 0.90
            spare = 3 * (promised * (1 - promised) / worst["boards"]) ** 0.5
            yield Row(
                f"leader's interval, the worst of {len(cells)} recorded cells: {name}",
                f"{worst['chosen']:.1%}",
                f"≥ {promised:.0%}",
                worst["chosen"] >= promised - spare,
            )
    boards = 60 if short else 300
    anew = simulated_boards.cell("ordinary", "equal", 10, 118, boards, boards)
    for key, what, promised in (("chosen", "leader's interval", 0.93), ("places", "places of all rows", 0.95)):
        spare = 3 * (promised * (1 - promised) / boards) ** 0.5
        said = f"ten equal systems anew, {what}"
        yield Row(said, f"{anew[key]:.1%}", f"≥ {promised:.0%}", anew[key] >= promised - spare)


def type_one_error(short: bool) -> Iterator[Row]:
    stream = np.random.default_rng(7)
    challenges = 1_000 if short else 5_000
    counts, _ = notes_of(stream, challenges, 100, systems=2)
    sides = np.concatenate(counts.sum(axis=3))
    pairs = [(i, challenges + i) for i in range(challenges)]
    p = stepdown(sides, [slice(0, 100)], pairs, 3, 1_999).p
    wrong = np.mean([value <= ALPHA for value in p.values()])
    spare = 3 * np.sqrt(0.05 * 0.95 / challenges) if short else 0.0
    yield Row("two equal systems separated (type I error)", f"{wrong:.1%}", "≤ 6 %", bool(wrong <= 0.06 + spare))


def ten_equals(short: bool) -> Iterator[Row]:
    stream = np.random.default_rng(10)
    runs = 60 if short else 1_000
    pairs = list(combinations(range(10), 2))
    whole, crowned = 0, 0
    for run in range(runs):
        counts, _ = notes_of(stream, 1, 100, systems=10)
        sides = counts[:, 0].sum(axis=2)
        made = stepdown(sides, [slice(0, 100)], pairs, run)
        p = made.p
        order = sorted(range(10), key=lambda s: -f1(sides[s]))
        sets = rank_sets(order, PairTests.of(p, made.adjusted))
        whole += all(places == (1, 10) for places in sets.values())
        crowned += p[min(order[0], order[-1]), max(order[0], order[-1])] <= ALPHA
    share = whole / runs
    yield Row("ten equal systems: rank set 1–10 for all", f"{share:.1%}", "≥ 95 %", share >= (0.90 if short else 0.95))
    yield Row("the same, best and worst by an unadjusted test", f"{crowned / runs:.1%} separated", "misleading", None)


def planner(short: bool) -> Iterator[Row]:
    """New challenges of the size the planner asked for, tested as the board tests."""
    sizes = np.random.default_rng(3).poisson(9, 400)
    challenges = 400 if short else 2_000
    for gap in (0.02, 0.05):
        plan = PowerPlan(gap, simulations=300 if short else 1_000)
        patients = patients_needed(sizes.tolist(), plan, seed=1).patients
        if patients is None:
            raise RuntimeError("the planner found no number of patients")
        stream = np.random.default_rng([99, patients])
        gold = stream.choice(sizes, (challenges, patients))
        sides = [np.stack([tp, den - 2 * tp, np.zeros_like(tp)], axis=-1) for tp, den in simulated(gold, plan, stream)]
        pairs = [(i, challenges + i) for i in range(challenges)]
        p = stepdown(np.concatenate(sides), [slice(0, patients)], pairs, 4, 999).p
        separated = float(np.mean([value <= ALPHA for value in p.values()]))
        kept = separated >= plan.power - (0.05 if short else 0.02)
        yield Row(f"{gap} apart, {patients} patients as planned: separated", f"{separated:.1%}", "about 80 %", kept)


def attack(feedback: Callable[[Counts], float], truth: Counts, attacker: int) -> float:
    """Majority vote of the random probes that the board likes better than a coin; what the board then shows."""
    stream = np.random.default_rng([700, attacker])
    votes = np.zeros(truth.shape, np.int64)
    for _ in range(PROBES):
        guess = stream.integers(0, 2, truth.shape)
        liked = feedback(answers(guess, truth)) > 0.5
        votes += 2 * guess - 1 if liked else 1 - 2 * guess
    return feedback(answers((votes > 0).astype(np.int64), truth))


def answers(guess: Counts, truth: Counts) -> Counts:
    """Annotations right or wrong: a wrong one is a false positive and a miss, F1 the share of right ones."""
    right = (guess == truth).sum(axis=1)
    wrong = truth.shape[1] - right
    return np.stack([right, wrong, wrong], axis=1)


def rounded(counts: Counts) -> float:
    step = grid(standard_error(leave_one_out(counts)))
    return round(f1_of(counts) / step) * step


class LadderBoard:
    """Feedback of a team that comes back again and again."""

    def __init__(self) -> None:
        self.state = LadderState()

    def __call__(self, counts: Counts) -> float:
        self.state = climb(self.state, "probe", counts)
        return self.state.released or 0.0


def majority_vote(short: bool) -> Iterator[Row]:
    """The mean over attackers. The last board is small: there chance alone carries the best of 700 that far."""
    boards: dict[str, Callable[[], Callable[[Counts], float]]] = {
        "full precision": lambda: f1_of,
        "two decimals": lambda: lambda counts: round(f1_of(counts), 2),
        "rounding to the standard error": lambda: rounded,
        "the Ladder": LadderBoard,
    }
    for patients, annotations in ((1_304, 30), (8_850, 1)):
        truth = np.random.default_rng(1).integers(0, 2, (patients, annotations))
        for name, board in boards.items():
            shown = float(np.mean([attack(board(), truth, attacker) for attacker in range(1 if short else 5)]))
            off = abs(shown - 0.5)
            promised = {"full precision": ("> 0.01 off", off > 0.01), "the Ladder": ("within 0.01", off <= 0.01)}
            said, kept = promised.get(name, ("", None)) if annotations > 1 else ("", None)
            what = f"{PROBES} probes, {patients} patients × {annotations}, truth 0.500, {name}: board shows"
            yield Row(what, f"{shown:.3f}", said, kept)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="fewer simulations, wider margins")
    short = options.parse_args().short
    broken = 0
    print("| promise | found | promised | |\n|---|---:|---|---|")
    for suite in (intervals, chosen_rows, type_one_error, ten_equals, planner, majority_vote):
        for row in suite(short):
            verdict = "" if row.kept is None else "kept" if row.kept else "BROKEN"
            broken += row.kept is False
            print(f"| {row.what} | {row.found} | {row.promised} | {verdict} |", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
