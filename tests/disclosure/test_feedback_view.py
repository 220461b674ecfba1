"""What a team is told of a score: the card without its notes, or what the feedback mode leaves of it."""

import pytest
from ranking_cards import entry

from sandscore.disclosure.feedback_view import outdated, view_of
from sandscore.ranking.ladder import LadderState
from sandscore.records.board import BoardRules

CARD = entry("one", [(3, 1, 0), (2, 0, 2)])


@pytest.mark.parametrize("rules", [BoardRules(feedback="full"), BoardRules(feedback="blind", ended=True)])
def test_the_card_is_told_without_its_notes(rules: BoardRules) -> None:
    view, state = view_of(CARD, rules)
    assert state is None
    assert not view.keys() & {"per_note", "units", "confidence", "feedback"}
    assert view["submission"] == "one"
    assert view["measures"]["instance_strict"]["tp"] == 5
    assert CARD.card.per_note, "the card itself keeps them"


def test_a_blind_phase_tells_no_score() -> None:
    view, _ = view_of(CARD, BoardRules(feedback="blind"))
    assert view == {"task": "date", "team": "team one", "submission": "one", "feedback": "blind"}


def test_a_rounded_phase_tells_no_counts() -> None:
    view, _ = view_of(CARD, BoardRules(feedback="rounded"))
    assert view["measures"]["instance_strict"].keys() == {"f1"}


def test_the_ladder_gives_the_state_on() -> None:
    view, state = view_of(CARD, BoardRules(feedback="ladder"), LadderState())
    assert state is not None
    assert view["measures"]["instance_strict"] == {"f1": state.released}


@pytest.mark.parametrize(
    ("feedback", "ended", "expected"),
    [
        (None, False, True),
        (None, True, True),
        ({"feedback": "blind"}, True, True),
        ({"feedback": "blind"}, False, False),
        ({"measures": {}}, True, False),
        ("feedback", True, False),
    ],
)
def test_a_team_waits_for_what_the_end_of_the_phase_allows(feedback: object, ended: bool, expected: bool) -> None:
    assert outdated(feedback, BoardRules(ended=ended)) is expected
