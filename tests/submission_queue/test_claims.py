"""Claims, leases and fences of the embedded queue, one rule at a time."""

import asyncio
import datetime
from pathlib import Path

import pytest
from queue_samples import hand_in, opened, queue
from released_samples import released

from sandscore.queue.homes.sqlite import sqlite_claims as claims_module
from sandscore.queue.homes.sqlite import sqlite_database
from sandscore.queue.homes.sqlite.sqlite_claims import SqliteClaims
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Claim, Committed, Signal, Status, Submission, Verdict

INVALID = Verdict(Status.INVALID, released("text-mismatch 1"))
SCORED = Verdict(Status.SCORED, scores={"instance_strict": 1.0}, feedback=released({}), signature="s")
ALIVE, DEAD = "elsewhere/1@1", "gone"


class Queue:
    """One submission, and the shorthand to work on it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.id = hand_in(workspace)

    def one(self) -> Submission:
        async def found() -> Submission:
            home = EmbeddedHome(self.workspace)
            await home.open()
            [one] = await home.submissions()
            await home.close()
            return one

        return asyncio.run(found())

    def claim(self, seconds: float = 60.0) -> Claim:
        one = self.one()
        with opened(self.workspace) as database, database.writing() as connection:
            claim = SqliteClaims(database, self.workspace.settings).claim(connection, one, ALIVE, seconds)
        assert claim is not None
        return claim

    def refused(self) -> bool:
        one = self.one()
        with opened(self.workspace) as database, database.writing() as connection:
            return SqliteClaims(database, self.workspace.settings).claim(connection, one, ALIVE, 60.0) is None

    def commit(self, claim: Claim, verdict: Verdict = SCORED) -> Committed:
        with opened(self.workspace) as database, database.writing() as connection:
            return SqliteClaims(database, self.workspace.settings).commit(connection, claim, verdict)

    def heartbeat(self, claim: Claim) -> Signal:
        with opened(self.workspace) as database, database.writing() as connection:
            return SqliteClaims(database, self.workspace.settings).heartbeat(connection, claim)

    def release(self, claim: Claim, our_fault: bool = True) -> Committed:
        with opened(self.workspace) as database, database.writing() as connection:
            return SqliteClaims(database, self.workspace.settings).release(connection, claim, "no engine", our_fault)

    def order(self, name: str) -> bool:
        async def done() -> bool:
            home = EmbeddedHome(self.workspace)
            await home.open()
            answer: bool = await getattr(home, name)(self.id)
            await home.close()
            return answer

        return asyncio.run(done())


@pytest.fixture
def one(tmp_path: Path) -> Queue:
    return Queue(queue(tmp_path, most_failures=3, most_losses=3, first_wait_seconds=0))


def test_of_two_claims_one_wins(one: Queue) -> None:
    claim = one.claim()
    assert (claim.attempt, one.refused()) == (1, True)
    assert one.one().status is Status.EVALUATION_IN_PROGRESS


def test_a_result_is_taken_once_and_a_repeated_commit_says_so(one: Queue) -> None:
    claim = one.claim()
    assert one.commit(claim) is Committed.DONE
    assert one.commit(claim, INVALID) is Committed.DONE
    assert (one.one().status, one.one().version) == (Status.SCORED, 1)


def test_a_stale_result_is_thrown_away(one: Queue) -> None:
    stale = one.claim(seconds=0)
    fresh = one.claim()
    assert (stale.attempt, fresh.attempt) == (1, 2)
    assert one.heartbeat(stale) is Signal.LOST
    assert one.commit(stale, INVALID) is Committed.STALE
    assert one.release(stale) is Committed.STALE
    assert one.commit(fresh) is Committed.DONE
    assert one.commit(stale, INVALID) is Committed.STALE
    assert one.one().status is Status.SCORED


def test_a_lease_that_ran_out_but_that_nobody_took_is_still_good(one: Queue) -> None:
    claim = one.claim(seconds=0)
    assert one.heartbeat(claim) is Signal.GO_ON
    assert one.commit(claim) is Committed.DONE


@pytest.mark.parametrize("jump", [datetime.timedelta(days=400), datetime.timedelta(days=-400)], ids=str)
def test_the_wall_clock_neither_frees_nor_freezes_a_claim(
    one: Queue, monkeypatch: pytest.MonkeyPatch, jump: datetime.timedelta
) -> None:
    claim = one.claim()
    now = datetime.datetime.now(datetime.UTC)
    for module in (claims_module, sqlite_database):
        monkeypatch.setattr(module, "utc_now", lambda: now + jump)
    assert one.refused()
    assert one.heartbeat(claim) is Signal.GO_ON
    assert one.release(claim) is Committed.DONE
    assert one.commit(one.claim()) is Committed.DONE


def test_after_a_restart_of_the_machine_no_lease_holds(one: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    one.claim()
    monkeypatch.setattr(sqlite_database, "boot", lambda: "another start")
    assert one.claim().attempt == 2


def test_what_a_dead_process_claimed_is_free_at_once(one: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    one.claim()
    assert one.refused()
    monkeypatch.setattr(sqlite_database, "gone", lambda owner: owner == ALIVE)
    assert one.claim().attempt == 2


def test_failures_of_ours_cost_nothing_until_an_organiser_is_needed(one: Queue) -> None:
    for failures in (1, 2, 3):
        assert one.release(one.claim()) is Committed.DONE
        assert (one.one().failures, one.one().status) == (failures, Status.RECEIVED)
    assert one.one().needs_organiser
    assert one.refused()
    assert one.order("requeue")
    assert one.claim().attempt == 4


def test_handing_back_is_no_failure(one: Queue) -> None:
    for attempt in range(1, 8):
        claim = one.claim()
        assert (claim.attempt, one.release(claim, our_fault=False)) == (attempt, Committed.DONE)
    assert (one.one().failures, one.one().needs_organiser) == (0, False)


def test_workers_that_die_over_a_submission_are_not_many(one: Queue) -> None:
    for _ in range(3):
        one.claim(seconds=0)
    assert one.refused()
    assert (one.one().status, one.one().needs_organiser) == (Status.RECEIVED, True)


def test_a_failure_makes_it_wait(tmp_path: Path) -> None:
    one = Queue(queue(tmp_path, first_wait_seconds=60))
    one.release(one.claim())
    assert one.refused()
    assert str(one.one().not_before) > one.one().created


def test_a_cancel_between_read_and_write_is_not_lost(one: Queue) -> None:
    claim = one.claim()
    assert one.order("cancel")
    assert one.heartbeat(claim) is Signal.CANCEL
    assert one.commit(claim) is Committed.CANCELLED
    assert (one.one().status, one.one().reason, one.one().version) == (Status.REJECTED, "cancelled", 0)


def test_a_cancel_of_what_nobody_works_on_ends_it(one: Queue) -> None:
    assert one.order("cancel")
    assert (one.one().status, one.one().reason) == (Status.REJECTED, "cancelled")
    assert not one.order("cancel")


def test_a_failure_after_a_cancel_ends_it_too(one: Queue) -> None:
    claim = one.claim()
    one.order("cancel")
    assert one.release(claim) is Committed.CANCELLED
    assert one.one().status is Status.REJECTED


def test_what_is_being_worked_on_cannot_be_requeued(one: Queue) -> None:
    claim = one.claim()
    assert not one.order("requeue")
    one.commit(claim, INVALID)
    assert one.order("requeue")
    assert one.commit(claim) is Committed.STALE
