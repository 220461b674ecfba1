"""The worker: takes submissions from a queue, whichever home it has, until it is told to stop or nothing is left."""

import asyncio
from collections.abc import Callable, Set
from dataclasses import dataclass

from sandscore.queueing.interface import QueueHome
from sandscore.queueing.processes import own_name
from sandscore.queueing.room import want_room
from sandscore.queueing.submission import Claim, Kind, Submission
from sandscore.queueing.times import uptime
from sandscore.queueing.warning import warn
from sandscore.queueing.worker.attempt import Attempts, Ending
from sandscore.queueing.worker.follow import Follower, follow
from sandscore.queueing.worker.hands import Hands
from sandscore.queueing.worker.tidying import tidy
from sandscore.queueing.workspace import Workspace
from sandscore.records.errors import InfrastructureFault

_IDLE_SECONDS = 1.0
_LOOKED_AT = 16
_GIVE_UP_SECONDS = 120.0


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
        self._stopping, self._halt = asyncio.Event(), asyncio.Event()
        self._moved = asyncio.Event()
        self._candidates: list[Submission] = []
        self._choosing = asyncio.Lock()
        self._unreachable_since: float | None = None

    def stop(self) -> None:
        """Claim nothing more; what is under way may finish within the grace. Called again: hand it back now."""
        if self._stopping.is_set():
            self._halt.set()
        else:
            self._stopping.set()
            self._moved.set()
            asyncio.get_running_loop().call_later(self._plan.grace, self._halt.set)

    async def run(self) -> None:
        """Until stopped, or (``once``) until nothing is waiting, backing off or in progress anywhere."""
        await tidy(self._home, self._workspace, self._hands())
        following = asyncio.ensure_future(follow(self._follower, self._plan.board_seconds, self._stopping))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._plan.jobs):
                    group.create_task(self._job())
        except* InfrastructureFault as faults:
            raise faults.exceptions[0] from None
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        if not self._stopping.is_set():
            await self._last_board()

    async def _job(self) -> None:
        """One pair of hands; a second claim, for files alone, is made ready while the first is being scored."""
        hands = self._hands()
        attempts = Attempts(self._home, self._workspace, hands, self._halt)
        try:
            await asyncio.gather(self._slot(attempts, set(Kind)), self._slot(attempts, {Kind.PREDICTIONS}))
        finally:
            await hands.close()

    async def _slot(self, attempts: Attempts, kinds: Set[Kind]) -> None:
        while not self._stopping.is_set():
            try:
                claim = await self._next(kinds)
                pause = 0.0 if claim else await self._pause()
                self._unreachable_since = None
            except InfrastructureFault as fault:
                claim, pause = None, self._unreachable(fault)
            if claim is not None:
                self._seen(claim)
                self._seen(await attempts.carry_out(claim))
                self._moved.set()
            elif pause is None:
                return
            else:
                await self._rest(pause)

    async def _next(self, kinds: Set[Kind]) -> Claim | None:
        """The oldest submission of these kinds that can be had."""
        async with self._choosing:
            want_room(self._workspace.root, self._workspace.settings.spare_bytes)
            self._candidates = self._candidates or list(await self._home.claimable(_LOOKED_AT))
            for candidate in [one for one in self._candidates if one.kind in kinds]:
                self._candidates.remove(candidate)
                claim = await self._home.claim(candidate, own_name(), self._workspace.settings.lease_seconds)
                if claim is not None:
                    return claim
        return None

    async def _pause(self) -> float | None:
        """How long to wait where nothing could be had; None if that is for ever."""
        seconds = await self._home.seconds_until_claimable()
        if seconds is None:
            return None if self._plan.once else _IDLE_SECONDS
        return min(max(seconds, 0.05), _IDLE_SECONDS)

    def _unreachable(self, fault: InfrastructureFault) -> float:
        """The queue cannot be had: wait, and after a while give up where nobody would notice otherwise."""
        if self._unreachable_since is None:
            warn(f"{fault}; trying again")
            self._unreachable_since = uptime()
        if self._plan.once and uptime() - self._unreachable_since > _GIVE_UP_SECONDS:
            raise fault
        return 2 * _IDLE_SECONDS

    async def _rest(self, seconds: float) -> None:
        """Until then, or until there is reason to look again: a stop, or an attempt of ours that ended."""
        self._moved.clear()
        try:
            await asyncio.wait_for(self._moved.wait(), seconds)
        except TimeoutError:
            return

    async def _last_board(self) -> None:
        """After a drain the boards are complete, whoever makes them."""
        while not await self._follower.refresh():
            await asyncio.sleep(_IDLE_SECONDS / 4)
