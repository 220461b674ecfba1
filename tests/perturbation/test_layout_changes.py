"""Capitals, blanks and headings, by hand."""

import pytest
from perturbation.test_character_noise import Told

from sandscore.perturbation.layout_changes import HeadingChanges, LetterCase, WhiteSpaceChanges
from sandscore.perturbation.text_edits import CharacterPerturbation, Draw, GoldMention, GoldNote, rewritten
from sandscore.task_table.task import TASKS


def made(row: CharacterPerturbation, text: str, draw: Draw, *gold: tuple[int, int]) -> str:
    note = GoldNote(0, "p", text, tuple(GoldMention(*place, TASKS["date"], at) for at, place in enumerate(gold)))
    return rewritten(note, row.edits_of(note, draw)).note.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ALLERGIES: none", "DRUG ALLERGIES: none", id="in capitals"),
        pytest.param("plan\nrest", "plan of care\nrest", id="in small letters, alone on its line"),
        pytest.param("  Plan : rest", "  Plan of Care : rest", id="between blanks"),
        pytest.param("PLAN: rest", "Plan of Care: rest", id="four capitals may be an abbreviation"),
        pytest.param("Planning: rest", "Planning: rest", id="another word"),
        pytest.param("The Plan: rest", "The Plan: rest", id="not at the beginning of its line"),
    ],
)
def test_headings(text: str, expected: str) -> None:
    """Of the others that mean the same the last is drawn."""
    assert made(HeadingChanges(""), text, Told(0)) == expected


def test_a_heading_that_gold_touches_stays() -> None:
    assert made(HeadingChanges(""), "Plan: rest", Told(0), (0, 4)) == "Plan: rest"
    assert made(HeadingChanges(""), "Plan: rest", Told(0), (3, 7)) == "Plan: rest"
    assert made(HeadingChanges(""), "Plan: rest", Told(0), (4, 5)) == "Plan of Care: rest"


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [("upper", "Straße 5", "STRASSE 5"), ("lower", "ABC d", "abc d"), ("upper", "ABC", "ABC")],
)
def test_letter_case(value: str, text: str, expected: str) -> None:
    assert made(LetterCase(value), text, Told(0)) == expected


def test_gold_stands_after_letters_have_become_two() -> None:
    """By hand: ß becomes SS, so what began at 6 begins at 7."""
    note = GoldNote(0, "p", "Straße 5", (GoldMention(7, 8, TASKS["date"], 0),))
    after = rewritten(note, LetterCase("upper").edits_of(note, Told(0))).note
    assert after.text[after.mentions[0].start : after.mentions[0].end] == "5"


def test_blanks() -> None:
    """The last of what each may become: a thin blank, two line ends, four blanks; a line end of Windows is left."""
    assert made(WhiteSpaceChanges(""), "a b\nc\td\r\ne", Told(0)) == "a\u2009b\n\nc    d\r\ne"


def test_one_blank_in_ten() -> None:
    """Binomial, 10,000 blanks at 0.1: 1,000 are expected, and five standard deviations are 150."""
    note = GoldNote(0, "p", "a " * 10_000, ())
    assert abs(len(WhiteSpaceChanges("").edits_of(note, Draw(3))) - 1000) < 150
