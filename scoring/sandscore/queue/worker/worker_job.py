"""One of a worker's jobs: a pair of hands, and the attempts they are busy with."""

import asyncio
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from sandscore.base.clock import uptime
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.worker.attempt import Attempts, Ending
from sandscore.queue.worker.backpressure import Backpressure, Reach
from sandscore.queue.worker.claimer import Chooser
from sandscore.records.submission import Claim, SubmissionKind


class SharedWork(Struct, frozen=True):
    """What the jobs of a worker have in common. ``stopping``: claim nothing more. ``moved``: wakes all jobs."""

    chooser: Chooser
    reach: Reach
    stopping: asyncio.Event
    moved: Callable[[], None]
    seen: Callable[[Claim | Ending], None]


class WorkerJob:
    """Runs one image at a time, and takes files beside it: those that are quick, several at once."""

    def __init__(self, attempts: Attempts, shared: SharedWork) -> None:
        self._attempts, self._shared = attempts, shared
        self._pace = Backpressure()
        self._under_way: Counter[SubmissionKind] = Counter()
        self.moved = asyncio.Event()
        """There is reason to look again: an attempt has ended, or the worker stops."""

    async def work(self) -> None:
        """Until the worker stops or nothing is left, and what was begun has ended."""
        async with asyncio.TaskGroup() as group:
            while not self._shared.stopping.is_set():
                self.moved.clear()
                files = self._pace.most - self._under_way[SubmissionKind.PREDICTIONS]
                if files <= 0:
                    await self.moved.wait()
                    continue
                claims, pause = await self._more(
                    {SubmissionKind.IMAGE: 1 - self._under_way[SubmissionKind.IMAGE], SubmissionKind.PREDICTIONS: files}
                )
                for claim in claims:
                    self._under_way[claim.submission.kind] += 1
                    group.create_task(self._carry_out(claim))
                if pause is None:
                    return
                await self._rest(pause)

    async def _more(self, room: dict[SubmissionKind, int]) -> tuple[list[Claim], float | None]:
        """What could be had, and how long to wait before more is asked for; None if that is for ever."""
        try:
            claims = list(await self._shared.chooser.take(room))
            pause = 0.0 if claims else await self._shared.chooser.pause()
        except InfrastructureFault as fault:
            return [], self._shared.reach.lost(fault)
        self._shared.reach.back()
        return claims, pause

    async def _carry_out(self, claim: Claim) -> None:
        begun = uptime()
        self._shared.seen(claim)
        try:
            self._shared.seen(await self._attempts.carry_out(claim))
        finally:
            self._under_way[claim.submission.kind] -= 1
            self._shared.moved()
        if claim.submission.kind is SubmissionKind.PREDICTIONS:
            self._pace.took(uptime() - begun)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.moved.wait()
        except TimeoutError:
            return
