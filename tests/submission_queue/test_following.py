"""Of several workers one makes the boards; the others see that it is done."""

from pathlib import Path
from typing import Any

import pytest
from queue_samples import hand_in, queue, with_home

from sandscore.cli.main import run
from sandscore.queue.children.child_messages import BoardsAnswer, BoardsRequest
from sandscore.queue.children.child_process import Child
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.board_refresh import Follower


def publisher(jobs: list[BoardsRequest]) -> Any:
    """A child that notes what it is asked for."""

    async def ask(_: Child[BoardsAnswer], job: BoardsRequest, _seconds: float) -> BoardsAnswer:
        jobs.append(job)
        return BoardsAnswer((), {}, ())

    return ask


def test_what_another_has_published_is_not_published_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    asked: list[BoardsRequest] = []
    monkeypatch.setattr(Child, "ask", publisher(asked))

    async def two(home: EmbeddedHome) -> None:
        one, other = Follower(home, workspace), Follower(home, workspace)
        for follower in (one, other, one, other):
            assert await follower.refresh()

    with_home(workspace, two)
    assert len(asked) == 1

    async def later(home: EmbeddedHome) -> None:
        await Follower(home, workspace).refresh()

    with_home(workspace, later)
    assert len(asked) == 2, "who begins later looks for himself: somebody may have removed the site"
