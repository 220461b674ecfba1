"""A worker's children in its own process: the same questions and answers over the same wire, and no start of Python.

For tests of what a worker does with them. Whatever is about processes (what they know and inherit, how they die, what
they hold of whom) has real ones, as have the sieges; the fixture is in conftest.py.
"""

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.board_making import rebuild
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.children.child_answers import answered
from sandscore.queue.children.child_messages import BATCH_REQUESTS, BOARDS_REQUESTS, BoardsRequest, Request, as_line
from sandscore.queue.children.child_process import Child
from sandscore.queue.children.scorer_process import Desk
from sandscore.queue.workspace import asked_workspace


class NearChild:
    """One of those that see gold or write pages. Cells remain processes of their own."""

    def __init__(self, root: Path, *, publishes: bool) -> None:
        self._work: Callable[[Any], Any]
        self._requests: Any
        self._cells: ReadingCells | None = None
        if publishes:

            def rebuilt(asked: BoardsRequest) -> Any:
                return rebuild(asked_workspace(root, asked.challenge), asked.submissions, asked.accepted)

            self._work, self._requests = rebuilt, BOARDS_REQUESTS
        else:
            self._cells = ReadingCells()
            self._work, self._requests = Desk(root, self._cells).work, BATCH_REQUESTS

    def answer(self, request: Request) -> bytes:
        """The line that it would write."""
        with redirect_stdout(sys.stderr):
            return as_line(answered(self._work, self._requests.decode(as_line(request))))

    def close(self) -> None:
        if self._cells is not None:
            self._cells.close()


def keep_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends, no child but a runner is a process."""
    far_ask, far_stop = Child._ask, Child.stop
    near: dict[Child[Any], NearChild] = {}

    async def ask(self: Child[Any], request: Request, seconds: float) -> Any:
        module, *arguments = self._command[3:]
        if module.endswith("runner_process"):
            return await far_ask(self, request, seconds)
        if self not in near:
            near[self] = NearChild(Path(arguments[0]), publishes=module.endswith("publisher_process"))
        before = os.umask(self._mask)
        try:
            return self._answers.decode(near[self].answer(request))
        except SystemExit as end:
            await stop(self)
            raise InfrastructureFault(f"a child process ended without an answer (exit code {end.code})") from None
        finally:
            os.umask(before)

    async def stop(self: Child[Any]) -> int | None:
        if self in near:
            near.pop(self).close()
            return 0
        return await far_stop(self)

    monkeypatch.setattr(Child, "_ask", ask)
    monkeypatch.setattr(Child, "stop", stop)
