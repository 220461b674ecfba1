"""The queue as a server has it: its folder as it is now, its door, its teams; asked in threads, for they may wait.

One thread reads and one writes, each with connections of its own. An organiser who edits challenge.toml need not start
the server again; an edit that cannot be read is said once, and what held before goes on.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.base.whole_files import told
from sandscore.intake.login_throttle import WrongTries
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.home_protocol import SubmissionDoor
from sandscore.queue.homes.home_registry import home_of
from sandscore.queue.queue_layout import CHALLENGE, OWNER_FOLDER, SETTINGS, edited_path, private_path
from sandscore.queue.workspace import Workspace, open_workspace

_Done = TypeVar("_Done")
_FOLDER, _TRIES = "intake", "tries.sqlite"


class QueueSide:
    """What one thread has of the queue."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._workspace = open_workspace(root)
        self._marks = self._as_edited()
        self.door: SubmissionDoor = home_of(self._workspace, {}).door(self._workspace)
        self.registry = TeamRegistry(self._workspace)
        self.tries = WrongTries(intake_folder(self._workspace) / _TRIES)

    @property
    def workspace(self) -> Workspace:
        """As its files are now."""
        if (marks := self._as_edited()) != self._marks:
            self._marks = marks
            try:
                self._workspace = open_workspace(self._root)
            except SandscoreError as fault:
                warn(f"the edit is not used: {fault}")
        return self._workspace

    def close(self) -> None:
        self.door.close()
        self.tries.close()

    def _as_edited(self) -> list[tuple[int, int, int]]:
        seen = [path.stat() for name in (CHALLENGE, SETTINGS) if (path := edited_path(self._root, name)).exists()]
        return [(one.st_ino, one.st_size, one.st_mtime_ns) for one in seen]


class LiveQueue:
    """Asked from an event loop."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lanes = [ThreadPoolExecutor(1, name) for name in ("reads", "writes")]
        self._sides: list[QueueSide | None] = [None, None]

    async def read(self, work: Callable[[QueueSide], _Done]) -> _Done:
        """What the work returns, for which nobody waits for the disk."""
        return await self._ask(0, work)

    async def write(self, work: Callable[[QueueSide], _Done]) -> _Done:
        """What the work returns, once it is on disk."""
        return await self._ask(1, work)

    async def close(self) -> None:
        for lane in (0, 1):
            if self._sides[lane] is not None:
                await self._ask(lane, QueueSide.close)
            self._lanes[lane].shutdown()

    async def _ask(self, lane: int, work: Callable[[QueueSide], _Done]) -> _Done:
        return await asyncio.get_running_loop().run_in_executor(self._lanes[lane], self._done, lane, work)

    def _done(self, lane: int, work: Callable[[QueueSide], _Done]) -> _Done:
        side = self._sides[lane]
        if side is None:
            side = self._sides[lane] = QueueSide(self.root)
        return work(side)


def intake_folder(workspace: Workspace, name: str = "") -> Path:
    """A folder of the server's own in the private half."""
    folder = private_path(workspace.root, _FOLDER) / name
    with told(folder):
        folder.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
    return folder
