"""The worker: takes submissions from a queue, whichever home it has, until it is told to stop or nothing is left."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from sandscore.queueing.interface import QueueHome
from sandscore.queueing.submission import Claim
from sandscore.queueing.worker.attempt import Attempts, Ending
from sandscore.queueing.worker.choosing import Chooser
from sandscore.queueing.worker.follow import Follower, follow
from sandscore.queueing.worker.hands import Hands
from sandscore.queueing.worker.job import Job, Shared
from sandscore.queueing.worker.lease import Leases
from sandscore.queueing.worker.pace import Reach
from sandscore.queueing.worker.tidying import tidy
from sandscore.queueing.workspace import Workspace
from sandscore.records.errors import SandscoreError

_LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Plan:
    """How to work. ``jobs``: containers, and scorings, at a time. ``grace``: seconds that attempts may still take
    after the first request to stop."""

    jobs: int = 1
    once: bool = False
    board_seconds: float = 30.0
    grace: float = 20.0


class Worker:
    """``hands`` makes one pair for each job. ``seen`` is told of claims and endings."""

    def __init__(
        self,
        home: QueueHome,
        workspace: Workspace,
        plan: Plan,
        hands: Callable[[], Hands],
        seen: Callable[[Claim | Ending], None] = lambda _: None,
    ) -> None:
        self._home, self._workspace, self._plan, self._hands, self._seen = home, workspace, plan, hands, seen
        self._follower = Follower(home, workspace)
        self._leases = Leases(home, workspace.settings.lease_seconds)
        self._stopping = asyncio.Event()
        self._jobs: list[Job] = []

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
        await tidy(self._home, self._workspace, self._hands())
        following = asyncio.ensure_future(follow(self._follower, self._plan.board_seconds, self._stopping))
        beating = asyncio.ensure_future(self._leases.beat())
        chooser = Chooser(self._home, self._workspace, self._plan.once)
        shared = Shared(chooser, Reach(not self._plan.once), self._stopping, self._moved, self._seen)
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
        if not self._stopping.is_set():
            await self._last_board()

    async def _job(self, shared: Shared) -> None:
        hands = self._hands()
        job = Job(Attempts(self._home, self._workspace, hands, self._leases), shared)
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
