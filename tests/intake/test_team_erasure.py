"""A team that is erased is in no file any more, its scores stay under a pseudonym, and a backup forgets it again."""

from pathlib import Path

import pytest
from queue_samples import CHALLENGE, HALF, RIGHT, hand_in, queue, with_home

from sandscore.cli.main import run
from sandscore.intake.team_erasure import FILE
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Status

pytestmark = pytest.mark.slow

TEAM, MAIL, CALLED, PERSON = "Tidewater-Zqxw", "lab-Zqxw@example.org", "system-Zqxw", "Ada-Zqxw"


def naming(root: Path) -> list[str]:
    """Files that hold any of it."""
    held = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(root)) for path in held if b"Zqxw" in path.read_bytes())


def filled(folder: Path) -> Workspace:
    workspace = queue(folder, CHALLENGE)
    registry = TeamRegistry(workspace)
    registry.add(TEAM, MAIL, "me")
    registry.issue(TEAM, PERSON, "me")
    hand_in(workspace, RIGHT, TEAM, submitter=MAIL, name=CALLED)
    hand_in(workspace, HALF, "Other")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    hand_in(workspace, RIGHT, TEAM)
    return workspace


def test_nothing_of_it_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = filled(tmp_path)
    root, backup = workspace.root, tmp_path / "backup.tar"
    assert len(naming(root)) > 8
    assert run(["queue", "backup", str(root), str(backup)]) == 0
    capsys.readouterr()
    assert run(["queue", "team", "remove", str(root), TEAM, "--erase"]) == 0
    pseudonym = capsys.readouterr().out.split()[-1]
    assert naming(root) == []
    found = with_home(workspace, lambda home: home.submissions())
    assert sorted((one.team, one.status) for one in found) == sorted(
        [(pseudonym, Status.SCORED), ("Other", Status.SCORED), (pseudonym, Status.REJECTED)]
    )
    [board] = workspace.boards.glob("*.json")
    assert pseudonym in board.read_text()
    assert run(["queue", "check", str(root)]) == 0
    assert run(["queue", "work", str(root), "--once"]) == 0
    restored = tmp_path / "restored"
    assert run(["queue", "restore", str(backup), str(restored), "--erased", str(workspace.private / FILE)]) == 0
    assert run(["queue", "work", str(restored), "--once"]) == 0
    assert naming(restored) == []
