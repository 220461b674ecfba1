"""The board for people and programs."""

import csv
import io
import json

import pytest
from jsonschema import Draft202012Validator
from ranking_cards import drawn_rows, entry

from sandscore.base.bundled_content import schema_path
from sandscore.board_tables.board_formats import EXPORTS, as_csv, as_markdown, as_text, frame, records
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.records.board import Board
from sandscore.records.group_scores import WorstSlice
from sandscore.records.ranking_rules import BoardRules

HOSTILE = "=HYPERLINK|<b>`x`\n# [a](b)"


def board(feedback: str = "full") -> Board:
    cards = [entry(f"s{i}", drawn_rows(0.7 + 0.1 * i, 120, i)) for i in range(2)]
    cards.append(entry("s9", drawn_rows(0.75, 120, 9), team=HOSTILE))
    return rank(cards, BoardRules(feedback=feedback, resamples=300))  # type: ignore[arg-type]


@pytest.mark.parametrize("feedback", ["full", "rounded", "ladder", "blind"])
def test_json_keeps_the_published_schema(feedback: str) -> None:
    schema = json.loads(schema_path("board").read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(json.loads(as_json(board(feedback))))


def test_csv_says_the_same_as_the_board() -> None:
    made = board()
    rows = list(csv.DictReader(io.StringIO(as_csv(made))))
    assert [row["submission"] for row in rows] == [row.submission for row in made.rows]
    for read, row in zip(rows, made.rows, strict=True):
        assert float(read["instance_strict.f1"]) == row.measures["instance_strict"].f1
        assert float(read["score"]) == row.measures["instance_strict"].f1
        assert (int(read["rank_low"]), int(read["rank_high"])) == row.rank_set


def test_the_interval_that_allows_for_the_choice_comes_first() -> None:
    made = board()
    first = made.rows[0]
    assert first.chosen_ci is not None
    assert first.expected is not None
    rows = list(csv.DictReader(io.StringIO(as_csv(made))))
    assert [float(rows[0][name]) for name in ("chosen_low", "chosen_high", "expected")] == [
        *first.chosen_ci,
        first.expected,
    ]
    low, high = (f"{end:.3f}" for end in first.chosen_ci)
    said = (
        f"F1 {first.measures['instance_strict'].f1:.3f}; chosen as best of 3, so expect about {first.expected:.3f} "
        f"on new notes (95 %: {low}–{high}, allowing for the choice)"
    )
    assert said in as_text(made)
    assert said in as_markdown(made)
    assert f"[{first.chosen_ci[0]:.4f}, {first.chosen_ci[1]:.4f}]" in as_text(made)


def test_a_score_that_no_draw_moves_is_said_to_show_no_error() -> None:
    """Each of twenty notes has three found, one invented and none missed: F1 is 6/7 whoever is drawn."""
    made = rank([entry("a", [(3, 1, 0)] * 20), entry("b", [(3, 2, 0)] * 20)])
    assert made.rows[0].chosen_ci is not None
    assert made.rows[0].chosen_ci[0] == made.rows[0].chosen_ci[1] == pytest.approx(6 / 7)
    assert "F1 0.857; no error seen: all draws of notes give the same score" in as_text(made)


def test_who_is_drawn_again_is_who_is_spoken_of() -> None:
    """Notes where nobody says whose they are, patients where somebody does."""
    rows = drawn_rows(0.8, 40, 1)
    of_patients = rank([entry("a", rows, patients=[f"p{at // 2}" for at in range(40)])])
    assert "; on new patients 95 %: " in as_text(of_patients)
    assert "; on new notes 95 %: " in as_text(rank([entry("a", rows)]))


def test_csv_holds_no_formula() -> None:
    teams = [row["team"] for row in csv.DictReader(io.StringIO(as_csv(board())))]
    assert "'" + HOSTILE in teams


def test_markdown_has_one_line_a_row_and_no_markup_of_others() -> None:
    lines = [line for line in as_markdown(board()).splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 3
    assert all(line.replace("\\|", "").count("|") == 11 for line in lines)
    assert "\\<b\\>" in as_markdown(board())


def test_text_moves_no_cursor() -> None:
    assert len(as_text(board()).splitlines()) == 2 + 1 + 3 + 1 + len(board().warnings) + 1


@pytest.mark.parametrize("export", EXPORTS)
def test_same_board_same_bytes(export: str) -> None:
    assert EXPORTS[export](board()) == EXPORTS[export](board())


def test_frame() -> None:
    made = board()
    table = frame(made)
    assert list(table["submission"]) == [row.submission for row in made.rows]
    assert list(table.columns) == list(records(made)[0])


def cells_of(text: str, submission: str) -> list[str]:
    """The cells of a submission's line of a table for a terminal."""
    line = next(line for line in text.splitlines() if f" {submission} " in line and not line.startswith(submission))
    return line.split()


def test_a_narrow_terminal_has_no_room_for_precision_and_recall() -> None:
    """a leads, and b shares its place: 1–2 each; two equal ends are one number, and none is a dash."""
    made = rank([entry("a", [(3, 1, 0)] * 20), entry("b", [(3, 2, 0)] * 20)])
    first, second = (row.model_copy(update={"chosen_ci": None}) for row in made.rows)
    shown = made.model_copy(
        update={
            "rows": (
                first.model_copy(update={"rank_set": (1, 2)}),
                second.model_copy(
                    update={"rank_set": None, "chosen_ci": None, "score": 0.25, "score_ci": (0.125, 0.5)}
                ),
            )
        }
    )
    wide, narrow = as_text(shown), as_text(shown, 80)
    assert wide.splitlines()[0].split()[-3:] == ["precision", "recall", "K"]
    assert [word for word in narrow.splitlines()[0].split() if word in ("expected", "precision", "recall")] == [
        "expected"
    ]
    assert cells_of(wide, "a")[:2] == ["1", "1–2"]
    assert cells_of(wide, "b")[:2] == ["2", "–"]
    assert "0.2500 [0.1250, 0.5000]" in wide
    assert "0.8571" in wide
    alone = shown.model_copy(update={"rows": (first.model_copy(update={"rank_set": (2, 2)}),)})
    assert cells_of(as_text(alone), "a")[:2] == ["1", "2"]


def test_a_record_says_the_worst_slice_and_a_direction_where_there_is_one() -> None:
    made = rank([entry("a", [(3, 1, 0)] * 20)])
    [row] = made.rows
    worst = WorstSlice(slice="clinic", patients=3, value=0.25, ci=(0.125, 0.5))
    kept = made.model_copy(update={"rows": (row.model_copy(update={"slices": {"site": worst}}),)})
    [said] = records(kept)
    assert (said["worst_site"], said["worst_site_slice"]) == (0.25, "clinic")
    assert (said["worst_site_low"], said["worst_site_high"]) == (0.125, 0.5)
    assert "instance_strict.direction" not in said
