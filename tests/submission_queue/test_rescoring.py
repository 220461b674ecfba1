"""Rescoring when gold changes: who moves, by how much, because of which annotations; by hand on three notes."""

import json
from pathlib import Path
from typing import Any

import pytest
from queue_samples import GOLD, HALF, RIGHT, annotations, hand_in, queue

from sandscore.cli.main import run
from sandscore.queue.attempt_scoring import Scorer
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.children.child_messages import RecountRequest
from sandscore.queue.children.scorer_process import recounted_answer
from sandscore.queue.workspace import Workspace

pytestmark = pytest.mark.usefixtures("near_children")

LATER = GOLD | {"n1": [(8, "10/26/2020")]}
"""The second date of n1 is struck from gold."""


@pytest.fixture
def scored(tmp_path: Path) -> tuple[Workspace, str, str]:
    workspace = queue(tmp_path)
    right, half = hand_in(workspace, RIGHT, "Right"), hand_in(workspace, HALF, "Half")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    return workspace, right, half


def rescore(workspace: Workspace, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["queue", "rescore", str(workspace.root), *options, "--format", "json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_nothing_changes_where_gold_does_not(
    scored: tuple[Workspace, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    [group] = rescore(scored[0], capsys, "--plan")["groups"]
    assert (group["unchanged"], group["submissions"]) == (2, [])


def test_the_plan_names_movers_and_causes_and_writes_nothing(
    scored: tuple[Workspace, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, right, half = scored
    workspace.gold("date", None).write_bytes(annotations(LATER))
    answer = rescore(workspace, capsys, "--plan")
    [group] = answer["groups"]
    assert answer["written"] is None
    [gold] = group["gold"]
    assert gold["changes"] == [{"change": "removed", "note": "n1", "start": 23, "length": 10, "label": None}]
    by_id = {one["id"]: one for one in group["submissions"]}
    # right: 3 of 3 before (F1 1), now 2 right and 1 too many: 2*2/(4+1+0) = 0.8; half: 2 of 3 (0.8), now 2 of 2 (1)
    assert (by_id[right]["before"], by_id[right]["after"]) == (1.0, 0.8)
    assert (by_id[half]["before"], by_id[half]["after"]) == (0.8, 1.0)
    assert [(by_id[one]["rank_before"], by_id[one]["rank_after"]) for one in (right, half)] == [(1, 2), (2, 1)]
    assert [by_id[one]["had"] for one in (right, half)] == [[0], []]
    assert by_id[right]["notes"] == [{"note": "n1", "before": [2, 0, 0], "after": [1, 1, 0]}]
    assert not list(workspace.root.rglob("card.v2.json"))
    assert not list(workspace.private.glob(".scratch-*"))


def test_what_was_kept_is_counted_again_without_the_predictions(scored: tuple[Workspace, str, str]) -> None:
    """As above, by hand: right has 2 of 2 and 1 too many, half 2 of 2; of n1 alone 1 and 1 too many, and 1."""
    workspace, right, half = scored
    workspace.gold("date", None).write_bytes(annotations(LATER))
    request = RecountRequest("date", None, (right, half, "unknown"))
    cells = ReadingCells()
    try:
        found = recounted_answer(workspace, Scorer(workspace, cells), request).submissions
        assert {name: one.totals["instance_strict"] for name, one in found.items()} == {
            right: (2, 1, 0),
            half: (2, 0, 0),
        }
        changed = {name: one.notes["n1"]["instance_strict"] for name, one in found.items()}
        assert changed == {right: (1, 1, 0), half: (1, 0, 0)}
        assert workspace.counts(right).stat().st_mode & 0o777 == 0o600
        workspace.counts(right).write_bytes(b"damaged")
        again = recounted_answer(workspace, Scorer(workspace, cells), request).submissions
        assert again == {half: found[half]}, "the other is scored again"
    finally:
        cells.close()


def test_versions_lie_beside_the_old_and_the_board_follows(
    scored: tuple[Workspace, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, right, half = scored
    workspace.gold("date", None).write_bytes(annotations(LATER))
    before = {path: path.read_bytes() for path in workspace.root.rglob("card.v1.json")}
    assert sorted(rescore(workspace, capsys, "--apply", "--cause", "n1 corrected")["written"]) == sorted([right, half])
    assert {path: path.read_bytes() for path in before} == before
    run(["queue", "show", str(workspace.root), right, "--format", "json"])
    shown = json.loads(capsys.readouterr().out)
    assert [(v["number"], v["cause"], v["scores"]["instance_strict"]) for v in shown["versions"]] == [
        (1, "scored", 1.0),
        (2, "n1 corrected", 0.8),
    ]
    board = json.loads((workspace.boards / "date.json").read_bytes())
    assert [row["submission"] for row in board["rows"]] == [half, right]
    older = json.loads((workspace.boards / "date.v1.json").read_bytes())
    assert [row["submission"] for row in older["rows"]] == [right, half]
    assert run(["verify", str(workspace.boards / "date.json")]) == 0
    assert run(["verify", str(workspace.boards / "date.v1.json")]) == 0
    assert rescore(workspace, capsys, "--apply")["written"] == []


def test_a_board_of_two_golds_stays_as_it_was_and_says_why(
    scored: tuple[Workspace, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, *_ = scored
    before = (workspace.boards / "date.json").read_bytes()
    workspace.gold("date", None).write_bytes(annotations(LATER))
    hand_in(workspace, RIGHT, "Late")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    assert "queue rescore" in capsys.readouterr().err
    assert (workspace.boards / "date.json").read_bytes() == before
    rescore(workspace, capsys, "--apply")
    assert len(json.loads((workspace.boards / "date.json").read_bytes())["rows"]) == 3


def test_predictions_that_new_notes_refuse_are_named(
    scored: tuple[Workspace, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, right, _ = scored
    notes = json.loads(workspace.notes(None).read_bytes())
    notes[0]["text"] = notes[0]["text"].replace("10/27/2020", "11/27/2020")
    workspace.notes(None).write_text(json.dumps(notes), encoding="utf-8")
    workspace.gold("date", None).write_bytes(annotations(LATER))
    [group] = rescore(workspace, capsys, "--plan")["groups"]
    refused = {one["id"]: one["refused"] for one in group["submissions"]}
    assert "text-mismatch 1" in refused[right]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [[], ["--plan", "--apply"]], ids=["neither", "both"])
def test_one_of_plan_and_apply(scored: tuple[Workspace, str, str], options: list[str]) -> None:
    assert run(["queue", "rescore", str(scored[0].root), *options]) == 2
