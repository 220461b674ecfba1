"""How often the bounds of leaks hold, in simulations: ``python benchmarks/leak_coverage.py`` writes leak_coverage.json.

Patients have one to six notes. So many of them leak, in their first note and in each other one as often as not; the
share of leaking notes follows. A bound holds where it is not below the truth. Exact bounds must hold in 95 % of
samples, the others hold as often as they do.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

from msgspec import Struct

from sandscore.leaks.leak_bounds import clustered_upper, exact_upper
from sandscore.records.interval_rules import FEW_LEAKING

PLACE = Path(__file__).with_name("leak_coverage.json")
PATIENTS = (18, 59, 118, 300)
SHARES = (0.0, 0.002, 0.005, 0.02, 0.05, 0.2)
SAMPLES = 4000
REPLICATES = 200
_AGAIN = 0.5
"""How often each further note of a leaking patient leaks too."""


class Sample(Struct, frozen=True):
    """By patient: leaking notes and notes."""

    leaking: list[int]
    of: list[int]

    @property
    def patients(self) -> int:
        return sum(k > 0 for k in self.leaking)


def sample(draw: Random, patients: int, share: float) -> Sample:
    of = [draw.randint(1, 6) for _ in range(patients)]
    leaking = [1 + sum(draw.random() < _AGAIN for _ in range(m - 1)) if draw.random() < share else 0 for m in of]
    return Sample(leaking, of)


def share_of_notes(share: float) -> float:
    """Of notes: the first of a leaking patient's, and half of the others; patients have 3.5 each."""
    notes = 3.5
    return share * (1 + _AGAIN * (notes - 1)) / notes


def bootstrap_upper(draw: Random, one: Sample) -> float:
    """The 95 % quantile of the share of leaking patients when patients are drawn again."""
    n, x = len(one.of), one.patients
    shares = sorted(sum(draw.random() < x / n for _ in range(n)) / n for _ in range(REPLICATES))
    return shares[int(0.95 * REPLICATES)]


def coverage(
    patients: int, share: float, samples: int = SAMPLES, *, bootstrap: bool = True
) -> dict[str, float | int | None]:
    """How often each bound is not below the truth; of Korn and Graubard's, among the samples that have one."""
    draw = Random(f"{patients} {share}")
    given = [sample(draw, patients, share) for _ in range(samples)]
    bounds = {x: exact_upper(x, patients) or 0 for x in {one.patients for one in given}}
    exact = sum(bounds[one.patients] >= share for one in given)
    notes = share_of_notes(share)
    few, drawn = given[: samples // 4], given[: samples // 20]
    clustered = [bound for one in few if (bound := clustered_upper(one.leaking, one.of)) is not None]
    return {
        "patients": patients,
        "share": share,
        "samples": samples,
        "exact": exact / samples,
        "no_leak_seen": sum(one.patients == 0 for one in given) / samples,
        "clustered": sum(bound >= notes for bound in clustered) / len(clustered) if clustered else None,
        "clustered_shown": len(clustered) / len(few),
        "bootstrap": sum(bootstrap_upper(draw, one) >= share for one in drawn) / len(drawn),
        "bootstrap_shown": sum(one.patients >= FEW_LEAKING for one in given) / samples,
    }


def main(told: Callable[[str], object] = print) -> None:
    cells = []
    for patients in PATIENTS:
        for share in SHARES:
            cells.append(coverage(patients, share))
            told(json.dumps(cells[-1]))
    PLACE.write_text(json.dumps({"level": 0.95, "cells": cells}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
