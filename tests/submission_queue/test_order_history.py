"""Every order to a queue says who gave it, when and why, and is written before it is carried out."""

import getpass
import json
import stat
from pathlib import Path

import pytest
from queue_samples import RIGHT, hand_in, queue

from sandscore.cli.main import run
from sandscore.queue.order_history import FILE, read_orders

pytestmark = pytest.mark.usefixtures("near_children")


def orders(root: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert run(["queue", "history", str(root), "--format", "json"]) == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_who_when_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path)
    root, first, second = str(workspace.root), hand_in(workspace), hand_in(workspace, RIGHT, "B")
    assert orders(workspace.root, capsys) == []
    assert run(["queue", "cancel", root, first, "--as", "Ada", "--why", "handed in twice"]) == 0
    assert run(["queue", "requeue", root, first, "nothing"]) == 2
    assert run(["queue", "work", root, "--once"]) == 0
    assert run(["queue", "rescore", root, "--plan"]) == 0
    assert run(["queue", "rescore", root, second, "--apply", "--cause", "a typing error in gold"]) == 0
    assert run(["queue", "rekey", root, "--as", "\u202eevil\n"]) == 0
    found = orders(workspace.root, capsys)
    me = getpass.getuser()
    assert [(one["what"], one["who"], one["why"], one["submissions"]) for one in found] == [
        ("cancel", "Ada", "handed in twice", [first]),
        ("requeue", me, None, [first, "nothing"]),
        ("rescore", me, "a typing error in gold", [second]),
        ("rekey", "\u202eevil\n", None, []),
    ]
    assert [one["when"] for one in found] == sorted(str(one["when"]) for one in found)
    assert run(["queue", "history", root]) == 0
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert "handed in twice" in printed
    assert stat.S_IMODE((workspace.private / FILE).stat().st_mode) == 0o600


def test_a_line_that_was_cut_off_and_one_that_is_damaged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path)
    one = hand_in(workspace)
    assert run(["queue", "cancel", str(workspace.root), one]) == 0
    path = workspace.private / FILE
    with path.open("ab") as file:
        file.write(b'{"what":"requeue","whe')
    assert [order.what for order in read_orders(workspace.root)] == ["cancel"]
    assert run(["queue", "requeue", str(workspace.root), one]) == 0
    assert [order.what for order in read_orders(workspace.root)] == ["cancel", "requeue"]
    path.write_bytes(path.read_bytes().replace(b'"what":"cancel"', b'"what":3'))
    assert run(["queue", "history", str(workspace.root)]) == 78
    assert "line 1 of" in capsys.readouterr().err
