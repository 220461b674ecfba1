"""``queue check`` and ``queue init`` name what a challenge speaks of and nobody has; a broken task stops alone."""

import json
from pathlib import Path

import pytest
from queue_samples import CHALLENGE, RIGHT, challenge_folder, hand_in, queue, with_home

from sandscore.cli.main import run

pytestmark = pytest.mark.usefixtures("near_children")

BROKEN = f"""{CHALLENGE}headline = "tokn"
tie_break = ["instance_strict", "created"]
secondary = ["instance_strikt"]
[publication]
columns = ["rank", "colour"]
[[phases]]
name = "first"
[[phases]]
name = "second"
headline = "iouu"
[tasks.date]
headline = "address_type"
"""


def line_of(words: str) -> int:
    return next(number for number, line in enumerate(BROKEN.splitlines(), 1) if words in line)


def test_init_refuses_unknown_names_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    challenge = challenge_folder(tmp_path / "challenge", BROKEN)
    assert run(["queue", "init", str(tmp_path / "queue"), "--challenge", str(challenge)]) == 78
    said = capsys.readouterr().err
    for words in ("strikt", "colour", "iouu", "address_type"):
        assert f"challenge.toml, line {line_of(words)}: " in said, words
    assert "tokn" not in said, "the only task has a headline of its own"
    assert "did you mean instance_strict?" in said
    assert not (tmp_path / "queue").exists()


def test_check_tells_every_fault_and_ends_with_78(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, RIGHT)
    assert run(["queue", "check", str(workspace.root)]) == 0
    assert not [line for line in capsys.readouterr().out.splitlines() if line.startswith("fault")]
    edited = workspace.private / "challenge.toml"
    edited.write_text(BROKEN.replace("iouu", "iou"), encoding="utf-8")
    (tmp_path / "challenge" / "date.json").write_bytes(b"[{}]")
    (workspace.private / "logbook" / "key").write_bytes(b"\xff\xfenothing")
    assert run(["queue", "check", str(workspace.root), "--format", "json"]) == 78
    found = json.loads(capsys.readouterr().out)["findings"]
    faults = {one["name"] for one in found if one["level"] == "fault"}
    assert faults == {"challenge", "data", "public log"}
    assert any(one["name"] == "queue" and one["level"] == "ok" for one in found)


def test_a_broken_task_stops_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One board cannot be made for its rules; the other one is."""
    phases = '[[phases]]\nname = "a"\n[[phases]]\nname = "b"\n'
    workspace = queue(tmp_path, CHALLENGE + phases)
    for phase in "ab":
        hand_in(workspace, RIGHT, phase=phase)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    before = (workspace.boards / "date-b.json").read_bytes()
    edited = workspace.private / "challenge.toml"
    edited.write_text(CHALLENGE + phases.replace('"b"\n', '"b"\naggregation = "borda"\n'), encoding="utf-8")
    hand_in(workspace, RIGHT, "Team B", phase="a")
    capsys.readouterr()
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    said = capsys.readouterr().err
    assert "the board of date-b stays as it was: the configuration for task 'date', phase 'b'" in said
    assert "Traceback" not in said
    assert (workspace.boards / "date-b.json").read_bytes() == before
    assert len(json.loads((workspace.boards / "date-a.json").read_bytes())["rows"]) == 2


def test_a_queue_counts_every_measure_its_challenge_names(tmp_path: Path) -> None:
    """A general measure as headline is on the card, and decides the board."""
    workspace = queue(tmp_path, CHALLENGE.replace("resamples", 'headline = "iou(beta=2)"\nresamples'))
    hand_in(workspace, RIGHT)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    (one,) = with_home(workspace, lambda home: home.submissions())
    assert (one.status, one.scores["iou(beta=2)"]) == ("SCORED", 1.0)
    board = json.loads((workspace.boards / "date.json").read_bytes())
    assert board["headline"] == "iou(beta=2)"
