"""The queue that a command means: the folder it names, and the home whose queue lies in it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sandscore.base.errors import UsageFault
from sandscore.cli.options import click_options
from sandscore.queue.homes.home_registry import home_of, named_folder, our_homes

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.queue.homes.home_row import HomeRow
    from sandscore.queue.workspace import Workspace

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Done = TypeVar("_Done")


class Place:
    """The queue a command is about."""

    def __init__(self, workspace: "Workspace", row: "HomeRow", chosen: Mapping[str, Any]) -> None:
        self.workspace, self.row, self._chosen = workspace, row, chosen

    def home(self) -> "QueueHome":
        """Not opened yet."""
        return self.row.open(self.workspace, self._chosen)

    def asking(self, work: "Callable[[QueueHome], Awaitable[_Done]]") -> _Done:
        """Open the queue, do one thing with it, close it."""
        from sandscore.queue.queue_layout import owner_only

        async def done() -> _Done:
            home = self.home()
            try:
                await home.open()
                return await work(home)
            finally:
                await home.close()

        with owner_only():
            return asyncio.run(done())


def home_options(command: _Command) -> _Command:
    """Add the options that name a queue; the command takes them as ``**where`` and hands them to ``place_of``."""
    return click_options(option for row in our_homes() for option in row.options)(command)


def place_of(words: tuple[str, ...], where: Mapping[str, Any], after: int) -> tuple[Place, tuple[str, ...]]:
    """The queue, and the ``after`` words that follow its DIR; a negative number means any."""
    root = named_folder(where)
    if root is None and not words:
        places = [f", or {row.place}" for row in our_homes() if row.place]
        raise UsageFault(f"name the queue's DIR{''.join(places)}")
    if root is None:
        root, words = Path(words[0]), words[1:]
    if 0 <= after != len(words):
        raise UsageFault(f"{after} argument{'' if after == 1 else 's'} expected after the queue, {len(words)} given")
    return queue_in(root, where), words


def queue_in(root: Path, where: Mapping[str, Any]) -> Place:
    """The queue of a folder."""
    from sandscore.queue.workspace import open_workspace

    workspace = open_workspace(root)
    return Place(workspace, home_of(workspace, where), where)
