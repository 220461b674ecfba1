"""Retry-After, which the client does not read: no request is made before the pause is over."""

import asyncio
import time
from pathlib import Path

import pytest
from submission_queue.synapse_homes import STATUS, opened, run
from submission_queue.synapse_standin import Fault, Queue


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
