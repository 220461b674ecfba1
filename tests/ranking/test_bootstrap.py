"""Replicates against a float64 reference in plain loops, and against all n^n resamples."""

import itertools
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from ranking_cards import drawn_rows, entry

from sandscore.ranking.resampling import f1_replicates, weights
from sandscore.ranking.score_table import tabulate

pytestmark = pytest.mark.slow


def reference(rows: list[tuple[int, int, int]], drawn: list[float]) -> float:
    tp, fp, fn = (sum(int(w) * row[k] for w, row in zip(drawn, rows, strict=True)) for k in range(3))
    return 2 * tp / (2 * tp + fp + fn)


@pytest.mark.parametrize("scale", [1, 1_000_003], ids=["single precision", "double precision"])
def test_equal_to_integers_in_loops(scale: int) -> None:
    systems = {name: drawn_rows(skill, 30, seed) for seed, (name, skill) in enumerate([("a", 0.9), ("b", 0.6)])}
    scaled = {name: [(a * scale, b * scale, c * scale) for a, b, c in rows] for name, rows in systems.items()}
    table = tabulate([entry(name, rows) for name, rows in scaled.items()])
    made = f1_replicates(table, [0], seed=4, resamples=150)
    ((_, drawn),) = weights(4, [30], 150, np.float64, 150)
    for s, name in enumerate("ab"):
        assert made[s, 0].tolist() == [reference(scaled[name], row) for row in drawn.tolist()]


@pytest.mark.parametrize("rows", [1, 7, 64, 1_000])
def test_independent_of_chunk_size(rows: int) -> None:
    table = tabulate([entry(f"s{i}", drawn_rows(0.8, 200, i)) for i in range(3)])
    assert np.array_equal(f1_replicates(table, [0], 1, 300, rows), f1_replicates(table, [0], 1, 300))


def test_independent_of_the_number_of_threads() -> None:
    program = (
        "import hashlib; from ranking_cards import *; from sandscore.ranking.board_building import rank;"
        "b = rank([entry(f's{i}', drawn_rows(.8, 400, i)) for i in range(8)]);"
        "print(hashlib.sha256(b.model_dump_json().encode()).hexdigest())"
    )
    paths = {"PYTHONPATH": os.pathsep.join(["scoring", "tests", os.environ.get("PYTHONPATH", "")])}
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | paths | {"OPENBLAS_NUM_THREADS": threads},
            check=True,
            capture_output=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(said) == 1


def test_distribution_over_all_resamples() -> None:
    """Four patients have 4^4 equally likely resamples; each distinct F1 comes as often as it should."""
    rows = [(3, 0, 1), (0, 2, 2), (5, 1, 0), (1, 1, 4)]
    exact = Counter(
        round(reference([rows[i] for i in chosen], [1.0] * 4), 12) for chosen in itertools.product(range(4), repeat=4)
    )
    made = f1_replicates(tabulate([entry("a", rows)]), [0], seed=77, resamples=40_000)[0, 0]
    seen = Counter(np.round(made, 12).tolist())
    assert set(seen) == set(exact)
    for value, ways in exact.items():
        chance = ways / 4**4
        assert abs(seen[value] / 40_000 - chance) < 5 * np.sqrt(chance * (1 - chance) / 40_000)


def test_patients_not_notes_are_drawn() -> None:
    """Two notes of one patient move together: the same replicates as one note with their sum."""
    split = entry("a", [(2, 1, 0), (1, 0, 1), (0, 3, 3), (4, 0, 0)], patients=["p", "q", "p", "r"])
    whole = entry("a", [(2, 4, 3), (1, 0, 1), (4, 0, 0)], patients=["p", "q", "r"])
    one, two = (f1_replicates(tabulate([card]), [0], 3, 200) for card in (split, whole))
    assert np.array_equal(one, two)


def test_strata_keep_their_size() -> None:
    """One data set of sure hits, one of sure misses: whatever is drawn, the pooled score stays."""
    hits = entry("a", [(2, 0, 0)] * 5, dataset="east")
    misses = entry("a", [(0, 1, 1)] * 9, dataset="west")
    made = f1_replicates(tabulate([hits, misses]), [0], 3, 500)
    assert set(made.ravel().tolist()) == {20 / 38}
