"""Events for open pages: a line for a team whenever something that it may see has changed, and nothing of what it is.

One look at the queue's files a second serves all connections of a server; the page then fetches what changed.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from functools import partial

import msgspec

from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.intake.live_queue import LiveQueue, QueueSide
from sandscore.intake.team_views import mine

_LOOK_SECONDS, _ALIVE_SECONDS = 1.0, 15.0
_CHANGED, _ALIVE = b"data: changed\n\n", b": here\n\n"


class TeamEvents:
    """Who waits for what, on this server."""

    def __init__(self, queue: LiveQueue) -> None:
        self._queue = queue
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._seen: dict[str, bytes] = {}

    async def watch(self) -> None:
        """As long as the server runs."""
        before: tuple[int, ...] = ()
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not self._waiting:
                continue
            try:
                now = await self._queue.read(lambda side: tuple(side.door.changes()))
                if now != before:
                    await self._tell()
                before = now
            except SandscoreError as fault:
                warn(str(fault))

    async def stream(self, team: str) -> AsyncIterator[bytes]:
        """For one connection: a sign of life at least, now and then."""
        event = asyncio.Event()
        self._waiting.setdefault(team, set()).add(event)
        try:
            yield _ALIVE
            while True:
                try:
                    await asyncio.wait_for(event.wait(), _ALIVE_SECONDS)
                    event.clear()
                    yield _CHANGED
                except TimeoutError:
                    yield _ALIVE
        finally:
            self._waiting[team].discard(event)
            if not self._waiting[team]:
                del self._waiting[team]
                self._seen.pop(team, None)

    async def _tell(self) -> None:
        for team in [*self._waiting]:
            known = await self._queue.read(partial(_digest, team=team))
            if self._seen.get(team, known) != known:
                for event in self._waiting.get(team, ()):
                    event.set()
            self._seen[team] = known


def _digest(side: QueueSide, team: str) -> bytes:
    return hashlib.sha256(msgspec.json.encode(mine(side, team))).digest()
