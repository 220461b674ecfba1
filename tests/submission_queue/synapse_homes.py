"""Homes on the stand-in, as workers open them."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from queue_samples import OPEN
from released_samples import released
from submission_queue.synapse_standin import Queue, synapse

from sandscore.base.bundled_content import example_gold
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.synapse.synapse_home import SynapseHome
from sandscore.queue.homes.synapse.synapse_options import FILE
from sandscore.queue.workspace import open_workspace
from sandscore.records.submission import Claim, Status, Verdict

T = TypeVar("T")
QUICK: dict[str, Any] = {"task": "date", "poll_seconds": 0, "retry_seconds": 1.0, "requests_per_minute": 100_000}
LEASE = 30.0
STATUS = r"/submission/\d+/status$"


def state(folder: Path, options: dict[str, Any] | None = None, **settings: Any) -> Path:
    """The local state of a worker, as ``queue init`` leaves it, for the example challenge."""
    private = folder / "private"
    private.mkdir(parents=True, exist_ok=True)
    (folder / "public").mkdir(exist_ok=True)
    (private / "challenge.toml").write_text(f'challenge = "example"\n{OPEN}', encoding="utf-8")
    (private / "settings.json").write_text(json.dumps({"data": {"": str(example_gold())}} | settings), encoding="utf-8")
    (private / "salt").write_text("salt", encoding="utf-8")
    (private / FILE).write_text(json.dumps(QUICK | (options or {})), encoding="utf-8")
    return folder


def open_synapse_home(evaluation_id: str, config: Path | None, state: Path) -> QueueHome:
    """The home for a worker whose local state lies in ``state``, the folder that ``queue init`` made.

    ``config`` is a ``.synapseConfig``; None is the one in the home folder. Nothing is called before ``open()``.
    """
    return SynapseHome(evaluation_id, config, open_workspace(state))


@asynccontextmanager
async def opened(queue: Queue, name: str = "w", **given: Any) -> AsyncIterator[QueueHome]:
    """A home with a state of its own under the test's folder."""
    home = open_synapse_home(queue.id, queue.config(), state(queue.folder / name, **given))
    await home.open()
    try:
        yield home
    finally:
        await home.close()


def run(tmp_path: Path, test: Callable[[Queue], Awaitable[T]]) -> T:
    """A test against a stand-in of its own, in one event loop; the client asked for nothing it does not know."""
    with synapse(tmp_path / "synapse") as queue:
        result = asyncio.run(_finished(test(queue)))
        assert queue.world.unknown == []
    shutil.rmtree(tmp_path / "synapse", ignore_errors=True)
    return result


async def _finished(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, 60)


async def claimed(home: QueueHome, owner: str = "w1", seconds: float = LEASE) -> Claim:
    """The oldest submission, which must be there to be had."""
    (first,) = await home.claimable(1)
    claim = await home.claim(first, owner, seconds)
    assert claim is not None
    return claim


def scored(**given: Any) -> Verdict:
    """A verdict with exact scores for the organiser and coarser ones for the team."""
    told = {"measures": {"instance_strict": {"f1": 0.5, "precision": 1, "recall": None}, "token (o/w)": {"f1": 1}}}
    facts: dict[str, Any] = {
        "scores": {"instance_strict": 0.512345},
        "feedback": released(told),
        "signature": "date|x|v0.1.0",
    }
    return Verdict(**({"status": Status.SCORED} | facts | given))


def finals(queue: Queue, key: str) -> int:
    """How often it ended: what is written beside a final status afterwards is no new end."""
    final = {str(status) for status in Status if status.final}
    course = [status in final for submission, status, _ in queue.world.status_history if submission == key]
    return sum(now and not before for before, now in pairwise([False, *course]))
