"""A worker's job: it claims the oldest submissions there are, several at a time where there is room."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from sandscore.base.clock import uptime
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault
from sandscore.base.process_identity import own_name
from sandscore.queue.disk_space import want_room
from sandscore.queue.draining import is_draining
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.worker.attempt import Attempts, Ending
from sandscore.queue.worker.ticks import Lookahead, seconds_to_tick
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Claim, Submission, SubmissionKind

_FEWEST, _MOST = 2, 16
_QUICK_SECONDS, _SLOW_SECONDS = 0.25, 1.0
_SHORTEST_WAIT, _LONGEST_WAIT = 2.0, 30.0
_GIVE_UP_SECONDS = 120.0


class Backpressure:
    """One is made ready while another is being scored; more where they are quick, so that they go together, and so
    few that other workers find work too."""

    def __init__(self) -> None:
        self.most = _FEWEST

    def took(self, seconds: float) -> None:
        """An attempt's time from its claim to its end."""
        if seconds < _QUICK_SECONDS:
            self.most = min(_MOST, 2 * self.most)
        elif seconds > _SLOW_SECONDS:
            self.most = max(_FEWEST, self.most // 2)


class Reach:
    """Whether the queue can be had; said once when it is lost, and once when it is back."""

    def __init__(self, patient: bool) -> None:
        self._patient = patient
        self._lost_since: float | None = None

    def lost(self, fault: InfrastructureFault) -> float:
        """How long to wait: longer each time. Raises where nobody would notice that nothing goes on."""
        if self._lost_since is None:
            self._lost_since = uptime()
            warn(f"{fault}; trying again")
        lost = uptime() - self._lost_since
        if lost > _GIVE_UP_SECONDS and not self._patient:
            raise fault
        return min(_LONGEST_WAIT, max(_SHORTEST_WAIT, lost))

    def back(self) -> None:
        """It answered."""
        if self._lost_since is not None:
            warn(f"going on after {uptime() - self._lost_since:.0f} s")
            self._lost_since = None


_LOOKED_AT, _FURTHER = 32, 8
_FRESH_SECONDS = 1.0
"""A list is in the order of the teams' turns as they were when it was made."""
_IDLE_SECONDS, _SHORTEST_SECONDS = 1.0, 0.05


class Slot(StrEnum):
    """What a worker has room for, each apart: no rehearsal waits for a hidden run, and no file for an image."""

    REHEARSAL = "rehearsal"
    HIDDEN = "hidden"
    IMAGE = "image"
    PREDICTIONS = "predictions"


def slot_of(one: Submission, workspace: Workspace) -> Slot:
    """Where a submission is worked on next."""
    if one.kind is SubmissionKind.PREDICTIONS:
        return Slot.PREDICTIONS
    if not workspace.notes_hidden(one.phase):
        return Slot.IMAGE
    return Slot.HIDDEN if one.rehearsed else Slot.REHEARSAL


class Chooser:
    """Shared by the jobs of a worker, so that they do not race one another."""

    def __init__(self, home: QueueHome, workspace: Workspace, once: bool) -> None:
        self._home, self._workspace, self._once = home, workspace, once
        self._owner = own_name()
        self._candidates: list[Submission] = []
        self._listed, self._whole = 0.0, False
        self._choosing = asyncio.Lock()

    async def take(self, room: Mapping[Slot, int]) -> Sequence[Claim]:
        """Claims of at most so many for each slot; none where nothing can be had just now."""
        async with self._choosing:
            if is_draining(self._workspace.root):
                return ()
            want_room(self._workspace.root, self._workspace.settings.spare_bytes)
            if not any(room.values()):
                return ()
            fresh = uptime() - self._listed < _FRESH_SECONDS
            claims = await self._taken(room) if fresh else ()
            most, full = _LOOKED_AT, not (fresh and self._whole and self._candidates)
            while not claims and full:  # others may have taken all that was listed, or there is room for none of them
                self._candidates, self._listed = list(await self._home.claimable(most)), uptime()
                most, full = _FURTHER * most, len(self._candidates) == most
                self._whole = not full
                claims = await self._taken(room)
        return claims

    async def _taken(self, room: Mapping[Slot, int]) -> Sequence[Claim]:
        while chosen := self._chosen(room):
            if claims := await self._claimed(chosen):
                return claims
        return ()

    async def pause(self) -> float | None:
        """How long to wait where nothing could be had; None (``once``) where nothing is left anywhere."""
        seconds = None if is_draining(self._workspace.root) else await self._home.seconds_until_claimable()
        if seconds is None:
            return None if self._once else _IDLE_SECONDS
        if not seconds and self._candidates:  # there is no room for them
            seconds = min(_IDLE_SECONDS, seconds_to_tick())
        return min(max(seconds, _SHORTEST_SECONDS), _IDLE_SECONDS)

    def _chosen(self, room: Mapping[Slot, int]) -> list[Submission]:
        left, chosen = dict(room), []
        for one in self._candidates:
            if left.get(slot := slot_of(one, self._workspace), 0) > 0:
                left[slot] -= 1
                chosen.append(one)
        self._candidates = [one for one in self._candidates if one not in chosen]
        return chosen

    async def _claimed(self, chosen: Sequence[Submission]) -> list[Claim]:
        """What was got is kept, whatever became of the rest."""
        seconds = self._workspace.settings.lease_seconds
        asked = [self._home.claim(one, self._owner, seconds) for one in chosen]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        claims = [answer for answer in answers if isinstance(answer, Claim)]
        faults = [answer for answer in answers if isinstance(answer, BaseException)]
        if faults and not claims:
            raise faults[0]
        return claims


class SharedWork(Struct, frozen=True):
    """What the jobs of a worker have in common. ``stopping``: claim nothing more. ``moved``: wakes all jobs."""

    workspace: Workspace
    chooser: Chooser
    reach: Reach
    stopping: asyncio.Event
    moved: Callable[[], None]
    seen: Callable[[Claim | Ending], None]


class WorkerJob:
    """Runs one image at a time and rehearses another, and takes files beside them: those that are quick, several at
    once. Of images on hidden notes it takes several at a tick, and runs them one after the other until the next."""

    def __init__(self, attempts: Attempts, shared: SharedWork) -> None:
        self._attempts, self._shared = attempts, shared
        self._pace, self._ahead = Backpressure(), Lookahead()
        self._under_way: Counter[Slot] = Counter()
        self.moved = asyncio.Event()
        """There is reason to look again: an attempt has ended, or the worker stops."""

    async def work(self) -> None:
        """Until the worker stops or nothing is left, and what was begun has ended."""
        async with asyncio.TaskGroup() as group:
            while not self._shared.stopping.is_set():
                self.moved.clear()
                claims, pause = await self._more(self._room())
                for claim in claims:
                    slot = slot_of(claim.submission, self._shared.workspace)
                    self._under_way[slot] += 1
                    self._ahead.room -= slot is Slot.HIDDEN
                    group.create_task(self._carry_out(claim, slot))
                if pause is None:
                    return
                await self._rest(pause)

    def _room(self) -> dict[Slot, int]:
        busy = self._attempts.waiting_to_run
        return {
            Slot.REHEARSAL: 1 - self._under_way[Slot.REHEARSAL],
            Slot.HIDDEN: self._ahead.look(busy),
            Slot.IMAGE: 1 - max(busy, self._under_way[Slot.IMAGE]),
            Slot.PREDICTIONS: self._pace.most - self._under_way[Slot.PREDICTIONS],
        }

    async def _more(self, room: dict[Slot, int]) -> tuple[list[Claim], float | None]:
        """What could be had, and how long to wait before more is asked for; None if that is for ever."""
        try:
            claims = list(await self._shared.chooser.take(room))
            pause = 0.0 if claims else await self._shared.chooser.pause()
        except InfrastructureFault as fault:
            return [], self._shared.reach.lost(fault)
        self._shared.reach.back()
        return claims, pause

    async def _carry_out(self, claim: Claim, slot: Slot) -> None:
        begun = uptime()
        self._shared.seen(claim)
        try:
            self._shared.seen(await self._attempts.carry_out(claim))
        finally:
            self._under_way[slot] -= 1
            self._shared.moved()
        if slot is Slot.PREDICTIONS:
            self._pace.took(uptime() - begun)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.moved.wait()
        except TimeoutError:
            return
