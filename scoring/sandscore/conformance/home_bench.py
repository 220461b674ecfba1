"""A place to try a home out: queues that are made for one check, handed submissions, and opened by several workers."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.home_row import HomeRow
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_setup import NewQueue
from sandscore.queue.settings import QueueSettings
from sandscore.queue.workspace import Workspace

TASK = "date"
NOTE = "Seen on 10/26/2020 and not since."
GOLD = [
    {
        "annotationSource": {"resourceSource": {"name": "n1"}},
        "textDateAnnotations": [{"start": 8, "length": 10, "text": "10/26/2020"}],
    }
]
PREDICTIONS = json.dumps(GOLD).encode()
SETTINGS: dict[str, Any] = {"first_wait_seconds": 0, "most_failures": 3, "most_losses": 3}


class Seat(Struct, frozen=True):
    """One worker's view of a queue: its home, open, and the folder where its attempts lie."""

    home: QueueHome
    workspace: Workspace


class BenchQueue(Protocol):
    """An empty queue of the home under test."""

    def hand_in(self, content: bytes = PREDICTIONS, team: str = "Team A") -> str:
        """Make a submission of a prediction file the way teams do; its id."""

    def opened(self) -> AbstractAsyncContextManager[Seat]:
        """The queue as one more worker opens it. Called again it is another worker, and may be in another thread."""

    def lose_answers(self, count: int) -> None:
        """The next ``count`` changes take effect, but whoever made them is not told; nothing to do for a home that
        has no line which could break."""


class HomeBench(Protocol):
    """What makes queues of one home. A home whose submissions are made elsewhere brings a bench of its own."""

    def queue(self, **settings: Any) -> BenchQueue:
        """An empty queue; ``settings`` are of settings.json."""


def challenge_file(folder: Path) -> Path:
    """challenge.toml of a challenge of one note, with notes and gold beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes.json").write_text(json.dumps([{"identifier": "n1", "text": NOTE, "patientId": "p1"}]), "utf-8")
    (folder / "date.json").write_bytes(PREDICTIONS)
    (folder / "challenge.toml").write_text('challenge = "conformance"\n', encoding="utf-8")
    return folder / "challenge.toml"


class FolderQueue:
    """A queue in a folder of this machine, made and handed submissions through its row."""

    def __init__(self, row: HomeRow, folder: Path, settings: QueueSettings, options: tuple[str, ...] = ()) -> None:
        self._row = row
        chosen = {"home_options": options}
        made = row.init(NewQueue(folder, challenge_file(folder.parent / "challenge"), settings, chosen))
        if made.workspace is None:
            raise AssertionError(f"{folder} is new, and yet no queue was made in it: {made.mended}")
        self._workspace = made.workspace

    def hand_in(self, content: bytes = PREDICTIONS, team: str = "Team A") -> str:
        file = self._workspace.root.parent / "handed-in.json"
        file.write_bytes(content)
        return self._row.submit(self._workspace, NewSubmission(TASK, team, predictions=file))

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Seat]:
        home = self._row.open(self._workspace, {})
        await home.open()
        try:
            yield Seat(home, self._workspace)
        finally:
            await home.close()

    def lose_answers(self, count: int) -> None:
        """A folder answers, or the process is gone."""


class FolderBench:
    """Queues of any home that takes submissions through its row, each in a folder of its own."""

    def __init__(self, row: HomeRow, folder: Path) -> None:
        self._row, self._folder, self._made = row, folder, 0

    def queue(self, **settings: Any) -> BenchQueue:
        self._made += 1
        folder = self._folder / str(self._made)
        data = {"": str(folder / "challenge")}
        return FolderQueue(self._row, folder / "queue", QueueSettings(data=data, **SETTINGS | settings))
