"""Curves with more confidences than memory holds."""

import random
from typing import Any

import msgspec
import numpy as np
import pytest

from sandscore.measures import confidence
from sandscore.measures.confidence import ConfidenceLedger, Levels, confidence_curve
from sandscore.records.scorecard import ConfidenceCurve


def parts() -> list[Levels]:
    """Confidences of which many occur in several parts."""
    r = random.Random(5)
    found = []
    for _ in range(12):
        sure = sorted(r.sample(range(1000), 90))
        rows = [(value / 10, r.randint(2, 9), r.randint(0, 2)) for value in sure]
        found.append(Levels(*map(np.array, zip(*rows, strict=True))))
    return found


def curve(ledgers: int) -> ConfidenceCurve:
    shared = [ConfidenceLedger() for _ in range(ledgers)]
    for number, part in enumerate(parts()):
        shared[number % ledgers].add(part)
    return ConfidenceCurve(**msgspec.structs.asdict(confidence_curve(shared, 5000)))


@pytest.mark.parametrize("ledgers", [1, 3])
@pytest.mark.parametrize("held", [7, 100, 1000])
def test_levels_in_files_give_the_same_curve(ledgers: int, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    roomy = curve(1)
    monkeypatch.setattr(confidence, "HELD", held)
    assert roomy.curve is not None
    assert len(roomy.curve) > 500
    assert curve(ledgers) == roomy


def test_a_long_curve_is_thinned_and_its_numbers_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = curve(1)
    monkeypatch.setattr(confidence, "LISTED", 100)
    short: Any = curve(1)
    assert 50 < len(short.curve) <= 101
    assert set(short.curve) < set(whole.curve)
    assert (short.curve[0], short.curve[-1]) == (whole.curve[0], whole.curve[-1])
    assert short.model_copy(update={"curve": None}) == whole.model_copy(update={"curve": None})
    monkeypatch.setattr(confidence, "HELD", 100)
    assert curve(3) == short, "also where it comes from several files"
