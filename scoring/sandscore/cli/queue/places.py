"""Which queue is meant: a folder, or a Synapse evaluation queue with a folder of local state."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandscore.queueing.workspace import Workspace, open_workspace
from sandscore.records.errors import UsageFault

if TYPE_CHECKING:
    from sandscore.queueing.interface import QueueHome

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Done = TypeVar("_Done")
_OPTIONS = (
    click.option("--synapse", metavar="EVALUATION_ID", help="A Synapse evaluation queue in place of DIR."),
    click.option(
        "--synapse-config",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="A .synapseConfig, in place of the one in the home directory.",
    ),
    click.option(
        "--state",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="With --synapse: local state (caches, logs, attempts), made by queue init.",
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """The queue a command is about."""

    workspace: Workspace
    evaluation: str | None = None
    config: Path | None = None

    def home(self) -> "QueueHome":
        """Not opened yet."""
        if self.evaluation is None:
            from sandscore.queueing.embedded.home import EmbeddedHome

            return EmbeddedHome(self.workspace)
        from sandscore.queueing.synapse.home import SynapseHome

        return SynapseHome(self.evaluation, self.config, self.workspace)

    def asking(self, work: "Callable[[QueueHome], Awaitable[_Done]]") -> _Done:
        """Open the queue, do one thing with it, close it."""

        async def done() -> _Done:
            home = self.home()
            try:
                await home.open()
                return await work(home)
            finally:
                await home.close()

        return asyncio.run(done())


def home_options(command: _Command) -> _Command:
    """Add the options that name a queue; the command takes them as ``**where`` and hands them to ``place_of``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def place_of(words: tuple[str, ...], where: dict[str, Any], after: int) -> tuple[Place, tuple[str, ...]]:
    """The queue, and the ``after`` words that follow its DIR; a negative number means any."""
    evaluation, config, state = where["synapse"], where["synapse_config"], where["state"]
    if evaluation is None:
        if state is not None or config is not None:
            raise UsageFault("--state and --synapse-config go with --synapse")
        if not words:
            raise UsageFault("name the queue's DIR, or a Synapse queue with --synapse and --state")
        root, words = Path(words[0]), words[1:]
    elif state is None:
        raise UsageFault("--synapse needs --state DIR, a folder made by: sandscore queue init DIR --challenge FILE")
    else:
        root = state
    if 0 <= after != len(words):
        raise UsageFault(f"{after} argument{'' if after == 1 else 's'} expected after the queue, {len(words)} given")
    return Place(open_workspace(root), evaluation, config), words
