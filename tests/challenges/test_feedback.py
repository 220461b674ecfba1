"""What a running phase hides is nowhere in what participants get: neither on the board nor in what a team is told."""

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from ranking_cards import drawn_rows, entry

from sandscore.board_tables.board_formats import EXPORTS
from sandscore.challenges.feedback import grid
from sandscore.challenges.ladder import LadderState, climb, f1_of, leave_one_out, replay, standard_error
from sandscore.disclosure.board_view import recomputed_view
from sandscore.disclosure.outcome_views import ladder_after
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.board import Board
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules, FeedbackMode

NOTES = 150


def shown_board(entries: Sequence[RankedCard], mode: FeedbackMode) -> Board:
    """What participants see of their board while the phase runs."""
    return recomputed_view(rank(entries, BoardRules(feedback=mode)), entries, DisclosurePolicy(feedback=mode))


HIDING: list[FeedbackMode] = ["rounded", "ladder", "blind"]


def submissions() -> list[RankedCard]:
    """Two teams, several submissions each; later ones are a little better or worse."""
    return [
        entry(
            f"{team}{i}",
            drawn_rows(0.75 + 0.01 * i, NOTES, i + 10 * (team == "b")),
            team=team,
            created=f"2026-01-{i + 1:02}T00:00:00Z",
            run={"seconds": 12.5 + i},
        )
        for team in "ab"
        for i in range(4)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", HIDING)
@pytest.mark.parametrize("export", EXPORTS)
def test_nothing_exact_on_the_board(mode: FeedbackMode, export: str) -> None:
    entries = submissions()
    full = rank(entries, BoardRules(feedback=mode))
    shown = EXPORTS[export](shown_board(entries, mode))
    for row in full.rows:
        exact = row.measures["instance_strict"]
        for secret in (exact.f1, exact.precision, exact.recall, *(exact.f1_ci or ())):
            assert secret is not None
            assert f"{secret:.4f}" not in shown
        assert str(exact.tp) not in shown.replace(full.seed, "")
        assert row.card is not None
        assert row.card.sha256 not in shown
        assert "seconds" not in shown


@pytest.mark.parametrize("rules", [BoardRules(), BoardRules(feedback="blind", ended=True)], ids=["full", "ended"])
def test_an_open_or_ended_phase_hides_nothing(rules: BoardRules) -> None:
    entries = submissions()[:2]
    assert rank(entries, rules).rows[0].card is not None


def test_blind_order_says_nothing() -> None:
    board = shown_board(submissions(), "blind")
    assert [row.submission for row in board.rows] == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]
    assert {(row.rank, row.group, row.p_first) for row in board.rows} == {(None, None, None)}


def test_rounded_scores_tie_and_are_close() -> None:
    entries = submissions()
    board = shown_board(entries, "rounded")
    exact = {one.submission: one.card.measures["instance_strict"].f1 for one in entries}
    shown = {row.submission: row.measures["instance_strict"].f1 for row in board.rows}
    assert all(math.isclose(shown[name] or 0, value or 0, abs_tol=0.01) for name, value in exact.items())
    ranks = {shown[row.submission]: row.rank for row in board.rows}
    assert len(ranks) < len(board.rows)
    assert all(row.rank == ranks[shown[row.submission]] for row in board.rows)


@pytest.mark.parametrize(
    ("error", "step"), [(0.012, 0.02), (0.0098, 0.01), (0.01, 0.01), (0.021, 0.05), (0.06, 0.1), (0.0, 0.0001)]
)
def test_grid_is_not_finer_than_the_standard_error(error: float, step: float) -> None:
    assert grid(error) == pytest.approx(step)


def units(rows: Sequence[tuple[int, ...]]) -> Any:
    return np.array(rows, np.int64)


def test_ladder_moves_only_for_real_improvements() -> None:
    base = units(drawn_rows(0.7, 200, 1))
    state = climb(LadderState(), "first", base)
    assert state.released == round(f1_of(base) * 200) / 200
    tweaked = base.copy()
    tweaked[0] = (base[0][0] + 1, base[0][1], base[0][2])
    assert climb(state, "one more hit", tweaked) == state
    assert climb(state, "worse", units(drawn_rows(0.5, 200, 2))) == state
    better = climb(state, "better", units(drawn_rows(0.95, 200, 3)))
    assert better.submission == "better"
    assert (better.released or 0) > (state.released or 0) + 0.1


def test_ladder_step_is_the_paired_standard_error() -> None:
    """A constant difference is real however small: paired, it has no error. Above 200 units 1/n is its grid."""
    a, b = units([(10, 1, 2)] * 400), units([(10, 1, 1)] * 400)
    assert standard_error(leave_one_out(b) - leave_one_out(a)) == pytest.approx(0, abs=1e-12)
    assert climb(climb(LadderState(), "a", a), "b", b).submission == "b"


def test_jackknife_error_of_a_mean_is_the_textbooks() -> None:
    """Where every unit weighs the same F1 is a mean, and its jackknife error is s / sqrt(n)."""
    hits = np.random.default_rng(4).integers(0, 2, 50)
    counts = np.stack([hits, 1 - hits, 1 - hits], axis=1)
    assert standard_error(leave_one_out(counts)) == pytest.approx(hits.std(ddof=1) / np.sqrt(50))


def test_state_survives_a_file() -> None:
    state = climb(LadderState(), "first", units(drawn_rows(0.7, 30, 1)))
    assert LadderState.model_validate_json(state.model_dump_json()) == state


def test_one_by_one_is_the_same_as_the_boards_replay() -> None:
    entries = submissions()
    random.Random(1).shuffle(entries)
    board = shown_board(entries, "ladder")
    assert {row.team for row in board.rows} == {"a", "b"}
    for row in board.rows:
        state: LadderState | None = None
        for one in sorted((e for e in entries if e.card.team == row.team), key=lambda e: e.card.created or ""):
            state = ladder_after(one, BoardRules(feedback="ladder"), state)
        assert state is not None
        assert (row.submission, row.measures["instance_strict"].f1) == (state.submission, state.released)


def test_a_submission_that_did_not_count_leaves_no_trace() -> None:
    """Neither its name nor its time: the row stays as it was before it came."""
    first, *later = [e for e in submissions() if e.card.team == "a"]
    alone = shown_board([first], "ladder")
    quiet = [e for e in later if replay_of(first, e) == "a0"]
    assert quiet
    assert shown_board([first, *quiet], "ladder").rows == alone.rows


def replay_of(*entries: RankedCard) -> str | None:
    rows = [(e.submission, units([row["instance_strict"] for row in e.card.per_note.values()])) for e in entries]
    return replay(rows).submission
