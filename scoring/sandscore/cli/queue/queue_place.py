"""The queue that is meant: a folder, or a Synapse evaluation queue with a folder of local state."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandscore.base.errors import UsageFault

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome
    from sandscore.queue.workspace import Workspace

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
        help="Local state of a Synapse queue (caches, logs, attempts), made by queue init --synapse.",
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """The queue a command is about."""

    workspace: "Workspace"
    evaluation: str | None = None
    config: Path | None = None

    def home(self) -> "QueueHome":
        """Not opened yet."""
        if self.evaluation is None:
            from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome

            return EmbeddedHome(self.workspace)
        from sandscore.queue.homes.synapse.synapse_home import SynapseHome

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
    from sandscore.queue.workspace import open_workspace

    evaluation, config, state = where["synapse"], where["synapse_config"], where["state"]
    if state is not None:
        root = state
    elif evaluation is not None:
        made = f"sandscore queue init --synapse {evaluation} --state DIR --challenge FILE"
        raise UsageFault(f"--synapse needs --state DIR, a folder made by: {made}")
    elif not words:
        raise UsageFault("name the queue's DIR, or the state of a Synapse queue with --state")
    else:
        root, words = Path(words[0]), words[1:]
    if 0 <= after != len(words):
        raise UsageFault(f"{after} argument{'' if after == 1 else 's'} expected after the queue, {len(words)} given")
    return _of(open_workspace(root), evaluation, config, "--state" if state is not None else None), words


def synapse_queue(root: Path) -> str | None:
    """The evaluation queue whose state the folder is; None for a queue of its own."""
    from sandscore.queue.homes.synapse.synapse_options import read_options

    return read_options(root).evaluation


def _of(workspace: "Workspace", evaluation: str | None, config: Path | None, named: str | None) -> Place:
    """What the command says and what the folder says must agree."""
    from sandscore.queue.homes.synapse.synapse_options import read_options

    options = read_options(workspace.root)
    if evaluation is not None and options.evaluation not in (None, evaluation):
        raise UsageFault(f"{workspace.root} is the state of the queue {options.evaluation}, not of {evaluation}")
    evaluation = evaluation or options.evaluation
    if evaluation is None and (named or config):
        raise UsageFault(
            f"{named or '--synapse-config'} goes with --synapse: {workspace.root} does not say which queue"
        )
    return Place(workspace, evaluation, config or (Path(options.config) if options.config else None))
