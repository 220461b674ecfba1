"""The worker: takes submissions from a queue, whichever home it has, until it is told to stop or nothing is left.

What killed processes left behind, removed when a worker starts.
"""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault, SandscoreError
from sandscore.queue.attempt_files import RUN
from sandscore.queue.children.child_messages import SweepRequest
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.worker.attempt import Attempts, Ending
from sandscore.queue.worker.board_refresh import Follower, follow
from sandscore.queue.worker.executor import Hands
from sandscore.queue.worker.lease_watch import HeldLeases
from sandscore.queue.worker.worker_job import Chooser, Reach, SharedWork, WorkerJob
from sandscore.queue.workspace import SCRATCH, Workspace
from sandscore.records.submission import Claim, SubmissionKind

_STILL_IN_USE_SECONDS = 3600.0


async def tidy(home: QueueHome, workspace: Workspace, hands: Hands) -> None:
    """Half-written files of long ago; attempts of what has ended; and on the engine whatever has no owner."""
    for path in _left_behind(workspace):
        if _age(path) > _STILL_IN_USE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
    folders = {place.name: list(place.iterdir()) for place in workspace.attempts.glob("*") if place.is_dir()}
    submissions = await home.submissions()
    for one in submissions:
        if one.status.final and len(folders.get(one.id, ())) > 1:
            _remove_all_but(await home.kept(one), folders[one.id])
    if any(one.kind is SubmissionKind.IMAGE and not one.status.final for one in submissions):
        try:
            await hands.run(SweepRequest(workspace.engine))
        except InfrastructureFault:
            return  # no engine just now; every run looks for leftovers too


def _left_behind(workspace: Workspace) -> Iterator[Path]:
    yield from workspace.private.glob(f"{SCRATCH}*")
    for folder in (workspace.private, workspace.boards.parent):
        yield from folder.glob("*/.*.part")


def _remove_all_but(kept: Path | None, folders: Sequence[Path]) -> None:
    """Folders that were there before the submission was seen to have ended: nobody works in them. A worker may have
    died over them, or a restored backup may have undone their attempts; runs that may be looked into stay."""
    for folder in folders:
        if folder != kept and not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


_LOOK_SECONDS = 0.25


class WorkPlan(Struct, frozen=True):
    """How to work. ``jobs``: containers, and scorings, at a time. ``grace``: seconds that attempts may still take
    after the first request to stop. ``boards``: whether boards, site and log are ours to make."""

    jobs: int = 1
    once: bool = False
    board_seconds: float = 30.0
    grace: float = 20.0
    boards: bool = True
    away: bool = False
    """Whether the home is a service that may be away for a while: then it is waited for, also at the start."""


async def insisting(plan: WorkPlan, ask: Callable[[], Awaitable[None]]) -> None:
    """Again and again where the home is a service; for as long as a worker waits for it later on."""
    reach = Reach(not plan.once)
    while True:
        try:
            await ask()
            break
        except InfrastructureFault as fault:
            if not plan.away:
                raise
            await asyncio.sleep(reach.lost(fault))
    reach.back()


class Worker:
    """``hands`` makes one pair for each job. ``seen`` is told of claims and endings."""

    def __init__(
        self,
        home: QueueHome,
        workspace: Workspace,
        plan: WorkPlan,
        hands: Callable[[], Hands],
        seen: Callable[[Claim | Ending], None] = lambda _: None,
    ) -> None:
        self._home, self._workspace, self._plan, self._hands, self._seen = home, workspace, plan, hands, seen
        self._follower = Follower(home, workspace)
        self._leases = HeldLeases(home, workspace.settings.lease_seconds)
        self._stopping = asyncio.Event()
        self._jobs: list[WorkerJob] = []

    def stop(self) -> None:
        """Claim nothing more; what is under way may finish within the grace. Called again: hand it back now."""
        if self._stopping.is_set():
            self._leases.halt()
        else:
            self._stopping.set()
            self._moved()
            asyncio.get_running_loop().call_later(self._plan.grace, self._leases.halt)

    async def run(self) -> None:
        """Until stopped, or (``once``) until nothing is waiting, backing off or in progress anywhere."""
        await insisting(self._plan, lambda: tidy(self._home, self._workspace, self._hands()))
        every = self._plan.board_seconds if self._plan.boards else None
        following = asyncio.ensure_future(follow(self._follower, every, self._stopping))
        beating = asyncio.ensure_future(self._leases.beat())
        chooser = Chooser(self._home, self._workspace, self._plan.once)
        shared = SharedWork(
            self._workspace, chooser, Reach(not self._plan.once), self._stopping, self._moved, self._seen
        )
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._plan.jobs):
                    group.create_task(self._job(shared))
        except* SandscoreError as faults:
            raise _first(faults) from None
        finally:
            for task in (following, beating):
                task.cancel()
            await asyncio.gather(following, beating, return_exceptions=True)
        if self._plan.boards and not self._stopping.is_set():
            await self._last_board()

    async def _job(self, shared: SharedWork) -> None:
        hands = self._hands()
        job = WorkerJob(Attempts(self._home, self._workspace, hands, self._leases), shared)
        self._jobs.append(job)
        try:
            await job.work()
        finally:
            await hands.close()

    def _moved(self) -> None:
        for job in self._jobs:
            job.moved.set()

    async def _last_board(self) -> None:
        """After a drain the boards are complete, whoever makes them."""
        while not await self._follower.refresh():
            await asyncio.sleep(_LOOK_SECONDS)


def _first(fault: BaseException) -> BaseException:
    """Of faults that several jobs met, one."""
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault
