"""Leases of several attempts under one clock: who must stop is stopped, and only he."""

import asyncio
from typing import cast

import pytest

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.worker.lease_watch import HeldLeases, Interrupted
from sandscore.records.submission import Claim, Signal, Status, Submission, SubmissionKind

LEASE = 0.09


class Home:
    """Answers heartbeats by the id of the submission."""

    def __init__(self, **answers: Signal | Exception) -> None:
        self.answers, self.beats = answers, list[str]()

    async def heartbeat(self, claim: Claim) -> Signal:
        self.beats.append(claim.submission.id)
        answer = self.answers[claim.submission.id]
        if isinstance(answer, Exception):
            raise answer
        return answer


def claim(name: str) -> Claim:
    one = Submission(name, "Team", "date", SubmissionKind.PREDICTIONS, Status.RECEIVED, "2026-01-01T00:00:00Z")
    return Claim(one, 1, "owner", "nonce", LEASE)


async def watched(leases: HeldLeases, name: str, seconds: float) -> Signal | str | None:
    try:
        async with leases.watching(claim(name)):
            await asyncio.sleep(seconds)
    except Interrupted as interrupted:
        return interrupted.signal
    await asyncio.sleep(0)
    return "done"


def together(home: Home, seconds: float, *, halted_after: float | None = None) -> list[Signal | str | None]:
    async def all_of_them() -> list[Signal | str | None]:
        leases = HeldLeases(cast("QueueHome", home), LEASE)
        beating = asyncio.ensure_future(leases.beat())
        if halted_after is not None:
            asyncio.get_running_loop().call_later(halted_after, leases.halt)
        try:
            return list(await asyncio.gather(*(watched(leases, name, seconds) for name in home.answers)))
        finally:
            beating.cancel()
            assert leases.watches == {}

    return asyncio.run(all_of_them())


def test_only_who_must_stop_is_stopped() -> None:
    home = Home(good=Signal.GO_ON, cancelled=Signal.CANCEL, lost=Signal.LOST)
    assert together(home, 0.3) == ["done", Signal.CANCEL, Signal.LOST]
    assert home.beats.count("good") > 3
    assert (home.beats.count("cancelled"), home.beats.count("lost")) == (1, 1)


def test_a_home_out_of_reach_for_a_whole_lease_has_lost_it() -> None:
    home = Home(away=InfrastructureFault("nobody answers"))
    assert together(home, 5.0) == [Signal.LOST]
    assert len(home.beats) >= 3, "it was tried again before the lease was over"


def test_a_damaged_home_has_lost_it_at_once() -> None:
    home = Home(damaged=OrganiserFault("the file is damaged"))
    assert (together(home, 5.0), len(home.beats)) == ([Signal.LOST], 1)


def test_a_halt_stops_all_and_lets_nobody_begin() -> None:
    assert together(Home(one=Signal.GO_ON, other=Signal.GO_ON), 5.0, halted_after=0.05) == [None, None]

    async def late() -> Signal | str | None:
        leases = HeldLeases(cast("QueueHome", Home()), LEASE)
        leases.halt()
        return await watched(leases, "late", 5.0)

    assert asyncio.run(late()) is None


def test_a_cancel_from_elsewhere_stays_one() -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(watched(HeldLeases(cast("QueueHome", Home()), LEASE), "x", 5.0))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
