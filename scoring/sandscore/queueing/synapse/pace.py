"""Never more requests than the service allows an account, counted request by request."""

import asyncio
from collections import deque
from typing import Any


class Pace:
    """Requests of the last minute; a request over the limit waits until the oldest is a minute old."""

    def __init__(self, per_minute: int) -> None:
        self._times: deque[float] = deque(maxlen=per_minute)
        self._turn = asyncio.Lock()

    async def wait(self, _request: Any = None) -> None:
        """To be called before each request; those that wait go in the order they came."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            if len(self._times) == self._times.maxlen:
                await asyncio.sleep(max(0.0, self._times[0] + 60.0 - clock()))
            self._times.append(clock())
