"""Values out of decoded JSON and numbers out of columns: what is taken, and what is said of the rest."""

from pathlib import Path

import pytest

from sandscore.base.errors import ParticipantFault
from sandscore.formats import FORMATS
from sandscore.formats.conll_columns import parts_of
from sandscore.formats.conversion import _note_losses
from sandscore.formats.corpus import AnnotatedNote, Corpus, CorpusNote, LossJournal, clipped
from sandscore.formats.json_fields import confidence_of, text_or_none, whole


@pytest.mark.parametrize("number", [10**12 - 1, 1 - 10**12, 0])
def test_a_number_that_a_note_could_hold_is_repeated(number: int) -> None:
    assert clipped(number) == str(number)


@pytest.mark.parametrize("number", [10**12, -(10**12), 10**1000])
def test_a_number_beyond_all_notes_is_not(number: int) -> None:
    assert clipped(number) == "a number beyond all notes"


def test_a_text_may_be_absent_but_nothing_else() -> None:
    assert text_or_none({"label": "a"}, "label", "here") == "a"
    assert text_or_none({"label": None}, "label", "here") is None
    assert text_or_none({}, "label", "here") is None
    with pytest.raises(ParticipantFault, match="here: label should be a string, found 3"):
        text_or_none({"label": 3}, "label", "here")


def test_whole_numbers() -> None:
    assert whole({"start": 9.0}, "start", "here") == 9
    for value, found in (
        (True, "true"),
        (9.5, "9.5"),
        (None, "nothing"),
        ("9", "a string"),
        ([], "a list"),
        ({}, "an"),
    ):
        with pytest.raises(ParticipantFault, match=f"start should be an integer, found {found}"):
            whole({"start": value}, "start", "here")


def test_confidence_is_a_share_of_a_hundred() -> None:
    assert [confidence_of({"confidence": value}, "here") for value in (None, 0, 100, 12.5)] == [None, 0, 100, 12.5]
    for value in (-1, 101, True, "high"):
        with pytest.raises(ParticipantFault, match="from 0 to 100"):
            confidence_of({"confidence": value}, "here")


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ("a%2Fb -X- O", "a/b"),
        ("% -X- O", ""),
        ("-X- -X- O", None),
        ("a O O", None),
        ("a -X- O O", None),
        ("a -X-", None),
    ],
)
def test_a_border_names_its_note_only_in_our_own_shape(columns: str, name: str | None, tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(f"-DOCSTART- {columns}\n\nMay B-DATE\n", encoding="utf-8")
    assert [part.id for part in parts_of([path])] == [name]


@pytest.mark.parametrize(
    ("target", "lost"),
    [
        ("presidio", set()),
        ("i2b2", {"note type", "note_name"}),
        ("conll", {"patientId", "note type", "note_name"}),
    ],
)
def test_what_is_said_of_a_note_and_has_no_place_is_lost(target: str, lost: set[str]) -> None:
    note = CorpusNote("n1", "Seen 3/14.", "p1", "discharge", "x/Note/n1")
    journal = LossJournal()
    _note_losses(Corpus((AnnotatedNote(note),)), FORMATS.find(target), journal)
    assert {loss.what for loss in journal.losses} == lost
