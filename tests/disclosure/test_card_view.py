"""What of a score card may leave: an allow-list, labels that gold has, and never before the phase has ended."""

import json
import math
from typing import Any

import pytest
from ranking_cards import card_content, drawn_rows

from sandscore.disclosure.card_view import CardItem, bits_of
from sandscore.disclosure.card_view import card_content as written
from sandscore.disclosure.gate import release
from sandscore.disclosure.released import Audience
from sandscore.ranking.card_reading import totals_card
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import TotalsCard

ENDED = DisclosurePolicy(cards="totals", ended=True)
LABELS = {
    "city": {"token": {"tp": 3, "fp": 1, "fn": 2}, "address_type": {"tp": 2, "fp": 0, "fn": 1}},
    "zip": {"token": {"tp": 0, "fp": 0, "fn": 4}},
    "John Smith": {"token": {"tp": 0, "fp": 5, "fn": 0}},
    "MRN 1234567": {"token": {"tp": 0, "fp": 7, "fn": 0}},
}


def card(**changes: Any) -> Scorecard:
    rows = {"instance_strict": [(3, 1, 2), (1, 1, 0)], "token": [(5, 0, 4), (2, 2, 0)]}
    made = card_content("one", rows, image="repo@sha256:0", created="2026-01-01", per_label=LABELS, run={"seconds": 7})
    macro = {"precision": 0.5, "recall": 0.5, "f1": 0.5, "notes": {"precision": 2, "recall": 2, "f1": 2}}
    made["measures"]["token"] |= {"macro": macro, "conditional_accuracy": 0.25}
    made |= {"problems": {"overlap": 3}, "details": {"tool": "reads notes"}, "warnings": ["w"], "note_leak": 0.5}
    made["errors"] = {"missed": 1, "spurious": 2, "boundary": 0, "wrong_label": 0}
    made["confidence"] = {"average_precision": 0.5, "best_threshold": 1.0, "curve": [[1.0, 0.5, 0.5]]}
    return Scorecard.model_validate(made | changes)


def totals(of: Scorecard) -> dict[str, Any]:
    view = release(CardItem(card=of, team="t"), Audience.PUBLIC, ENDED).view
    assert isinstance(view, TotalsCard)
    said: dict[str, Any] = json.loads(written(view))
    return said


def test_totals_are_an_allow_list() -> None:
    """Field by field, by hand."""
    said = totals(card())
    assert {**said, "per_label": 0, "withheld": 0} == {
        "sandscore": "0.1.0",
        "signature": "date|challenge|gold:0123456789ab|v0.1.0",
        "task": "date",
        "profile": "challenge",
        "team": "team one",
        "submission": "one",
        "dataset": "example",
        "notes": 2,
        "measures": {
            "instance_strict": {
                "tp": 4,
                "fp": 2,
                "fn": 2,
                "precision": 4 / 6,
                "recall": 4 / 6,
                "f1": 8 / 12,
                "reason": None,
            },
            "token": {"tp": 7, "fp": 2, "fn": 4, "precision": 7 / 9, "recall": 7 / 11, "f1": 14 / 20, "reason": None},
        },
        "per_label": 0,
        "withheld": 0,
    }


def test_a_label_of_the_participants_own_is_not_named() -> None:
    """5 and 7 false positives under names that gold does not have are 12 under no name."""
    assert totals(card())["per_label"] == {
        "city": LABELS["city"],
        "zip": LABELS["zip"],
        "(other)": {"token": {"tp": 0, "fp": 12, "fn": 0}},
    }


def test_the_card_says_what_it_lacks() -> None:
    said = totals(card())
    lacking = (
        {f"/{name}" for name in json.loads(card().model_dump_json())} - {f"/{name}" for name in said} - {"/definition"}
    )
    assert set(said["withheld"]) == lacking
    assert {"/per_note", "/units", "/run", "/confidence", "/errors", "/problems", "/details", "/warnings"} <= lacking


def test_it_is_read_back() -> None:
    view = totals(card())
    assert totals_card(json.dumps(view).encode(), "x") is not None
    assert totals_card(b'{"withheld": 1, "per_note": {}}', "x") is None


@pytest.mark.parametrize("cards", ["none", "totals", "notes"])
@pytest.mark.parametrize("feedback", ["full", "rounded", "ladder", "blind"])
@pytest.mark.parametrize("ended", [True, False])
def test_nothing_before_the_end(cards: Any, feedback: Any, ended: bool) -> None:
    policy = DisclosurePolicy(cards=cards, feedback=feedback, ended=ended, accepted=True)
    released = release(CardItem(card=card(), salt=b"salt"), Audience.PUBLIC, policy)
    assert (released.view is None) == (cards == "none" or not ended)
    assert (released.line.bits == 0) == (released.view is None)


def test_notes_that_are_not_public_are_never_named() -> None:
    """Without the challenge's secret there is no way to name them, so the card goes as totals."""
    policy = DisclosurePolicy(cards="notes", ended=True, accepted=True)
    assert isinstance(release(CardItem(card=card()), Audience.PUBLIC, policy).view, TotalsCard)
    named = release(CardItem(card=card(), salt=b"s"), Audience.PUBLIC, policy).view
    assert isinstance(named, Scorecard)
    assert not {"note-0", "note-1"} & {*named.per_note, *named.units.values()}
    public = DisclosurePolicy(notes="public", gold="public", cards="notes", ended=True)
    assert release(CardItem(card=card()), Audience.PUBLIC, public).view == card()


def test_bits_are_lengths_of_a_code_that_can_be_read() -> None:
    """Kraft: the codes of all natural numbers fit beside each other. 0 takes 1 bit, 1 takes 3, 3 takes 5."""
    assert [bits_of([number]) for number in (0, 1, 3)] == [1.0, 3.0, 5.0]
    assert sum(2 ** -bits_of([number]) for number in range(100_000)) <= 1
    assert math.isclose(bits_of([0, 1, 3]), 9.0)


def test_more_notes_are_more_bits() -> None:
    policy = DisclosurePolicy(cards="notes", ended=True, accepted=True)
    few, many = (
        release(CardItem(card=card_of(count), salt=b"s"), Audience.PUBLIC, policy).line.bits for count in (10, 40)
    )
    assert many > 3 * few


def card_of(notes: int) -> Scorecard:
    return Scorecard.model_validate(card_content("x", drawn_rows(0.7, notes, 1)))
