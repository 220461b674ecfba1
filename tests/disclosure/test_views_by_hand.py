"""Views of the gate, each asked by hand for what only whole queues and boards asked of it."""

import pytest
from ranking_cards import entry
from struct_values import changeable

from sandscore.disclosure.feedback_view import as_public
from sandscore.disclosure.gate import release
from sandscore.disclosure.problem_view import on_grid
from sandscore.disclosure.run_views import LogItem, TimingItem
from sandscore.ranking.board_building import rank
from sandscore.ranking.score_table import tabulate
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules, LogRule
from sandscore.records.released_view import Audience

PRINTED = "né"
"""Three bytes."""


@pytest.mark.parametrize(
    ("logs", "reviewed", "bits"),
    [
        ("none", False, None), ("none", True, None), ("rehearsal", True, None),
        ("reviewed", False, None), ("reviewed", True, 24.0), ("full", False, 24.0), ("full", True, 24.0),
    ],
)  # fmt: skip
def test_a_log_of_hidden_notes_by_each_rule(logs: LogRule, reviewed: bool, bits: float | None) -> None:
    """Eight bits a byte; nothing costs nothing."""
    told = release(LogItem(text=PRINTED, reviewed=reviewed), Audience.TEAM, DisclosurePolicy(logs=logs))
    assert told.view == (None if bits is None else PRINTED)
    assert told.line.bits == (bits or 0.0)


@pytest.mark.parametrize(("rehearsal", "notes"), [(True, "hidden"), (True, "teams"), (False, "teams")])
def test_seconds_that_no_hidden_note_had_part_in_tell_nothing(rehearsal: bool, notes: str) -> None:
    policy = DisclosurePolicy(notes="hidden" if notes == "hidden" else "teams")
    told = release(TimingItem(seconds=7.0, rehearsal=rehearsal), Audience.TEAM, policy)
    assert (told.view, told.line.bits) == (7.0, 0.0)


def test_the_ladder_has_one_row_for_a_team_and_one_for_each_submission_of_nobody() -> None:
    cards = [
        entry(name, [(2 + at, 1, 1), (3, at, 0)], team=team, created=f"2026-01-0{at + 1}T00:00:00Z")
        for at, (name, team) in enumerate((("a1", "a"), ("a2", "a"), ("x", None), ("y", None)))
    ]
    rules = BoardRules(feedback="ladder")
    public = as_public(rank(cards, rules), tabulate(cards), rules)
    assert sorted((row.team or "", row.submission[0]) for row in public.rows) == [("", "x"), ("", "y"), ("a", "a")]


def test_counts_on_the_grid() -> None:
    """The nearest of 0, 1, 2, 5, 10, 20 …; of two as near the smaller: 15 is as far from 10 as from 20."""
    counts = [-1, 0, 1, 3, 4, 7, 8, 15, 16, 37, 999, 1500, 1501]
    assert [*map(on_grid, counts)] == [0, 0, 1, 2, 5, 5, 10, 10, 20, 50, 1000, 1000, 2000]


def test_what_the_gate_is_told_and_says_stays_as_it_is() -> None:
    assert changeable("disclosure") == set()
