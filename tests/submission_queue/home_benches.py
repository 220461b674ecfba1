"""Benches of the conformance suite for each home: ours, Synapse's on the stand-in, and a stranger's."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from strangers.json_home import JsonFileRow
from submission_queue import synapse_homes
from submission_queue.synapse_standin import LOST, Fault, Queue, synapse

from sandscore.conformance.home_bench import PREDICTIONS, SETTINGS, BenchQueue, FolderBench, HomeBench, Seat
from sandscore.queue.homes.home_registry import HOMES
from sandscore.queue.homes.synapse.synapse_row import SynapseRow
from sandscore.queue.workspace import open_workspace


class StandinQueue:
    """An evaluation queue on a stand-in; every worker has a state of its own."""

    def __init__(self, queue: Queue, settings: dict[str, Any]) -> None:
        self._queue, self._settings, self._names = queue, settings, count()

    def hand_in(self, content: bytes = PREDICTIONS, team: str = "Team A") -> str:
        return self._queue.submit_file(content, team=self._queue.team(team))

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Seat]:
        folder = self._queue.folder / f"state-{next(self._names)}"
        synapse_homes.state(
            folder, {"evaluation": self._queue.id, "config": str(self._queue.config())}, **self._settings
        )
        workspace = open_workspace(folder)
        home = SynapseRow().open(workspace, {})
        await home.open()
        try:
            yield Seat(home, workspace)
        finally:
            await home.close()

    def lose_answers(self, count: int) -> None:
        self._queue.standin.faults.append(Fault("PUT", synapse_homes.STATUS, LOST, times=count))


class StandinBench:
    """Queues on stand-ins, each a Synapse of its own."""

    def __init__(self, folder: Path, running: ExitStack) -> None:
        self._folder, self._running, self._names = folder, running, count()

    def queue(self, **settings: Any) -> BenchQueue:
        queue = self._running.enter_context(synapse(self._folder / f"synapse-{next(self._names)}"))
        return StandinQueue(queue, SETTINGS | settings)


@contextmanager
def sqlite_bench(folder: Path) -> Iterator[HomeBench]:
    yield FolderBench(HOMES.find("sqlite")(), folder)


@contextmanager
def json_bench(folder: Path) -> Iterator[HomeBench]:
    yield FolderBench(JsonFileRow(), folder)


@contextmanager
def synapse_bench(folder: Path) -> Iterator[HomeBench]:
    with ExitStack() as running:
        yield StandinBench(folder, running)


BENCHES: dict[str, Callable[[Path], Any]] = {
    "sqlite": sqlite_bench,
    "synapse": synapse_bench,
    "json-file": json_bench,
}
