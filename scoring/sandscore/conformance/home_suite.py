"""The conformance suite of queue homes: every promise of ``QueueHome``, tried on queues that a bench makes.

A check is a coroutine that takes a bench and raises AssertionError where the home breaks a promise. Two workers are
two homes opened on one queue; an answer that was lost is a call made again with the same arguments.
"""

import asyncio
import datetime
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base import clock
from sandscore.base.errors import ParticipantFault
from sandscore.conformance.home_bench import PREDICTIONS, TASK, HomeBench, Seat
from sandscore.queue.attempt_files import card_name
from sandscore.queue.children.child_messages import BoardsAnswer
from sandscore.queue.home_protocol import QueueHome
from sandscore.records.released_view import LedgerLine, PackedView, Released
from sandscore.records.submission import (
    CANCELLED,
    FAILURE_QUOTA,
    Claim,
    Committed,
    Event,
    Notice,
    NoticeText,
    Signal,
    Status,
    Submission,
    SubmissionKind,
    Verdict,
    Version,
)

Check = Callable[[HomeBench], Coroutine[Any, Any, None]]
LONG = 3600.0
_PATIENCE_SECONDS = 15.0


def _told(view: Any, what: str = "score", bits: float = 0.0) -> Released[Any]:
    """As a child process hands it on: the gate itself is not under test here."""
    line = LedgerLine(what=what, bits=bits, mark=sha256(repr(view).encode()).hexdigest()[:16])
    return BoardsAnswer((), {"one": PackedView(view, line)}, ()).told["one"]


SCORED = Verdict(Status.SCORED, scores={"instance_strict": 0.5}, feedback=_told({}), signature="date|x|v0")
INVALID = Verdict(Status.INVALID, _told("text-mismatch 1", "reason"))


# Submissions and claims


async def submissions_are_listed_oldest_first(bench: HomeBench) -> None:
    queue = bench.queue()
    ids = [queue.hand_in() for _ in range(3)]
    async with queue.opened() as seat:
        found = await seat.home.submissions()
        assert [one.id for one in found] == ids
        assert {(one.status, one.attempt, one.version, one.failures) for one in found} == {(Status.RECEIVED, 0, 0, 0)}
        assert {(one.task, one.kind, bool(one.team)) for one in found} == {(TASK, SubmissionKind.PREDICTIONS, True)}
        assert not any(one.needs_organiser or one.cancel_requested or one.finished for one in found)
        assert [one.id for one in await seat.home.claimable(2)] == ids[:2]
        assert await seat.home.seconds_until_claimable() == 0


async def a_claim_is_written_before_it_is_given(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home, "w1", LONG)
        assert (claim.attempt, claim.owner, claim.lease_seconds) == (1, "w1", LONG)
        assert claim.nonce
        assert claim.submission.status is Status.EVALUATION_IN_PROGRESS
        assert await _stands(other, claim) == (Status.EVALUATION_IN_PROGRESS, 1)
        assert not await other.home.claimable(5)
        left = await other.home.seconds_until_claimable()
        assert left is not None
        assert 0 < left <= LONG


async def of_two_claims_one_wins(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        [seen] = await other.home.claimable(1)
        claim = await _claim(seat.home)
        assert await other.home.claim(seen, "w2", LONG) is None
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        assert await _stands(seat, claim) == (Status.EVALUATION_IN_PROGRESS, 1)


async def many_workers_at_once_share_without_overlap(bench: HomeBench) -> None:
    queue = bench.queue()
    ids = sorted(queue.hand_in() for _ in range(4))
    async with queue.opened() as a, queue.opened() as b, queue.opened() as c:
        seats = [a, b, c]
        lists = [await seat.home.claimable(10) for seat in seats]
        asked = [
            seat.home.claim(one, f"w{number}", LONG)
            for number, (seat, found) in enumerate(zip(seats, lists, strict=True))
            for one in found
        ]
        claims = [claim for claim in await asyncio.gather(*asked) if claim is not None]
        assert sorted(claim.submission.id for claim in claims) == ids
        assert {claim.attempt for claim in claims} == {1}
        assert len({claim.nonce for claim in claims}) == len(claims)


async def threads_with_homes_of_their_own_share_without_overlap(bench: HomeBench) -> None:
    """Each takes and commits until nothing is left, as workers do; where one has failed the others need not go on."""
    queue, over, ended = bench.queue(), threading.Event(), list[str]()
    ids = sorted(queue.hand_in() for _ in range(8))

    async def drain(owner: str) -> None:
        async with queue.opened() as seat:
            while not over.is_set() and await seat.home.seconds_until_claimable() is not None:
                for one in await seat.home.claimable(2):
                    claim = await seat.home.claim(one, owner, LONG)
                    if claim is not None:
                        assert await seat.home.commit(claim, INVALID) is Committed.DONE
                        ended.append(claim.submission.id)
                if len(ended) >= len(ids):
                    break
                await asyncio.sleep(0.01)

    def work(owner: str) -> None:
        try:
            asyncio.run(asyncio.wait_for(drain(owner), 60))
        finally:
            over.set()

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(3) as pool:
        await asyncio.gather(*(loop.run_in_executor(pool, work, f"w{number}") for number in range(3)))
    assert sorted(ended) == ids
    async with queue.opened() as seat:
        assert {(one.status, one.attempt) for one in await seat.home.submissions()} == {(Status.INVALID, 1)}


async def the_next_claim_is_of_the_team_with_the_fewest(bench: HomeBench) -> None:
    """A hands in four, then B two and C one: nobody runs, so the oldest of each team come first, then the second of A
    and of B. When A's first has ended, A has run one today, and so B and C are before it; one running counts more."""
    queue = bench.queue()
    a, b, c = (
        [queue.hand_in(team=f"Team {name}") for _ in range(many)] for name, many in (("A", 4), ("B", 2), ("C", 1))
    )
    async with queue.opened() as seat:
        listed = [one.id for one in await seat.home.claimable(10)]
        assert listed == [a[0], b[0], c[0], a[1], b[1], a[2], a[3]]
        claim = await _claim(seat.home)
        assert await seat.home.commit(claim, INVALID) is Committed.DONE
    async with queue.opened() as seat:
        assert [one.id for one in await seat.home.claimable(10)] == [b[0], c[0], a[1], b[1], a[2], a[3]]
        held = [await _claim(seat.home) for _ in range(2)]
        assert [one.submission.id for one in held] == [b[0], c[0]]
    async with queue.opened() as seat:
        assert [one.id for one in await seat.home.claimable(2)] == [a[1], b[1]], "A runs none"
        assert await seat.home.release(held[0], "no engine") is Committed.DONE
    async with queue.opened() as seat:
        assert [one.id for one in await seat.home.claimable(1)] == [b[0]], "what failed because of us was no turn"


async def claims_of_different_submissions_do_not_touch(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    queue.hand_in()
    async with queue.opened() as seat:
        one, other = await _claim(seat.home), await _claim(seat.home)
        assert one.submission.id != other.submission.id
        assert await seat.home.commit(one, INVALID) is Committed.DONE
        assert await seat.home.heartbeat(other) is Signal.GO_ON
        assert await _stands(seat, other) == (Status.EVALUATION_IN_PROGRESS, 1)
        assert await seat.home.commit(other, INVALID) is Committed.DONE


async def nothing_is_left_when_all_have_ended(bench: HomeBench) -> None:
    queue = bench.queue()
    async with queue.opened() as seat:
        assert await seat.home.seconds_until_claimable() is None
        assert not await seat.home.claimable(1)
        queue.hand_in()
        assert await _within(seat.home.claimable, 1)
        assert await seat.home.commit(await _claim(seat.home), INVALID) is Committed.DONE
        assert await seat.home.seconds_until_claimable() is None


# Fences


def _forged(claim: Claim) -> dict[str, Claim]:
    """Claims that are almost the one that is held."""
    return {
        "the same attempt number under another nonce": replace(claim, nonce="0" * len(claim.nonce)),
        "the same nonce under an earlier attempt number": replace(claim, attempt=claim.attempt - 1),
        "the same nonce under a later attempt number": replace(claim, attempt=claim.attempt + 1),
    }


async def _fence(bench: HomeBench, refuses: Callable[[QueueHome, Claim], Awaitable[bool]]) -> None:
    queue = bench.queue()
    queue.hand_in()
    queue.hand_in()
    async with queue.opened() as seat:
        claim, other = await _claim(seat.home), await _claim(seat.home)
        forged = _forged(claim) | {"a claim of another submission": replace(claim, submission=other.submission)}
        before = list(await seat.home.submissions())
        for what, false in forged.items():
            assert await refuses(seat.home, false), what
            assert list(await seat.home.submissions()) == before, f"{what} has changed the queue"
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        assert await seat.home.heartbeat(other) is Signal.GO_ON


async def a_heartbeat_is_fenced(bench: HomeBench) -> None:
    async def refuses(home: QueueHome, claim: Claim) -> bool:
        return await home.heartbeat(claim) is Signal.LOST

    await _fence(bench, refuses)


async def an_advance_is_fenced(bench: HomeBench) -> None:
    async def refuses(home: QueueHome, claim: Claim) -> bool:
        return await home.advance(claim, Status.VALIDATED) is Signal.LOST

    await _fence(bench, refuses)


async def a_commit_is_fenced(bench: HomeBench) -> None:
    async def refuses(home: QueueHome, claim: Claim) -> bool:
        return await home.commit(claim, INVALID) is Committed.STALE

    await _fence(bench, refuses)


async def a_release_is_fenced(bench: HomeBench) -> None:
    async def refuses(home: QueueHome, claim: Claim) -> bool:
        failed = await home.release(claim, "no engine")
        stopped = await home.release(claim, "stopped", our_fault=False)
        return failed is stopped is Committed.STALE

    await _fence(bench, refuses)


async def what_has_ended_is_fenced(bench: HomeBench) -> None:
    """Nobody but the claim that ended it is told that it did."""
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        assert await seat.home.commit(claim, INVALID) is Committed.DONE
        before = list(await seat.home.submissions())
        for what, false in _forged(claim).items():
            assert await seat.home.commit(false, SCORED) is Committed.STALE, what
        for late in (claim, *_forged(claim).values()):
            assert await seat.home.heartbeat(late) is Signal.LOST
            assert await seat.home.advance(late, Status.VALIDATED) is Signal.LOST
            assert await seat.home.release(late, "too late") is Committed.STALE
        assert list(await seat.home.submissions()) == before


# Leases and clocks


async def a_heartbeat_renews_the_lease(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home, "w1", 3.0)
        [seen] = await seat.home.submissions()
        for _ in range(3):
            assert await other.home.claim(seen, "w2", LONG) is None
            await asyncio.sleep(1.2)
            assert await seat.home.heartbeat(claim) is Signal.GO_ON
        assert await other.home.claim(seen, "w2", LONG) is None


async def a_lease_that_ran_out_is_free_and_its_claim_is_stale(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        stale = await _claim(seat.home, "w1", 0.05)
        fresh = await _claim(other.home, "w2", LONG)
        assert (stale.attempt, fresh.attempt, fresh.submission.id) == (1, 2, stale.submission.id)
        assert fresh.nonce != stale.nonce
        assert await seat.home.heartbeat(stale) is Signal.LOST
        assert await seat.home.advance(stale, Status.VALIDATED) is Signal.LOST
        assert await seat.home.commit(stale, INVALID) is Committed.STALE
        assert await seat.home.release(stale, "no engine") is Committed.STALE
        assert await other.home.heartbeat(fresh) is Signal.GO_ON
        assert await _stands(other, fresh) == (Status.EVALUATION_IN_PROGRESS, 2)
        assert await other.home.commit(fresh, SCORED) is Committed.DONE
        assert await seat.home.commit(stale, INVALID) is Committed.STALE
        assert await _stands(other, fresh) == (Status.SCORED, 2)


async def a_lease_that_ran_out_but_that_nobody_took_is_good(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home, "w1", 0.05)
        await asyncio.sleep(0.1)
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        await asyncio.sleep(0.1)
        assert await seat.home.commit(claim, SCORED) is Committed.DONE


async def a_wall_clock_that_jumps_frees_nothing_and_freezes_nothing(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home)
        [seen] = await other.home.submissions()
        for days in (400, -400):
            with _shifted(datetime.timedelta(days=days)):
                assert await other.home.claim(seen, "w2", LONG) is None, f"{days} days"
                assert await seat.home.heartbeat(claim) is Signal.GO_ON, f"{days} days"
        with _shifted(datetime.timedelta(days=-400)):
            assert await seat.home.release(claim, "no engine") is Committed.DONE
            again = await _claim(other.home)
        assert again.attempt == 2
        assert await other.home.commit(again, INVALID) is Committed.DONE


async def workers_that_die_over_a_submission_are_not_many(bench: HomeBench) -> None:
    queue = bench.queue(most_losses=3)
    queue.hand_in()
    async with queue.opened() as seat:
        for _ in range(3):
            await _claim(seat.home, "w1", 0.0)
        [seen] = await seat.home.submissions()
        assert await seat.home.claim(seen, "w1", LONG) is None
        [seen] = await seat.home.submissions()
        assert (seen.status, seen.needs_organiser, seen.attempt) == (Status.RECEIVED, True, 3)
        assert await seat.home.seconds_until_claimable() is None


async def another_process_goes_on_with_a_claim(bench: HomeBench) -> None:
    """The home was closed without a word; what is in the claim is all that is needed."""
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
    async with queue.opened() as seat:
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        assert await seat.home.commit(claim, SCORED) is Committed.DONE


# Results


async def the_submitted_file_is_fetched_whole(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in(PREDICTIONS)
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        target = _folder(seat, claim) / "predictions.json"
        for _ in range(2):
            await seat.home.fetch_predictions(claim, target, 1 << 20)
            assert target.read_bytes() == PREDICTIONS
        try:
            await seat.home.fetch_predictions(claim, target.with_name("large.json"), len(PREDICTIONS) - 1)
        except ParticipantFault:
            return
        raise AssertionError("a file that is too large was fetched")


async def predictions_that_are_valid_are_recorded(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home)
        for _ in range(2):
            assert await seat.home.advance(claim, Status.VALIDATED) is Signal.GO_ON
        stood = await _stands(other, claim)
        assert stood in ((Status.VALIDATED, 1), (Status.EVALUATION_IN_PROGRESS, 1)), "a home may have it dear to write"
        [seen] = await other.home.submissions()
        assert await other.home.claim(seen, "w2", LONG) is None
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        assert await _stands(other, claim) == stood, "a heartbeat has undone it"
        assert await seat.home.commit(claim, SCORED) is Committed.DONE


async def a_verdict_is_written_once_with_all_that_it_says(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        told = replace(SCORED, feedback=_told({"measures": {}}), folder=_folder(seat, claim))
        assert await seat.home.commit(claim, told) is Committed.DONE
        [one] = await seat.home.submissions()
        assert (one.status, one.version, one.attempt, one.reason) == (Status.SCORED, 1, 1, None)
        assert (dict(one.scores), one.feedback) == ({"instance_strict": 0.5}, {"measures": {}})
        assert one.finished is not None
        assert one.finished.endswith("Z")
        for verdict in (told, INVALID):
            assert await seat.home.commit(claim, verdict) is Committed.DONE, "its first answer was lost"
        assert await seat.home.submissions() == [one]


async def a_fault_of_the_participant_is_told(bench: HomeBench) -> None:
    queue = bench.queue()
    for verdict in (INVALID, Verdict(Status.REJECTED, _told("not for this phase", "reason"))):
        queue.hand_in()
        async with queue.opened() as seat:
            claim = await _claim(seat.home)
            assert await seat.home.commit(claim, verdict) is Committed.DONE
            one = await _one(seat, claim.submission.id)
            assert (one.status, one.reason, one.version) == (verdict.status, verdict.reason_text, 0)


async def what_was_committed_is_kept(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        [one] = await seat.home.submissions()
        assert await seat.home.kept(one) is None
        claim = await _claim(seat.home)
        folder = _folder(seat, claim)
        assert await seat.home.commit(claim, replace(SCORED, folder=folder)) is Committed.DONE
        [one] = await seat.home.submissions()
        kept = await seat.home.kept(one)
        assert kept is not None
        assert (kept / card_name(1)).read_bytes() == (folder / card_name(1)).read_bytes()


async def a_team_that_fails_too_often_waits(bench: HomeBench) -> None:
    """Where the challenge says nothing, 25 failures a day: what ended INVALID, or was called back after its claim.

    A 26th is refused as it is handed in, or where that is not possible as it would be claimed. Others go on.
    """
    queue = bench.queue(most_failures=100)
    async with queue.opened() as seat:
        queue.hand_in(team="A")
        for number in range(25):
            queue.hand_in(team="A")
            claim = await _claim(seat.home)
            returned = await seat.home.release(claim, "no engine")
            assert returned is Committed.DONE, "a failure of ours counts nowhere"
            claim = await _claim(seat.home)
            if number == 7:
                assert await seat.home.cancel(claim.submission.id)
            verdict = INVALID if number < 24 else replace(INVALID, seconds=1.0)
            assert await seat.home.commit(claim, verdict) in (Committed.DONE, Committed.CANCELLED)
    ended = {Status.INVALID, Status.REJECTED}
    async with queue.opened() as seat:
        left = [one for one in await seat.home.submissions() if one.status not in ended]
        assert len(left) == 1
        with suppress(ParticipantFault):
            queue.hand_in(team="A")
        other = queue.hand_in(team="B")
    async with queue.opened() as seat:
        for one in await seat.home.claimable(5):
            claimed = await seat.home.claim(one, "w1", LONG)
            assert (claimed is not None) is (one.id == other)
        found = await seat.home.submissions()
        assert {one.status for one in found if one.id != other} == ended
        assert {one.reason for one in found if one.id == left[0].id} == {FAILURE_QUOTA}


# Faults of ours, second chances, calling back


async def a_failure_of_ours_is_counted_until_an_organiser_is_needed(bench: HomeBench) -> None:
    queue = bench.queue(most_failures=3)
    queue.hand_in()
    async with queue.opened() as seat:
        for failures in (1, 2, 3):
            claim = await _claim(seat.home)
            assert await seat.home.release(claim, "no engine") is Committed.DONE
            again = await seat.home.release(claim, "no engine")
            assert again is Committed.STALE, "its first answer was lost: counted once"
            one = await _one(seat, claim.submission.id)
            assert (one.status, one.failures, one.attempt) == (Status.RECEIVED, failures, failures)
            assert one.needs_organiser is (failures == 3)
        assert not await seat.home.claimable(1)
        assert await seat.home.claim(one, "w1", LONG) is None
        assert await seat.home.seconds_until_claimable() is None
        assert await seat.home.requeue(one.id)
        one = await _one(seat, one.id)
        assert (one.status, one.failures, one.needs_organiser, one.attempt) == (Status.RECEIVED, 0, False, 3)
        assert (await _claim(seat.home)).attempt == 4


async def a_failure_makes_it_wait(bench: HomeBench) -> None:
    queue = bench.queue(first_wait_seconds=60)
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home)
        assert await seat.home.release(claim, "no engine") is Committed.DONE
        [one] = await other.home.submissions()
        assert one.not_before is not None
        for home in (seat.home, other.home):
            assert not await home.claimable(1)
            assert await home.claim(one, "w2", LONG) is None
            left = await home.seconds_until_claimable()
            assert left is not None
            assert 0 < left <= 60


async def handing_back_is_no_failure(bench: HomeBench) -> None:
    queue = bench.queue(most_failures=2, first_wait_seconds=60)
    queue.hand_in()
    async with queue.opened() as seat:
        for attempt in range(1, 5):
            claim = await _claim(seat.home)
            assert claim.attempt == attempt
            assert await seat.home.release(claim, "the worker was stopped", our_fault=False) is Committed.DONE
        [one] = await seat.home.submissions()
        assert (one.failures, one.needs_organiser, one.status) == (0, False, Status.RECEIVED)


async def a_rehearsal_that_went_well_is_remembered(bench: HomeBench) -> None:
    queue = bench.queue(first_wait_seconds=60)
    one = queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        assert not claim.submission.rehearsed
        assert await seat.home.rehearsed(claim, _folder(seat, claim)) is Committed.DONE
        again = await seat.home.rehearsed(claim, _folder(seat, claim))
        assert again is Committed.STALE, "its first answer was lost: handed back once"
        found = await _one(seat, one)
        assert (found.status, found.failures, found.attempt, found.rehearsed) == (Status.RECEIVED, 0, 1, True)
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        assert (claim.attempt, claim.submission.rehearsed) == (2, True)
        assert await seat.home.commit(claim, INVALID) is Committed.DONE
        assert await seat.home.requeue(one)
        assert (await _one(seat, one)).rehearsed, "once a submission"


async def what_nobody_works_on_is_called_back_at_once(bench: HomeBench) -> None:
    queue = bench.queue()
    one = queue.hand_in()
    async with queue.opened() as seat:
        assert await seat.home.cancel(one)
        found = await _one(seat, one)
        assert (found.status, found.reason, found.version) == (Status.REJECTED, CANCELLED, 0)
        assert not await seat.home.cancel(one), "it has ended"
        assert not await seat.home.cancel("no-such-submission")
        assert await seat.home.seconds_until_claimable() is None


async def a_worker_hears_that_its_submission_is_called_back(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat, queue.opened() as organiser:
        claim = await _claim(seat.home)
        for _ in range(2):
            assert await organiser.home.cancel(claim.submission.id)
        assert await _stands(seat, claim) == (Status.EVALUATION_IN_PROGRESS, 1)
        for _ in range(2):
            assert await seat.home.heartbeat(claim) is Signal.CANCEL
        assert await seat.home.advance(claim, Status.VALIDATED) is Signal.CANCEL
        for _ in range(2):
            assert await seat.home.commit(claim, SCORED) is Committed.CANCELLED
        [one] = await seat.home.submissions()
        assert (one.status, one.reason, one.version) == (Status.REJECTED, CANCELLED, 0)


async def a_failure_of_what_was_called_back_ends_it(bench: HomeBench) -> None:
    for our_fault in (True, False):
        queue = bench.queue()
        queue.hand_in()
        async with queue.opened() as seat:
            claim = await _claim(seat.home)
            assert await seat.home.cancel(claim.submission.id)
            assert await seat.home.release(claim, "no engine", our_fault=our_fault) is Committed.CANCELLED
            [one] = await seat.home.submissions()
            assert (one.status, one.reason) == (Status.REJECTED, CANCELLED)


async def what_was_called_back_is_claimed_by_nobody(bench: HomeBench) -> None:
    """Its worker died; whoever would take it over ends it instead."""
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home, "w1", 0.0)
        assert await seat.home.cancel(claim.submission.id)
        [seen] = await seat.home.submissions()
        assert await seat.home.claim(seen, "w2", LONG) is None
        [one] = await seat.home.submissions()
        assert (one.status, one.reason) == (Status.REJECTED, CANCELLED)


async def a_second_chance_keeps_the_attempt_number(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        one = claim.submission.id
        assert not await seat.home.requeue(one), "it is being worked on"
        assert await seat.home.commit(claim, INVALID) is Committed.DONE
        assert await seat.home.requeue(one)
        found = await _one(seat, one)
        assert (found.status, found.attempt, found.reason, found.finished) == (Status.RECEIVED, 1, None, None)
        assert await seat.home.commit(claim, SCORED) is Committed.STALE
        assert not await seat.home.requeue("no-such-submission")
        assert (await _claim(seat.home)).attempt == 2


# Versions, feedback, notices


async def a_rescored_result_is_added_once(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        assert await seat.home.commit(claim, replace(SCORED, folder=_folder(seat, claim))) is Committed.DONE
        [one] = await seat.home.submissions()
        second = Version(2, {"instance_strict": 0.25}, _told({"measures": {}}), "date|y|v0", "the gold has changed")
        assert not await seat.home.add_version(one, replace(second, number=3)), "2 is next"
        assert not await seat.home.add_version(one, replace(second, number=1)), "1 is there"
        assert await seat.home.add_version(one, second)
        assert not await seat.home.add_version(one, second), "its first answer was lost: added once"
        [one] = await seat.home.submissions()
        assert (one.version, dict(one.scores), one.status) == (2, {"instance_strict": 0.25}, Status.SCORED)


async def feedback_that_was_left_open_is_set_later(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        assert await seat.home.commit(claim, replace(SCORED, feedback=None)) is Committed.DONE
        [one] = await seat.home.submissions()
        assert one.feedback is None
        for _ in range(2):
            await seat.home.publish_feedback(one, _told({"measures": {}}))
            [one] = await seat.home.submissions()
            assert (one.feedback, one.version, dict(one.scores)) == ({"measures": {}}, 1, {"instance_strict": 0.5})


async def the_ledger_holds_what_was_shown(bench: HomeBench) -> None:
    """A verdict's lines come with it; what is told again is one line; a refused commit leaves none."""
    queue = bench.queue()
    queue.hand_in(team="Team A")
    async with queue.opened() as seat, queue.opened() as other:
        claim = await _claim(seat.home)
        told = replace(SCORED, feedback=_told({"measures": {}}, bits=3.5), beside=(_told("SCORED", "status", 1.5),))
        stale = replace(claim, nonce="0" * len(claim.nonce))
        assert await seat.home.commit(stale, told) is Committed.STALE
        assert list(await seat.home.disclosed()) == []
        for _ in range(2):
            assert await seat.home.commit(claim, told) is Committed.DONE
        one = await _one(seat, claim.submission.id)
        for _ in range(2):
            await seat.home.publish_feedback(one, _told({"measures": {"a": {}}}, bits=2.0))
            await seat.home.disclose([LedgerLine(what="board", bits=7.0, mark="b1")])
            await seat.home.disclose([LedgerLine(what="log", bits=8.0, mark="l1", submission=one.id)])
        found = await other.home.disclosed()
        assert sorted((line.what, line.bits, line.submission) for line in found if line.submission) == [
            ("log", 8.0, one.id),
            ("score", 2.0, one.id),
            ("score", 3.5, one.id),
            ("status", 1.5, one.id),
        ]
        assert {line.team for line in found if line.submission and line.what != "log"} == {one.team}
        assert all(line.when for line in found)
        public = [(line.what, line.bits, line.team) for line in await seat.home.disclosed() if not line.submission]
        assert public == [("board", 7.0, None)]


async def a_notice_is_sent_at_most_once(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        begun = Notice(claim.submission, claim.attempt, Event.STARTED, _told(NoticeText("It has begun", "…"), "notice"))
        assert await seat.home.notify(begun)
        assert not await seat.home.notify(begun)
        assert await seat.home.notify(replace(begun, event=Event.INVALID))
    async with queue.opened() as seat:
        assert not await seat.home.notify(begun)


async def boards_are_brought_where_they_are_shown(bench: HomeBench) -> None:
    queue = bench.queue()
    async with queue.opened() as seat:
        for _ in range(2):
            await seat.home.publish([], seat.workspace.site)


async def a_home_is_closed_more_than_once(bench: HomeBench) -> None:
    queue = bench.queue()
    async with queue.opened() as seat:
        await seat.home.close()
        await seat.home.close()


# Answers that are lost on the way


async def a_claim_whose_answer_is_lost_is_our_own(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        [seen] = await seat.home.claimable(1)
        queue.lose_answers(1)
        claim = await seat.home.claim(seen, "w1", LONG)
        assert claim is not None
        assert claim.attempt == 1
        assert await seat.home.heartbeat(claim) is Signal.GO_ON


async def changes_whose_answers_are_lost_are_made_once(bench: HomeBench) -> None:
    queue = bench.queue()
    queue.hand_in()
    async with queue.opened() as seat:
        claim = await _claim(seat.home)
        queue.lose_answers(1)
        assert await seat.home.release(claim, "no engine") is Committed.DONE
        [one] = await seat.home.submissions()
        assert (one.failures, one.status) == (1, Status.RECEIVED)
        claim = await _claim(seat.home)
        queue.lose_answers(1)
        assert await seat.home.heartbeat(claim) is Signal.GO_ON
        queue.lose_answers(1)
        assert await seat.home.advance(claim, Status.VALIDATED) is Signal.GO_ON
        queue.lose_answers(1)
        assert await seat.home.commit(claim, replace(SCORED, feedback=None)) is Committed.DONE
        [one] = await seat.home.submissions()
        assert (one.status, one.version, one.attempt) == (Status.SCORED, 1, 2)
        queue.lose_answers(1)
        await seat.home.publish_feedback(one, _told({"measures": {}}))
        queue.lose_answers(1)
        assert await seat.home.requeue(one.id)
        queue.lose_answers(1)
        assert await seat.home.cancel(one.id)
        assert await _stands(seat, claim) == (Status.REJECTED, 2)


# What the checks are made of


async def _claim(home: QueueHome, owner: str = "w1", seconds: float = LONG) -> Claim:
    """The oldest submission that can be had, waited for."""

    async def had() -> Claim | None:
        for one in await home.claimable(1):
            if (claim := await home.claim(one, owner, seconds)) is not None:
                return claim
        return None

    claim: Claim = await _within(had)
    return claim


async def _within(ask: Callable[..., Awaitable[Any]], *arguments: object) -> Any:
    """The first answer that is not empty, within what a slow home may take."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (found := await ask(*arguments)) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    assert found, "nothing could be had"
    return found


async def _one(seat: Seat, submission_id: str) -> Submission:
    return next(one for one in await seat.home.submissions() if one.id == submission_id)


async def _stands(seat: Seat, claim: Claim) -> tuple[Status, int]:
    one = await _one(seat, claim.submission.id)
    return one.status, one.attempt


def _folder(seat: Seat, claim: Claim) -> Path:
    """Of the attempt, with a card in it as a scored one has."""
    folder = seat.workspace.attempt(claim.submission.id, claim.attempt, claim.nonce)
    folder.mkdir(parents=True, exist_ok=True)
    for version in (1, 2):
        (folder / card_name(version)).write_bytes(b'{"card": %d}' % version)
    return folder


@contextmanager
def _shifted(jump: datetime.timedelta) -> Iterator[None]:
    """Everybody's wall clock, set by so much; the clock since the machine's start goes on as before."""
    real, seconds = clock.utc_now, time.time

    def shifted() -> datetime.datetime:
        return real() + jump

    users = [module for module in [*sys.modules.values()] if getattr(module, "utc_now", None) is real]
    for module in users:
        module.__dict__["utc_now"] = shifted
    time.time = lambda: seconds() + jump.total_seconds()
    try:
        yield
    finally:
        time.time = seconds
        for module in users:
            module.__dict__["utc_now"] = real


def _checks() -> dict[str, Check]:
    found = {name: value for name, value in globals().items() if asyncio.iscoroutinefunction(value)}
    return {name: check for name, check in found.items() if not name.startswith("_")}


CHECKS: dict[str, Check] = _checks()
"""By name, in the order in which they stand above."""


def broken(bench: HomeBench, check: str) -> str | None:
    """What a check has to say against the home; None where it holds."""
    try:
        tried(bench, check)
    except Exception as fault:  # a home that fails is no better than one that lies
        return f"{check}: {type(fault).__name__}: {fault}"
    return None


def tried(bench: HomeBench, check: str) -> None:
    """Carry a check out; raises what it has to say against the home."""
    asyncio.run(asyncio.wait_for(CHECKS[check](bench), 120))
