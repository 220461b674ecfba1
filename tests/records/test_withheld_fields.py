"""Fields that a running board keeps back: whatever is not let out, and each of them can be empty."""

import pytest
from pydantic import BaseModel
from ranking_cards import drawn_rows, entry

from sandscore.ranking.board_building import rank
from sandscore.records.board import Board, FormulaMeasure, RankedMeasure, RatioMeasure, Row
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules, FeedbackMode
from sandscore.records.withheld_fields import covering, permitted_fields, running_fields, without_running_fields

MODES: list[FeedbackMode] = ["full", "rounded", "ladder", "blind"]


@pytest.mark.parametrize("mode", MODES)
def test_what_is_kept_back_is_a_board_still(mode: FeedbackMode) -> None:
    """Read again strictly: nothing that was taken away left a hole that no board may have."""
    board = rank([entry(f"s{at}", drawn_rows(0.7, 30, at)) for at in range(3)], BoardRules(resamples=100))
    bare = without_running_fields(board, mode)
    assert Board.model_validate_json(bare.model_dump_json()) == bare
    said = bare.model_dump(mode="json")
    for pointer in running_fields(mode):
        name = pointer.rpartition("/")[2]
        places = [said, *said["rows"], *(one for row in said["rows"] for one in row["measures"].values())]
        place = places[: 1 if pointer.count("/") == 1 else None]
        depth = {1: place, 3: said["rows"], 5: places[1 + len(said["rows"]) :]}[pointer.count("/")]
        assert all(not one.get(name) for one in depth), pointer
    assert all(row["submission"] for row in said["rows"])


@pytest.mark.parametrize("model", [Board, Row, RankedMeasure, FormulaMeasure, RatioMeasure])
def test_every_field_is_let_out_or_kept_back(model: type[BaseModel]) -> None:
    """By hand: what is let out of a running board. Everything else is in the list."""
    kept = {pointer.rpartition("/")[2] for pointer in running_fields("rounded")}
    let_out = {
        Board: "sandscore task definition profile phase headline config rows policy withheld "
        "seed gold units adjustment log_root agreement",
        Row: "rank team name submission image created measures",
        RankedMeasure: "f1 value formula direction",
        FormulaMeasure: "score formula direction plugin",
        RatioMeasure: "value direction",
    }
    assert model.model_fields.keys() - kept <= set(let_out[model].split())


def test_a_star_is_every_row_and_no_more() -> None:
    found = covering(["/rows/*/run", "/units"])
    for inside in ("/rows/0/run", "/rows/17/run/seconds/total", "/units"):
        assert found.fullmatch(inside)
    for outside in ("/rows/0/running", "/rows/0/x/run", "/rows/run", "/unit"):
        assert not found.fullmatch(outside)
    assert not covering([]).fullmatch("")


def test_an_ended_phase_keeps_back_makers_and_cards_alone() -> None:
    assert permitted_fields(DisclosurePolicy(ended=True)) == {
        *("/rows/*/image", "/rows/*/created", "/rows/*/run", "/rows/*/card", "/rows/*/sites/*/card"),
        "/pairwise/*/patients",
    }
