"""Every figure of docs/leaks.md, made again."""

from pathlib import Path

import pytest
from leak_corpora import MaskedNote, card_of, share

from sandscore.annotations.input_files import UNWATCHED, Inputs
from sandscore.leaks.leak_bounds import exact_upper
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.pooling.all_tasks import score_all, task_files
from sandscore.scoring.card_building import Question
from sandscore.scoring.scoring_flow import score_files
from sandscore.task_table.task import ALL_TASKS, find_task

ROOT = Path(__file__).resolve().parents[2]
PAGE = " ".join((ROOT / "docs" / "leaks.md").read_text(encoding="utf-8").split())
GOLD = ROOT / "gold" / "example"


def test_the_winner_of_the_example() -> None:
    predictions = ROOT / "submissions" / "date-good" / "predictions.json"
    inputs = Inputs(GOLD / "date.json", predictions, GOLD / "notes.json")
    card = score_files(Question(find_task("date"), ("patient_leak", "note_leak")), inputs).card
    (notes, of), (patients, among) = share(card, "note_leak"), share(card, "patient_leak")
    assert f"F1 of {card.measures['instance_strict'].f1:.3f}" in PAGE
    assert f"in {notes} of {of} notes, and in the notes of {patients} of {among} patients" in PAGE
    assert card.note_leak == notes / of


def test_gold_against_itself() -> None:
    """Every task's gold at once: nothing is open, and the bound of 18 patients is 1 - .05 ** (1 / 18)."""
    files = task_files(GOLD, GOLD, {})
    assert [one.task.id for one in files] == ["date", "person-name", "address"]
    card = score_all(Question(ALL_TASKS, hipaa=load_hipaa_map()), files, GOLD / "notes.json", UNWATCHED).card
    found = card.measures["patient_leak"]
    assert share(card, "patient_leak") == (0, 18)
    assert getattr(found, "bound", None) == pytest.approx(1 - 0.05 ** (1 / 18))
    assert {name: share(card, name)[0] for name in ("char_leak", "note_leak", "over_mask", "entity_leak(by=text)")} == {
        "char_leak": 0, "note_leak": 0, "over_mask": 0, "entity_leak(by=text)": 0,
    }  # fmt: skip
    assert "0 of 18 patients. That is no proof: with 18 patients and no leak, up to 15.3 %" in PAGE
    assert not any("alone" in warning for warning in card.warnings)
    assert {label.partition("/")[0] for label in card.per_label} == {"date", "person-name", "address"}


@pytest.mark.parametrize(
    ("row", "leaking", "patients"),
    [
        *(("0 of 18 patients | 15.3 %", 0, 18), ("0 of 59 | 4.95 %", 0, 59), ("0 of 118 | 2.51 %", 0, 118)),
        *(("0 of 299 | 0.997 %", 0, 299), ("2 of 118 | 5.24 %", 2, 118), ("5 of 118 | 8.70 %", 5, 118)),
    ],
)
def test_bounds(row: str, leaking: int, patients: int) -> None:
    assert f"| {row} |" in PAGE
    said = row.rpartition("| ")[2].removesuffix(" %")
    digits = len(said.partition(".")[2])
    assert f"{100 * (exact_upper(leaking, patients) or 0):.{digits}f}" == said


def test_how_many_patients_a_claim_needs() -> None:
    """58 and 298 patients without a leak are not enough."""
    enough = [next(n for n in range(1, 999) if (exact_upper(0, n) or 1) < claim) for claim in (0.05, 0.01)]
    assert enough == [59, 299]
    assert '"fewer than 5 % of patients" needs 59 patients without a leak, and "fewer than 1 %" 299' in PAGE


def test_units() -> None:
    doctor = MaskedNote("n", "p", "Dr. Ann-Lee", [(0, 11, "NAME", None)], [(0, 2), (4, 7), (8, 11)])
    card = card_of([doctor], "char_leak", "char_leak(unit=content)")
    assert [share(card, name) for name in ("char_leak", "char_leak(unit=content)")] == [(3, 11), (0, 8)]
    assert "3 of 11 characters are open, and 0 of 8 of content" in PAGE
    jose = MaskedNote("n", "p", "Jose\u0301", [(0, 5, "NAME", None)], [(0, 4)])
    card = card_of([jose], "char_leak", "char_leak(unit=graphemes)")
    assert [share(card, name) for name in ("char_leak", "char_leak(unit=graphemes)")] == [(1, 5), (1, 4)]
    assert "1 of 5 code points and 1 of 4 graphemes" in PAGE
    assert f"{1 / 3000:.4f}" == "0.0003"
    assert "1 letter of 3,000 open in one patient's notes is a `char_leak` of 0.0003" in PAGE
