"""A Dask cluster as a pair of hands. Whatever of it dies, work is asked for again; the queue decides what counts.

Large note sets in pieces of about equal length: cut before the run, put together after it.

Tasks of a Dask worker. Jobs are references: paths, digests, numbers; answers are too.

A task may be carried out twice (its first worker was only thought dead), so each carries out its run in a folder of
its own and says which; what it was asked for is taken from the answer that arrived, and the rest is thrown away.
"""

import asyncio
import shutil
import uuid
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.base.whole_files import write_synced
from sandscore.containers.run_shards import gathered_record
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.attempt_files import EARLY_LOG, LOG, NOTES, PREDICTIONS, PROBLEMS, REFUSED, RUN
from sandscore.queue.children.child_messages import (
    Blame,
    FaultAnswer,
    RunAnswer,
    RunnerAnswer,
    RunnerRequest,
    ScorerAnswer,
    ScorerRequest,
    SubmissionRunRequest,
    SweepAnswer,
    SweepRequest,
)
from sandscore.queue.worker.executor import Hands, LocalHands
from sandscore.records.run_record import Outcome, RunRecord

SHARD_CHARACTERS = 2_000_000
Part = tuple[int, int]


def shards_of(notes: str | Path, most: int = SHARD_CHARACTERS) -> list[Part]:
    """First and last (exclusive) number of the notes of each shard, in their order."""
    lengths = [len(note.text) for note in read_notes(notes)[0]]
    return cut(lengths, most)


def cut(lengths: Sequence[int], most: int) -> list[Part]:
    """A shard ends before the note that would make it too long; one note alone may be longer."""
    found: list[Part] = []
    begin, held = 0, 0
    for number, length in enumerate(lengths):
        if number > begin and held + length > most:
            found.append((begin, number))
            begin, held = number, 0
        held += length
    return [*found, (begin, len(lengths))]


def joined(name: str, parts: Sequence[Path], target: Path) -> None:
    """One file of several shards' files of that name, in the order of the notes."""
    contents = [part.read_bytes() for part in parts]
    if name == PREDICTIONS:
        whole = b"[\n" + b",\n".join(content.removeprefix(b"[\n").removesuffix(b"\n]\n") for content in contents)
        write_synced(target, whole + b"\n]\n")
    elif name == RUN:
        records = [RunRecord.model_validate_json(content) for content in contents]
        write_synced(target, (gathered_record(records).model_dump_json(indent=2) + "\n").encode())
    else:
        write_synced(target, b"".join(contents))


_LOOK_SECONDS = 1.0
_scorers: dict[str, LocalHands] = {}


class ShardAnswer(Struct, frozen=True):
    """How a shard's run ended, and the folder of its files; None where the attempt was given up."""

    ended: RunnerAnswer
    folder: str | None = None


async def run_task(root: str, job: SubmissionRunRequest) -> ShardAnswer:
    """Run an image (resource ``runner``); stopped as soon as the attempt's folder is gone."""
    attempt = Path(job.folder)
    own = attempt / f"run-{uuid.uuid4().hex[:12]}"
    working = asyncio.ensure_future(_run(root, replace(job, folder=str(own))))
    try:
        while not working.done() and attempt.is_dir():
            await asyncio.wait({working}, timeout=_LOOK_SECONDS)
        if not working.done():
            return ShardAnswer(FaultAnswer(Blame.INFRASTRUCTURE, "the attempt was given up"))
        return ShardAnswer(working.result(), str(own))
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def score_task(root: str, job: ScorerRequest) -> ScorerAnswer:
    """Score a folder (resource ``scorer``); the scoring process stays for the next."""
    hands = _scorers.setdefault(root, LocalHands(Path(root)))
    try:
        return await hands.score(job)
    except InfrastructureFault as fault:
        return FaultAnswer(Blame.INFRASTRUCTURE, str(fault))


async def _run(root: str, job: SubmissionRunRequest) -> RunnerAnswer:
    try:
        return await LocalHands(Path(root)).run(job)
    except InfrastructureFault as fault:
        return FaultAnswer(Blame.INFRASTRUCTURE, str(fault))


_CONNECT_SECONDS = 10.0
_PAUSE_SECONDS = 1.0
_KEPT = (PREDICTIONS, REFUSED, NOTES, PROBLEMS, EARLY_LOG, LOG, RUN)
"""The record last: where it is everything is."""
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
        whole = job.practice is not None  # a rehearsal is one container
        shards = [None] if whole else await asyncio.to_thread(shards_of, job.notes)
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
