"""Retry-After, which the client does not read: no request is made before the pause is over."""

import asyncio
import datetime
import time
from pathlib import Path

import httpx
import pytest
from submission_queue.synapse_homes import STATUS, opened, run
from submission_queue.synapse_standin import Fault, Queue

from sandscore.queue.homes.synapse.synapse_session import RequestPace


@pytest.mark.parametrize("status", [429, 503])
def test_a_pause_that_is_asked_for_is_kept(tmp_path: Path, status: int) -> None:
    """By every request, not by that alone which was refused."""
    times: list[float] = []

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue, options={"retry_seconds": 10}) as home:
            (seen,) = await home.claimable(1)
            queue.standin.faults = [Fault("PUT", STATUS, status, retry_after="1")]
            queue.standin.before = lambda _: times.append(time.monotonic())
            listing = asyncio.create_task(asyncio.sleep(0.2, home))
            claim = asyncio.create_task(home.claim(seen, "w1", 30))
            await (await listing).submissions()
            assert await claim is not None
        assert queue.status(key) == "EVALUATION_IN_PROGRESS"

    run(tmp_path, test)
    assert times[1] - times[0] >= 0.95


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        pytest.param("7", 7, id="seconds"),
        pytest.param("Wed, 01 Jan 2031 00:00:09 GMT", 9, id="a date"),
        pytest.param("86400", 120, id="a day is too long"),
        pytest.param("soon", 0, id="nonsense"),
        pytest.param("", 0, id="nothing"),
    ],
)
def test_how_long_a_pause_is(written: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
    monkeypatch.setattr("sandscore.queue.homes.synapse.synapse_session.utc_now", lambda: now)

    class Slept(Exception):
        """How long, instead of sleeping."""

    async def sleep(waited: float) -> None:
        raise Slept(waited)

    async def heeded() -> None:
        pace = RequestPace(10)
        await pace.heed(httpx.Response(429, headers={"Retry-After": written}))
        monkeypatch.setattr("sandscore.queue.homes.synapse.synapse_session.asyncio.sleep", sleep)
        await pace.wait()

    if not seconds:
        asyncio.run(heeded())
        return
    with pytest.raises(Slept) as caught:
        asyncio.run(heeded())
    assert caught.value.args[0] == pytest.approx(seconds, abs=0.5)
