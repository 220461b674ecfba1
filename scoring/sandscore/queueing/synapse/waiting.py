"""What can be claimed now: one list serves until it is used up or old."""

from sandscore.queueing.synapse.leases import Leases
from sandscore.queueing.synapse.listing import Listed, Listing
from sandscore.queueing.synapse.statuses import Seen
from sandscore.queueing.times import uptime

_BACKLOG_SECONDS = 60.0
"""A long list is worked off for as long before it is read again; what others took meanwhile costs a lost claim."""


class WaitingList:
    """Hands out each submission of a list once. ``poll_seconds``: how often an idle queue is looked at."""

    def __init__(self, listing: Listing, leases: Leases, poll_seconds: float) -> None:
        self._listing, self._leases, self._poll_seconds = listing, leases, poll_seconds
        self._left: list[Listed] = []
        self._handed: dict[str, Seen] = {}
        self._at: float | None = None
        self._empty = False

    async def claimable(self, most: int) -> list[Listed]:
        if self._old():
            await self._read()
        ready = [one for one in self._left if self._leases.wait(one.now) == 0.0][:most]
        taken = {one.id for one in ready}
        self._left = [one for one in self._left if one.id not in taken]
        self._handed = {one.id: one.now for one in ready}
        return ready

    async def seconds(self) -> float | None:
        """None only after a look at the queue itself: what was handed out may have come back."""
        if self._old() or (self._soonest() is None and not self._empty):
            await self._read()
        return self._soonest()

    def take(self, submission_id: str) -> Seen | None:
        """The status as it was listed; once, because the first write makes it old."""
        return self._handed.pop(submission_id, None)

    def _soonest(self) -> float | None:
        waits = [self._leases.wait(one.now) for one in self._left]
        return min((wait for wait in waits if wait is not None), default=None)

    def _old(self) -> bool:
        if self._at is None:
            return True
        backlog = any(self._leases.wait(one.now) == 0.0 for one in self._left)
        return uptime() - self._at >= (_BACKLOG_SECONDS if backlog else self._poll_seconds)

    async def _read(self) -> None:
        self._left = await self._listing.open()
        self._at, self._empty = uptime(), self._soonest() is None
