"""A Dask cluster as a pair of hands. Whatever of it dies, work is asked for again; the queue decides what counts."""

import asyncio
import shutil
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.queue.attempt_files import LOG, PREDICTIONS, RUN
from sandscore.queue.children.child_messages import (
    RunAnswer,
    RunnerAnswer,
    RunnerRequest,
    ScorerAnswer,
    ScorerRequest,
    SweepAnswer,
    SweepRequest,
)
from sandscore.queue.dask.dask_tasks import ShardAnswer, run_task, score_task
from sandscore.queue.dask.note_shards import joined, shards_of
from sandscore.queue.worker.executor import Hands
from sandscore.records.run_record import Outcome

_CONNECT_SECONDS = 10.0
_PAUSE_SECONDS = 1.0
_KEPT = (PREDICTIONS, LOG, RUN)
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


class Cluster:
    """One connection for all hands, made again when it breaks."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client: Any = None
        self._connecting = asyncio.Lock()

    async def ask(
        self, task: Callable[[str, _Request], Awaitable[_Answer]], root: Path, job: _Request, resource: str
    ) -> _Answer:
        """The task's answer, however often the cluster has to be asked."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        while True:
            try:
                client = await self._connected()
                future = client.submit(
                    task,
                    str(root),
                    job,
                    key=f"{resource}-{uuid.uuid4().hex}",
                    resources={resource: 1},
                    pure=False,
                )
                answer: _Answer = await future
            except KilledWorker:
                raise InfrastructureFault("several workers died over it") from None
            except (FutureCancelledError, OSError, TimeoutError):
                await self._lost()
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            return answer

    async def close(self) -> None:
        await self._lost()

    async def _connected(self) -> Any:
        import distributed

        connect: Any = distributed.Client
        async with self._connecting:
            if self._client is None or self._client.status != "running":
                self._client = await connect(
                    self._address, asynchronous=True, timeout=_CONNECT_SECONDS, set_as_default=False
                )
            return self._client

    async def _lost(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close(timeout=_PAUSE_SECONDS)


class DaskHands:
    """Large note sets are cut into shards by characters, each run by a container of its own."""

    def __init__(self, cluster: Cluster, root: Path) -> None:
        self._cluster, self._root = cluster, root

    async def run(self, job: RunnerRequest) -> RunnerAnswer:
        if isinstance(job, SweepRequest):
            return SweepAnswer(0)
        shards = await asyncio.to_thread(shards_of, job.notes)
        asked = [self._cluster.ask(run_task, self._root, replace(job, part=shard), "runner") for shard in shards]
        answers = await asyncio.gather(*asked)
        worst = next((answer for answer in answers if not _finished(answer)), None)
        taken = [Path(answer.folder) for answer in ([worst] if worst else answers) if answer.folder is not None]
        if taken:
            await asyncio.to_thread(_take, taken, Path(job.folder))
        return (worst or answers[0]).ended

    async def score(self, job: ScorerRequest) -> ScorerAnswer:
        return await self._cluster.ask(score_task, self._root, job, "scorer")

    async def close(self) -> None:
        """The cluster is shared; who made it closes it."""


async def connected(address: str, root: Path) -> tuple[Callable[[], Hands], Callable[[], Awaitable[None]]]:
    """Hands that work on a cluster, and how to part from it. ``root`` must be the same folder on every machine."""
    try:
        import distributed  # noqa: F401 (is it there?)
    except ImportError:
        raise UsageFault("--dask needs the package distributed: pip install 'sandscore[dask]'") from None
    cluster = Cluster(address)
    return lambda: DaskHands(cluster, root.resolve()), cluster.close


def _finished(answer: ShardAnswer) -> bool:
    return isinstance(answer.ended, RunAnswer) and answer.ended.outcome is Outcome.FINISHED


def _take(folders: list[Path], attempt: Path) -> None:
    """Results of runs into the attempt's folder; what other runs of the same tasks left is removed."""
    for name in _KEPT:
        parts = [folder / name for folder in folders if (folder / name).exists()]
        if len(parts) == 1:
            parts[0].replace(attempt / name)
        elif parts:
            joined(name, parts, attempt / name)
    for other in attempt.glob("run-*"):
        shutil.rmtree(other, ignore_errors=True)
