"""Typing errors, scanning errors and letters that look alike, one kind at a time, by hand."""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from sandscore.base.errors import UsageFault
from sandscore.perturbation.character_noise import Homoglyphs, ScanningErrors, TypingErrors
from sandscore.perturbation.text_edits import Draw, Edit, GoldNote, rewritten

_Item = TypeVar("_Item")
SWAPPED, DOUBLED, LEFT_OUT, BESIDE = range(4)


class Told(Draw):
    """Draws what it is told: always yes, this kind of error, the last of several."""

    def __init__(self, kind: int) -> None:
        super().__init__(0)
        self._kind = kind

    def chance(self, rate: float) -> bool:
        return True

    def below(self, number: int) -> int:
        return self._kind

    def one_of(self, items: Sequence[_Item]) -> _Item:
        return items[-1]


def typed(kind: int, text: str) -> str:
    note = GoldNote(0, "p", text, ())
    return rewritten(note, TypingErrors("0.5").edits_of(note, Told(kind))).note.text


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        pytest.param(SWAPPED, "form 7", "ofmr 7", id="each pair swapped once"),
        pytest.param(SWAPPED, "a1", "s1", id="only letters are swapped: the key beside"),
        pytest.param(SWAPPED, "oo", "pp", id="two that are the same: the key beside"),
        pytest.param(SWAPPED, "a", "s", id="nothing behind it: the key beside"),
        pytest.param(DOUBLED, "Ab1", "AAbb1", id="doubled"),
        pytest.param(LEFT_OUT, "a-b", "-", id="left out"),
        pytest.param(BESIDE, "Qp 9", "Wo 9", id="the key beside, at the ends of a row"),
        pytest.param(BESIDE, "sX", "dC", id="the key on the right, in its case"),
    ],
)
def test_four_kinds_of_typing_errors(kind: int, text: str, expected: str) -> None:
    assert typed(kind, text) == expected


def test_letters_of_other_alphabets_are_left_alone() -> None:
    assert typed(DOUBLED, "é ß Ж") == "é ß Ж"


@pytest.mark.parametrize(("rate", "fits"), [("0.5", True), ("0.51", False), ("0", False), ("1e-9", True), ("x", False)])
def test_the_share_of_letters(rate: str, fits: bool) -> None:
    if fits:
        assert TypingErrors(rate).value == rate
        return
    with pytest.raises(UsageFault, match=r"above 0 and up to 0\.5"):
        TypingErrors(rate)


def test_about_as_many_errors_as_were_asked_for() -> None:
    """Binomial, 40,000 letters at 0.02: 800 are expected, and five standard deviations are 140."""
    note = GoldNote(0, "p", "qwer tyui " * 5000, ())
    assert abs(len(TypingErrors("0.02").edits_of(note, Draw(1))) - 800) < 140


@pytest.mark.parametrize(
    ("row", "text", "expected"),
    [
        (ScanningErrors, "burn 10", [Edit(2, 4, "m"), Edit(5, 6, "l"), Edit(6, 7, "O")]),
        (ScanningErrors, "xyz", []),
        (Homoglyphs, "a1B", [Edit(0, 1, "\u0430"), Edit(2, 3, "\u0412")]),
    ],
)
def test_what_is_taken_for_something_else(
    row: type[ScanningErrors | Homoglyphs], text: str, expected: list[Edit]
) -> None:
    assert row("").edits_of(GoldNote(0, "p", text, ()), Told(0)) == expected


def test_homoglyphs_look_alike_and_are_none_of_ours() -> None:
    """Each is one Cyrillic letter (U+0400 to U+04FF) for one Latin letter."""
    assert all(len(old) == len(new) == 1 and "\u0400" <= new <= "\u04ff" for old, new in Homoglyphs.taken.items())
    assert len(Homoglyphs.taken) == len(set(Homoglyphs.taken.values())) == 24
