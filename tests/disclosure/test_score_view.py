"""A score as a team is told of it: the card without its notes, its totals, or what the feedback mode leaves."""

import json

import pytest
from ranking_cards import entry

from sandscore.disclosure.gate import release
from sandscore.disclosure.outcome_views import ScoreItem, ladder_after, outdated
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules, FeedbackMode
from sandscore.records.released_view import Audience, Released

CARD = entry("one", [(3, 1, 0), (2, 0, 2)])
OPEN = DisclosurePolicy(notes="public", gold="public", cards="notes", feedback="full")
HIDING: list[FeedbackMode] = ["rounded", "ladder", "blind"]


def told(policy: DisclosurePolicy, rules: BoardRules | None = None) -> Released[object]:
    rules = rules or BoardRules(feedback=policy.feedback)
    item = ScoreItem(card=CARD, rules=rules, team="team one", submission="one")
    return release(item, Audience.TEAM, policy)


def view(policy: DisclosurePolicy) -> dict[str, object]:
    shown = told(policy).view
    assert isinstance(shown, dict)
    return shown


def test_the_card_is_told_without_its_notes_where_everybody_has_the_data() -> None:
    shown = view(OPEN)
    assert not shown.keys() & {"per_note", "units", "confidence", "feedback"}
    assert shown["submission"] == "one"
    assert json.loads(json.dumps(shown))["measures"]["instance_strict"]["tp"] == 5
    assert CARD.card.per_note, "the card itself keeps them"
    assert told(OPEN).line.bits == 0


def test_hidden_gold_tells_totals_once_the_phase_has_ended() -> None:
    policy = DisclosurePolicy(feedback="full", ended=True)
    who = {"sandscore", "signature", "task", "profile", "team", "submission", "dataset"}
    assert view(policy).keys() == who | {"notes", "measures", "per_label"}
    assert told(policy).line.bits == 8 * len(json.dumps(view(policy), separators=(",", ":")))


def test_a_blind_phase_tells_no_score() -> None:
    policy = DisclosurePolicy(feedback="blind")
    assert view(policy) == {"task": "date", "team": "team one", "submission": "one", "feedback": "blind"}
    assert told(policy).line.bits == 0


@pytest.mark.parametrize("mode", HIDING)
def test_nothing_exact_while_the_gold_is_hidden(mode: FeedbackMode) -> None:
    shown = view(DisclosurePolicy(feedback=mode))
    assert shown.keys() <= {"task", "team", "submission", "feedback", "measures"}
    assert ("measures" in shown) == (mode != "blind")
    assert f"{CARD.card.measures['instance_strict'].f1:.4f}" not in json.dumps(shown)


def test_full_acts_as_rounded_and_says_so() -> None:
    """Ten thousand and one places on the finest grid, or none: 13.29 bits a measure, of which the card has two."""
    line = told(DisclosurePolicy(feedback="rounded"), BoardRules(feedback="full")).line
    shown = view(DisclosurePolicy(feedback="rounded"))["measures"]
    assert isinstance(shown, dict)
    assert line.bits == pytest.approx(13.288 * len(shown), abs=0.01)


def test_the_ladder_tells_what_it_has_released() -> None:
    """Of two patients: 0, 1/2 or 1, or no change; 2 bits."""
    rules = BoardRules(feedback="ladder")
    state = ladder_after(CARD, rules, None)
    item = ScoreItem(card=CARD, rules=rules, ladder=state)
    seen = release(item, Audience.TEAM, DisclosurePolicy(feedback="ladder"))
    assert seen.view["measures"] == {"instance_strict": {"f1": state.released}}
    assert seen.line.bits == 2


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
    assert outdated(feedback, DisclosurePolicy(ended=ended)) is expected
