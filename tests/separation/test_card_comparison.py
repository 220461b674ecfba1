"""Two cards by hand: who is ahead, by how much, and on which notes."""

import pytest
from ranking_cards import card_content

from sandscore.base.errors import ParticipantFault
from sandscore.records.counts import Counts
from sandscore.records.scorecard import Scorecard
from sandscore.separation.card_comparison import NoteDifference, card_difference, note_differences

GOOD = Scorecard.model_validate(card_content("good", [(4, 0, 0)] * 30))
POOR = Scorecard.model_validate(card_content("poor", [(3, 1, 1)] * 29 + [(4, 0, 0)]))
MEASURE = "instance_strict"


def test_the_interval_lies_around_the_difference() -> None:
    found = card_difference((POOR, GOOD), ("poor", "good"), MEASURE)
    assert found.difference is not None
    assert found.interval is not None
    assert found.difference == 1 - 91 / 120
    assert found.interval[0] <= found.difference <= found.interval[1]
    assert 0 < found.interval[0] < found.interval[1] <= 0.25
    assert found.units == 30


def test_turned_round_the_difference_has_the_other_sign() -> None:
    there, back = (card_difference(pair, ("a", "b"), MEASURE) for pair in ((POOR, GOOD), (GOOD, POOR)))
    assert there.difference is not None
    assert there.difference == -(back.difference or 0)
    assert back.interval is not None
    assert back.interval[1] < 0


def test_cards_of_different_gold_are_not_compared() -> None:
    other = Scorecard.model_validate(card_content("other", [(4, 0, 0)] * 30, gold="f" * 12))
    with pytest.raises(ParticipantFault):
        card_difference((GOOD, other), ("good", "other"), MEASURE)


def test_notes_that_differ() -> None:
    found = note_differences((GOOD, POOR), MEASURE)
    assert len(found) == 29
    assert found[0] == NoteDifference("note-0", Counts(4, 0, 0), Counts(3, 1, 1), "a")
