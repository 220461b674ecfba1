"""Events for open pages: what a team may see as one word, said when a page begins to listen and whenever it is another.

A page whose word is another than the last that was said fetches itself anew until it is the same, so that no change is
missed, whatever came between. One look at the queue's files a second serves all connections of a server.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.intake.live_queue import LiveQueue, QueueSide
from sandscore.intake.team_views import state_of
from sandscore.queue.public_log import PublicLog

_LOOK_SECONDS, _ALIVE_SECONDS = 1.0, 15.0
_ALIVE = b": here\n\n"


class _Listener:
    """One connection: the last word for its team, and whether there is anything to do for it."""

    def __init__(self) -> None:
        self.state, self.woken = "", asyncio.Event()

    def tell(self, state: str) -> None:
        if state != self.state:
            self.state = state
            self.woken.set()


class TeamEvents:
    """Who waits for what, on this server."""

    def __init__(self, queue: LiveQueue) -> None:
        self._queue = queue
        self._waiting: dict[str, set[_Listener]] = {}
        self._marks: tuple[int, ...] = ()
        self._again = self._closed = False

    async def watch(self) -> None:
        """As long as the server runs."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._waiting:
                await self.look()

    async def look(self) -> None:
        """Tell whoever waits what is new; and look once more after a change, for one that follows within the same tick
        of a file's clock leaves no mark."""
        try:
            marks = await self._queue.read(_marks)
            changed = marks != self._marks
            if changed or self._again or not all(one.state for one in self._all()):
                await self._tell()
            self._marks, self._again = marks, changed
        except (SandscoreError, OSError) as fault:
            self._again = True
            warn(str(fault))

    async def stream(self, team: str) -> AsyncIterator[bytes]:
        """For one connection: a sign of life at least, now and then."""
        listener = _Listener()
        self._waiting.setdefault(team, set()).add(listener)
        try:
            yield _ALIVE
            while not self._closed:
                try:
                    await asyncio.wait_for(listener.woken.wait(), _ALIVE_SECONDS)
                    listener.woken.clear()
                    if not self._closed:
                        yield f"data: {listener.state}\n\n".encode()
                except TimeoutError:
                    yield _ALIVE
        finally:
            self._waiting[team].discard(listener)
            if not self._waiting[team]:
                del self._waiting[team]

    def close(self) -> None:
        """End all streams: a server that stops would wait for them, and pages come back to the next one."""
        self._closed = True
        for listener in self._all():
            listener.woken.set()

    async def _tell(self) -> None:
        for team in [*self._waiting]:
            state = await self._queue.read(partial(state_of, team=team))
            for listener in self._waiting.get(team, ()):
                listener.tell(state)

    def _all(self) -> list[_Listener]:
        return [one for listeners in self._waiting.values() for one in listeners]


def _marks(side: QueueSide) -> tuple[int, ...]:
    return (*side.door.changes(), PublicLog(side.workspace).receipts_changed)
