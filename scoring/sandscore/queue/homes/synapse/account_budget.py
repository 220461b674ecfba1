"""The budget of an account on Synapse, shared by all workers of a machine: requests a minute, calls of statuses and
messages, and connections at a time.

It lies in a file and three locks in the queue's private folder. Whoever wants to ask takes the next turn under the
file's lock and waits for it outside; a process that dies leaves nothing behind but a turn that nobody used.
"""

import asyncio
import datetime
import fcntl
import os
import struct
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.clock import uptime, utc_now
from sandscore.base.process_identity import boot

FOLDER = "budget"
CONNECTIONS = 3
"""At a time, of one account on one machine."""
USUAL = 540
"""Requests a minute, of the 600 that are allowed; the other limits grow and shrink with it."""
_THROTTLED = (429, 503)
_LONGEST_SECONDS, _FIRST_SECONDS, _MOST_UNASKED = 120.0, 1.0, 60.0
_LOOK_SECONDS = 0.01


class Lane(IntEnum):
    """What is limited by itself."""

    REQUEST = 0
    STATUS = 1
    MESSAGE = 2


class _Rate(Struct, frozen=True):
    """One turn every ``seconds``, and so many at once after a rest."""

    seconds: float
    burst: int = 1


class _Turns(Struct, frozen=True):
    """``next``: when the next turn is, as if there had been no rest; ``quiet``: until when nothing is asked at all;
    ``refused``: how often in a row too much was asked."""

    next: float = 0.0
    quiet: float = 0.0
    refused: float = 0.0


_LAYOUT = struct.Struct("<36s9d")


def _rates(per_minute: int) -> Mapping[Lane, _Rate]:
    """No minute holds more than its share: what may come at once is taken off what comes regularly."""
    burst, scale = max(1, per_minute // 10), USUAL / per_minute
    return {
        Lane.REQUEST: _Rate(60.0 / max(1, per_minute - burst), burst),
        Lane.STATUS: _Rate(1.01 * scale),
        Lane.MESSAGE: _Rate(60.0 / 7 * scale, 3),
    }


class AccountBudget:
    """``folder`` is shared by all processes that work with the account."""

    def __init__(self, folder: Path, per_minute: int) -> None:
        self._folder, self._rates = folder, _rates(per_minute)
        self._alone: list[_Turns] = [_Turns() for _ in Lane]

    async def turn(self, lane: Lane) -> None:
        """Wait for a turn in the lane, and for one of all requests."""
        lanes = [lane] if lane is Lane.REQUEST else [lane, Lane.REQUEST]
        with self._turns() as turns:
            waits = [self._taken(turns, one) for one in lanes]
        waits.append(0.0)
        while (left := max(waits)) > 0:
            await asyncio.sleep(left)
            with self._turns() as turns:  # somebody may have been refused meanwhile
                waits = [turns[one].quiet - uptime() for one in lanes]

    def _taken(self, turns: list[_Turns], lane: Lane) -> float:
        """Seconds to wait for the turn that is now ours."""
        now, mine, rate = uptime(), turns[lane], self._rates[lane]
        begins = max(now, mine.quiet, mine.next - (rate.burst - 1) * rate.seconds)
        turns[lane] = replace(mine, next=max(mine.next, begins) + rate.seconds)
        return begins - now

    def heed(self, lane: Lane, status: int, retry_after: str = "") -> None:
        """How long an answer wants nothing to be asked: what it says for everything, what it does not say longer each
        time for what it was about."""
        if status not in _THROTTLED:
            if self._refused(lane):
                with self._turns() as turns:
                    turns[lane] = replace(turns[lane], refused=0.0)
            return
        said = min(_seconds(retry_after), _LONGEST_SECONDS)
        with self._turns() as turns:
            if said > 0:
                turns[:] = [replace(one, quiet=max(one.quiet, uptime() + said)) for one in turns]
            elif status == 429:
                mine = turns[lane]
                wait = min(_MOST_UNASKED, _FIRST_SECONDS * 2 ** min(mine.refused, 10))
                turns[lane] = replace(mine, quiet=max(mine.quiet, uptime() + wait), refused=mine.refused + 1)

    def wait_for_message(self) -> float:
        """Seconds until a message could be sent."""
        with self._turns() as turns:
            rate, mine = self._rates[Lane.MESSAGE], turns[Lane.MESSAGE]
            return max(0.0, mine.quiet - uptime(), mine.next - (rate.burst - 1) * rate.seconds - uptime())

    def _refused(self, lane: Lane) -> bool:
        with self._turns() as turns:
            return turns[lane].refused > 0

    @contextmanager
    def _turns(self) -> Iterator[list[_Turns]]:
        """Ours alone as long as this is entered. Where the folder cannot be written, those of this process."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = os.open(self._folder / "turns", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            yield self._alone
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            turns = _read(os.pread(file, _LAYOUT.size, 0))
            yield turns
            with suppress(OSError):
                os.pwrite(file, _LAYOUT.pack(boot().encode()[:36], *_flat(turns)), 0)
        finally:
            os.close(file)

    async def begin(self, lane: Lane) -> list[int]:
        """A turn and a connection of the account; what is to be given to ``end`` afterwards. Calls of statuses are one
        at a time: between the answer of one and the next lies a whole pause, however long either is under way."""
        held = await self._lock(["status"]) if lane is Lane.STATUS else []
        try:
            await self.turn(lane)
            return held + await self._lock([f"connection-{number}" for number in range(CONNECTIONS)])
        except BaseException:
            _close(held)
            raise

    def end(self, lane: Lane, held: list[int]) -> None:
        """It was answered, or never will be."""
        if lane is Lane.STATUS:
            with self._turns() as turns:
                later = max(turns[lane].next, uptime() + self._rates[lane].seconds)
                turns[lane] = replace(turns[lane], next=later)
        _close(held)

    async def _lock(self, names: Sequence[str]) -> list[int]:
        """The first of them that is free; nothing where they cannot be kept."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:
                for name in names:
                    file = os.open(self._folder / name, os.O_RDWR | os.O_CREAT, 0o600)
                    try:
                        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        return [file]
                    except BlockingIOError:
                        os.close(file)
                await asyncio.sleep(_LOOK_SECONDS)
        except OSError:
            return []


def _close(held: Sequence[int]) -> None:
    for file in held:
        os.close(file)


def _read(content: bytes) -> list[_Turns]:
    """Of this start of the machine; from any other, or damaged, it says nothing."""
    if len(content) != _LAYOUT.size:
        return [_Turns() for _ in Lane]
    start, *numbers = _LAYOUT.unpack_from(content)
    latest = uptime() + _LONGEST_SECONDS * 60
    if start != boot().encode()[:36].ljust(36, b"\0") or not all(0 <= number <= latest for number in numbers):
        return [_Turns() for _ in Lane]
    return [_Turns(*numbers[at : at + 3]) for at in range(0, 9, 3)]


def _flat(turns: list[_Turns]) -> list[float]:
    return [number for one in turns for number in (one.next, one.quiet, one.refused)]


def _seconds(written: str) -> float:
    """Retry-After is a number of seconds, or a date; whatever else it may be asks for nothing."""
    if written.strip().isdecimal():
        return float(written)
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=moment.tzinfo or datetime.UTC) - utc_now()).total_seconds()


def lane_of(method: str, path: str) -> Lane:
    """What a request is counted as, beside being a request."""
    if path.endswith("/status") and "/evaluation/submission/" in path:
        return Lane.STATUS
    return Lane.MESSAGE if method == "POST" and path.endswith("/message") else Lane.REQUEST


class BudgetTransport(httpx.AsyncBaseTransport):
    """Requests to the services wait for their turn and hold a connection until they are answered. Those to storage,
    which carry no token, are not the account's."""

    def __init__(self, budget: AccountBudget, inner: httpx.AsyncBaseTransport) -> None:
        self._budget, self._inner = budget, inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if "authorization" not in request.headers:
            return await self._inner.handle_async_request(request)
        lane = lane_of(request.method, request.url.path)
        end = partial(self._budget.end, lane, await self._budget.begin(lane))
        try:
            answer = await self._inner.handle_async_request(request)
        except BaseException:
            end()
            raise
        self._budget.heed(lane, answer.status_code, answer.headers.get("Retry-After", ""))
        answer.stream = _HeldStream(answer.stream, end)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


class _HeldStream(httpx.AsyncByteStream):
    """An answer whose turn ends when it was read."""

    def __init__(self, inner: Any, end: Callable[[], None]) -> None:
        self._inner, self._ends = inner, [end]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._inner:
            yield block

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            while self._ends:
                self._ends.pop()()
