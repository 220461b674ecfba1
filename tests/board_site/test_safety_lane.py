"""What a card tells of leaks by patient; worked by hand. Bounds are Clopper and Pearson's, from their definition."""

import pytest
from ranking_cards import entry

from sandscore.ranking.board_building import rank
from sandscore.records.board import RatioMeasure
from sandscore.records.ranking_rules import BoardRules
from sandscore.site.safety_lane import NoteLeak, PatientLeak, note_leak, row_leak, upper_bound


@pytest.mark.parametrize(
    ("n", "of", "bound"),
    [
        (0, 4, 1 - 0.05 ** (1 / 4)),  # nobody of four: (1 - p)^4 = .05
        (1, 2, 0.95**0.5),  # at most one of two: 1 - p^2 = .05
        (4, 4, 1.0),
        (0, 1, 0.95),
        (0, 118, 1 - 0.05 ** (1 / 118)),
    ],
)
def test_the_bound_is_exact(n: int, of: int, bound: float) -> None:
    assert upper_bound(n, of) == pytest.approx(bound, rel=1e-12)


def test_a_bound_is_rounded_up() -> None:
    assert upper_bound(1, 118) == pytest.approx(0.039570, abs=5e-7)
    assert PatientLeak(1, 118, exact=True).bound_text == "at most 4.0 %"
    assert PatientLeak(0, 118, exact=True).short == "0 of 118 (bound 2.6 %)"
    assert PatientLeak(0, 1, exact=False).text == "at most 0 of 1"
    assert PatientLeak(4, 4, exact=True).bound_text == "at most 100.0 %"


NOTES = {"a": (2, 0, 1), "b": (1, 0, 0), "c": (0, 1, 3), "d": (1, 0, 2), "e": (0, 0, 0)}
"""Something is missed in a, c and d; e has nothing to find. So four notes hold something."""


def leak(share: float | None, **patients: str) -> PatientLeak | None:
    counts = {note: {"instance_strict": list(row)} for note, row in NOTES.items()}
    found = note_leak(share, counts, dict(zip("abcde", "PQRSP", strict=True)) | patients)
    return found.patients if found else None


def test_as_many_leak_as_miss_something() -> None:
    """All three do, of P, R and S."""
    assert leak(3 / 4) == PatientLeak(3, 4, exact=True)
    assert leak(3 / 4, c="P") == PatientLeak(2, 3, exact=True)


def test_which_notes_leak_is_not_always_known() -> None:
    """Two of a, c and d leak; where a and c are one patient's, that is one patient or two."""
    assert leak(2 / 4) == PatientLeak(2, 4, exact=True)
    assert leak(2 / 4, c="P") == PatientLeak(2, 3, exact=False)
    assert leak(1 / 4, c="P", d="P") == PatientLeak(1, 2, exact=True)
    assert leak(0.0) == PatientLeak(0, 4, exact=True)


def test_a_measure_of_patients_comes_before_what_the_card_lets_on() -> None:
    [row] = rank([entry("a", [(4, 0, 1)] * 9)], BoardRules(resamples=100)).rows
    shares = {
        "patient_leak": RatioMeasure(n=31, of=125, value=31 / 125, direction="lower"),
        "note_leak": RatioMeasure(n=40, of=160, value=0.25, direction="lower"),
    }
    measured = row.model_copy(update={"measures": {**row.measures, **shares}})
    assert row_leak(measured, None) == NoteLeak(0.25, PatientLeak(31, 125, exact=True))
    assert row_leak(measured, NoteLeak(0.5, PatientLeak(40, 125, exact=False))) == NoteLeak(
        0.5, PatientLeak(31, 125, exact=True)
    )
    assert row_leak(row, NoteLeak(0.5, None)) == NoteLeak(0.5, None)
    assert row_leak(row, None) is None


def test_what_a_card_does_not_say_is_not_guessed() -> None:
    assert note_leak(None, {}, {}) is None
    assert leak(1.0) is None, "more leak than have something missed: not these counts"
    missing = note_leak(0.5, {"a": {"token": [1, 0, 1]}}, {"a": "P"})
    assert missing is not None
    assert missing.patients is None
