"""The claimer of a worker: it takes the oldest there is, several at a time where there is room for them."""

import asyncio
from collections.abc import Mapping, Sequence

from sandscore.base.process_identity import own_name
from sandscore.queue.disk_space import want_room
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Claim, Submission, SubmissionKind

_LOOKED_AT = 32
_IDLE_SECONDS, _SHORTEST_SECONDS = 1.0, 0.05


class Chooser:
    """Shared by the jobs of a worker, so that they do not race one another."""

    def __init__(self, home: QueueHome, workspace: Workspace, once: bool) -> None:
        self._home, self._workspace, self._once = home, workspace, once
        self._owner = own_name()
        self._candidates: list[Submission] = []
        self._choosing = asyncio.Lock()

    async def take(self, room: Mapping[SubmissionKind, int]) -> Sequence[Claim]:
        """Claims of at most so many of each kind; none where nothing can be had just now."""
        async with self._choosing:
            want_room(self._workspace.root, self._workspace.settings.spare_bytes)
            claims = await self._taken(room)
            if not claims:  # others may have taken all that was listed
                self._candidates = list(await self._home.claimable(_LOOKED_AT))
                claims = await self._taken(room)
        return claims

    async def _taken(self, room: Mapping[SubmissionKind, int]) -> Sequence[Claim]:
        while chosen := self._chosen(room):
            if claims := await self._claimed(chosen):
                return claims
        return ()

    async def pause(self) -> float | None:
        """How long to wait where nothing could be had; None (``once``) where nothing is left anywhere."""
        seconds = await self._home.seconds_until_claimable()
        if seconds is None:
            return None if self._once else _IDLE_SECONDS
        return min(max(seconds, _SHORTEST_SECONDS), _IDLE_SECONDS)

    def _chosen(self, room: Mapping[SubmissionKind, int]) -> list[Submission]:
        left, chosen = dict(room), []
        for one in self._candidates:
            if left.get(one.kind, 0) > 0:
                left[one.kind] -= 1
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
