"""The ledger from a submission to the sum: numbers by hand."""

import json
from pathlib import Path

import pytest
from msgspec.json import encode
from queue_samples import GOLD, HIDDEN, OPEN, WRONG_PLACE, hand_in, queue

from sandscore.cli.main import run
from sandscore.queue.ledger_summary import most_above
from sandscore.records.released_view import LedgerLine

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("near_children")]


def disclosed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    capsys.readouterr()
    assert run(["queue", "disclosed", *words, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_hidden_challenge_counts_every_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A status is one of three: 1.585 bits. Eleven codes, each with one of 32 counts: 55 bits."""
    workspace = queue(tmp_path, HIDDEN)
    good, bad = hand_in(workspace, GOLD), hand_in(workspace, WRONG_PLACE, team="Team B")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    found = disclosed(capsys, str(workspace.root))
    lines = {(line["submission"], line["what"]): line for line in json.loads(json.dumps(found["lines"]))}
    assert lines[good, "status"]["bits"] == pytest.approx(1.585, abs=0.001)
    assert lines[bad, "problems"]["bits"] == lines[bad, "reason"]["bits"] == 55
    assert lines[good, "score"]["bits"] > 13
    assert {line["team"] for line in lines.values() if line["submission"] == bad} == {"Team B"}
    alone = disclosed(capsys, str(workspace.root), "--team", "Team B")
    assert {line["team"] for line in json.loads(json.dumps(alone["lines"]))} <= {"Team B", None}
    [total] = json.loads(json.dumps(alone["teams"]))
    assert (total["team"], total["best"], total["above"]) == ("Team B", None, None)
    assert run(["queue", "disclosed", str(workspace.root)]) == 0
    assert "bits at most" in capsys.readouterr().out


def test_what_everybody_has_tells_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path, f'challenge = "c"\nresamples = 100\n{OPEN}')
    hand_in(workspace, GOLD)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    found = disclosed(capsys, str(workspace.root))
    lines = json.loads(json.dumps(found["lines"]))
    assert sum(line["bits"] for line in lines) == 0
    assert {line["what"] for line in lines if line["team"] is None} == {"board", "card"}
    assert not workspace.pending.exists()


def test_a_board_that_is_seen_is_in_the_ledger_whoever_dies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its line is on disk before the board is; the next worker brings it to the home, once."""
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, GOLD)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    before = json.loads(json.dumps(disclosed(capsys, str(workspace.root))["lines"]))
    [board] = [line for line in before if line["what"] == "board"]
    assert board["team"] is None
    assert board["bits"] > 0
    left = [LedgerLine(what="board", bits=3.0, mark="unseen"), LedgerLine(what="board", bits=1.0, mark=board["mark"])]
    workspace.pending.write_bytes(encode(left))
    hand_in(workspace, GOLD, team="Team B")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    after = json.loads(json.dumps(disclosed(capsys, str(workspace.root))["lines"]))
    assert [line["mark"] for line in after if line["what"] == "board"][:2] == [board["mark"], "unseen"]
    assert sum(line["mark"] == board["mark"] for line in after) == 1


def test_how_far_a_score_may_lie_above_the_truth() -> None:
    """SE 0.02 and 10 bits: 0.02 times the root of 13.863, by hand."""
    assert most_above(0.02, 10) == pytest.approx(0.02 * 3.7233, abs=1e-5)
    assert most_above(0.5, 100) == 1
    assert most_above(0.1, 0) == 0
