"""The challenge page's own example, with the numbers it prints where they can hold.

Gold EHMS/organization, U.S./country, 98110/zip, all at 3598; the submission calls EHMS a hospital. The page
prints 2/3 for the type and 1 for HIPAA; the latter needs a map in which hospitals are protected.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore

EXAMPLE = Path(__file__).resolve().parents[1] / "cases" / "worked-example"
TWO_THIRDS = Fraction(2, 3)


def card(*options: Any) -> Any:
    ran = sandscore(
        "score", "address", "--gold", EXAMPLE / "gold.json", "--predictions", EXAMPLE / "submission.json",
        "--format", "json", *options,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


@pytest.mark.parametrize(
    ("measure", "precision", "recall", "f1"),
    [
        ("address_type", TWO_THIRDS, TWO_THIRDS, TWO_THIRDS),
        ("hipaa_phi", TWO_THIRDS, TWO_THIRDS, TWO_THIRDS),
        ("hipaa_phi_only", 1, Fraction(1, 2), TWO_THIRDS),
        ("instance_strict", 1, 1, 1),
    ],
)
def test_bundled_map(measure: str, precision: Fraction, recall: Fraction, f1: Fraction) -> None:
    found = card()["measures"][measure]
    assert [found[name] for name in ("precision", "recall", "f1")] == [float(precision), float(recall), float(f1)]


def test_map_in_which_hospitals_are_protected() -> None:
    assert card("--hipaa-map", EXAMPLE / "hospital-protected.json")["measures"]["hipaa_phi"]["f1"] == 1


def test_without_notes_the_card_says_so() -> None:
    assert card()["text_checked"] is False


def test_gold_as_printed_is_refused_with_line_and_column() -> None:
    printed = EXAMPLE / "gold-as-printed.json"
    ran = sandscore("validate", "address", printed)
    assert ran.code == 65
    assert "line 7, column 1" in ran.out
    ran = sandscore("score", "address", "--gold", printed, "--predictions", EXAMPLE / "submission.json")
    assert ran.code == 78
    assert "line 7, column 1" in ran.err
