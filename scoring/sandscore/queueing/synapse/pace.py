"""Never more requests than the service allows an account, and none while it asks for a pause."""

import asyncio
import datetime
from collections import deque
from email.utils import parsedate_to_datetime
from typing import Any

from sandscore.queueing.times import utc_now

_THROTTLED = (429, 503)
_LONGEST_SECONDS = 120.0


class Pace:
    """Requests of the last minute; a request over the limit waits until the oldest is a minute old."""

    def __init__(self, per_minute: int) -> None:
        self._times: deque[float] = deque(maxlen=per_minute)
        self._turn = asyncio.Lock()
        self._quiet_until = 0.0

    async def wait(self, _request: Any = None) -> None:
        """To be called before each request; those that wait go in the order they came."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := self._quiet_until - clock()) > 0:
                await asyncio.sleep(left)
            if len(self._times) == self._times.maxlen:
                await asyncio.sleep(max(0.0, self._times[0] + 60.0 - clock()))
            self._times.append(clock())

    async def heed(self, answer: Any) -> None:
        """To be called after each answer: the client itself does not read how long it should wait."""
        if answer.status_code in _THROTTLED:
            seconds = min(_seconds(answer.headers.get("Retry-After", "")), _LONGEST_SECONDS)
            self._quiet_until = max(self._quiet_until, asyncio.get_running_loop().time() + seconds)


def _seconds(written: str) -> float:
    """Retry-After is a number of seconds, or a date; whatever else it may be asks for nothing."""
    if written.strip().isdecimal():
        return float(written)
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=moment.tzinfo or datetime.UTC) - utc_now()).total_seconds()
