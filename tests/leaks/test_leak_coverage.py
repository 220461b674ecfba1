"""Recorded simulations of the bounds (benchmarks/leak_coverage.json): exact ones hold, and a few are drawn again."""

import json
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from leak_coverage import PATIENTS, PLACE, SAMPLES, SHARES, coverage

CELLS: list[dict[str, Any]] = json.loads(Path(PLACE).read_text(encoding="utf-8"))["cells"]


def test_every_cell_is_recorded() -> None:
    assert [(cell["patients"], cell["share"]) for cell in CELLS] == [(n, share) for n in PATIENTS for share in SHARES]
    assert {cell["samples"] for cell in CELLS} == {SAMPLES}


def test_exact_bounds_hold_their_level() -> None:
    """At 18, 59, 118 and 300 patients, samples without a leak among them; 4,000 draws allow for some noise."""
    noise = NormalDist().inv_cdf(0.999) * (0.95 * 0.05 / SAMPLES) ** 0.5
    assert [cell for cell in CELLS if cell["exact"] < 0.95 - noise] == []
    assert max(cell["no_leak_seen"] for cell in CELLS if cell["share"] > 0) > 0.9
    assert all(cell["exact"] == 1 for cell in CELLS if cell["share"] == 0)


def test_what_resampling_is_worth_is_said() -> None:
    """A bootstrap of rare leaks misses its level, which is why fewer than five leaking patients show none."""
    rare = [cell["bootstrap"] for cell in CELLS if cell["share"] in {0.002, 0.005} and cell["patients"] <= 118]
    assert max(rare) < 0.8
    shown = [cell["clustered"] for cell in CELLS if cell["clustered_shown"] > 0.5]
    assert len(shown) > 3
    assert min(shown) > 0.85


@pytest.mark.parametrize(("patients", "share"), [(18, 0.05), (118, 0.02)])
def test_some_are_drawn_again(patients: int, share: float) -> None:
    found, recorded = (
        coverage(patients, share, 400),
        next(c for c in CELLS if (c["patients"], c["share"]) == (patients, share)),
    )
    assert found["exact"] == pytest.approx(recorded["exact"], abs=0.04)
    assert (found["exact"] or 0) > 0.92
