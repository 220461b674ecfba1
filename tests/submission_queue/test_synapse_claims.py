"""Claims on Synapse: exactly one wins, an answer that is lost loses nothing, and nobody takes what is alive."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from submission_queue.synapse_homes import STATUS, claimed, opened, run, scored
from submission_queue.synapse_standin import LOST, LOST_503, Fault, Queue

from sandscore.base.errors import InfrastructureFault
from sandscore.base.process_identity import own_name
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.synapse.status_record import Record, read_record
from sandscore.records.submission import Committed, Signal, Status

BEGUN = "EVALUATION_IN_PROGRESS"


def begun(queue: Queue) -> list[str]:
    """Submissions in the order in which claims of them were stored, claims alone."""
    stored = [(key, flat["private_queue"]) for key, status, flat in queue.world.status_history if status == BEGUN]
    return [key for key, record in stored if '"beat"' not in record and '"told"' not in record]


def test_a_claim_is_written_before_it_is_given(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
        assert (claim.submission.id, claim.attempt, queue.status(key)) == (key, 1, BEGUN)
        record = queue.records(key)
        assert (record["nonce"], record["owner"], record["lease"], record["attempt"]) == (claim.nonce, "w1", 30.0, 1)
        status = queue.world.statuses[key]
        assert (status["canCancel"], status["cancelRequested"]) == (True, False)

    run(tmp_path, test)


def test_two_workers_twelve_submissions_each_is_claimed_once(tmp_path: Path) -> None:
    async def work(home: QueueHome, owner: str, both_have_looked: asyncio.Barrier) -> list[str]:
        mine = []
        seen = await home.claimable(20)
        await both_have_looked.wait()
        for submission in seen:
            claim = await home.claim(submission, owner, 30)
            if claim is not None:
                mine.append(claim.submission.id)
        return mine

    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(12)]
        async with opened(queue, "a") as a, opened(queue, "b") as b:
            both_have_looked = asyncio.Barrier(2)
            first, second = await asyncio.gather(work(a, "w1", both_have_looked), work(b, "w2", both_have_looked))
        assert sorted(first + second) == sorted(keys)
        assert sorted(begun(queue)) == sorted(keys)
        assert queue.standin.count("PUT", STATUS, 412) > 0, "nobody raced"

    run(tmp_path, test)


@pytest.mark.parametrize("kind", [LOST, LOST_503])
def test_a_claim_whose_answer_is_lost_is_known_as_our_own(tmp_path: Path, kind: str) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.standin.faults = [Fault("PUT", STATUS, kind)]
        async with opened(queue) as home:
            claim = await claimed(home)
        assert begun(queue) == [key]
        assert queue.records(key)["nonce"] == claim.nonce
        assert queue.standin.count("PUT", STATUS, 412) == 1

    run(tmp_path, test)


def test_a_lost_answer_does_not_hide_that_another_was_first(tmp_path: Path) -> None:
    """The other worker's claim stands; our repeated write must not be taken for it."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue, "a") as a, opened(queue, "b") as b:
            (seen,) = await b.claimable(1)
            await claimed(a)
            queue.standin.faults = [Fault("PUT", STATUS, 503)]
            assert await b.claim(seen, "w2", 30) is None
        assert queue.records(key)["owner"] == "w1"

    run(tmp_path, test)


def test_another_tool_that_annotates_costs_neither_claim_nor_annotation(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        theirs = {"id": key, "etag": "x", "annotations": {"checked_by": {"type": "STRING", "value": ["a person"]}}}
        async with opened(queue) as home:
            (seen,) = await home.claimable(1)
            queue.change(key, submissionAnnotations=theirs)
            assert await home.claim(seen, "w1", 30) is not None
        assert queue.annotations(key)["checked_by"] == "a person"

    run(tmp_path, test)


def test_throttled_claims_go_through_without_hammering(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("PUT", STATUS, 429, times=2)]
        async with opened(queue, options={"retry_seconds": 5}) as home:
            await claimed(home)
        assert queue.standin.count("PUT", STATUS) == 3

    run(tmp_path, test)


def test_an_outage_ends_in_an_error_soon_and_the_next_claim_succeeds(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue, options={"retry_seconds": 0.3}) as home:
            (seen,) = await home.claimable(1)
            queue.standin.faults = [Fault("PUT", STATUS, 503, times=99)]
            with pytest.raises(InfrastructureFault, match="503"):
                await home.claim(seen, "w1", 30)
            assert queue.standin.count("PUT", STATUS) < 5
            queue.standin.faults = []
            assert (await claimed(home)).attempt == 1

    run(tmp_path, test)


def test_what_is_alive_is_not_taken_and_what_is_silent_for_a_lease_is(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue, "a") as a, opened(queue, "b") as b:
            old = await claimed(a, own_name(), 0.4)
            assert await b.claimable(1) == []
            await asyncio.sleep(0.25)
            assert await a.heartbeat(old) is Signal.GO_ON
            assert await b.seconds_until_claimable() == pytest.approx(0.4, abs=0.1)
            await asyncio.sleep(0.45)
            new = await claimed(b, "w2")
            assert (new.attempt, queue.records(key)["losses"]) == (2, 1)
            assert await a.heartbeat(old) is Signal.LOST
            assert await a.commit(old, scored()) is Committed.STALE
            assert await a.release(old, "late") is Committed.STALE
            assert queue.status(key) == BEGUN
            assert await b.commit(new, scored()) is Committed.DONE

    run(tmp_path, test)


def test_the_claim_of_a_process_that_died_on_this_machine_is_free_at_once(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        place = own_name().rpartition("/")[0]
        async with opened(queue, "a") as a, opened(queue, "b") as b:
            await claimed(a, f"{place}/999999999@1", 3600)
            assert (await claimed(b)).attempt == 2

    run(tmp_path, test)


def test_a_submission_that_kills_every_worker_waits_for_an_organiser(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        dead = f"{own_name().rpartition('/')[0]}/999999999@1"
        async with opened(queue, most_losses=2) as home:
            await claimed(home, dead)
            await claimed(home, dead)
            (seen,) = await home.claimable(1)
            assert await home.claim(seen, "w1", 30) is None
            (kept,) = await home.submissions()
            assert (kept.status, kept.needs_organiser, queue.status(key)) == (Status.RECEIVED, True, "RECEIVED")
            assert await home.seconds_until_claimable() is None

    run(tmp_path, test)


def test_what_another_tool_is_working_on_is_left_alone(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.change(key, status=BEGUN)
        async with opened(queue) as home:
            assert await home.claimable(5) == []
            assert await home.seconds_until_claimable() is None

    run(tmp_path, test)


@pytest.mark.parametrize("damaged", ["nonsense", '{"attempt": "x"}', "[]", '{"nonce": "' + "n" * 400 + '"}'])
def test_a_record_that_somebody_damaged_is_begun_anew(tmp_path: Path, damaged: str) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        found = {"private_queue": {"type": "STRING", "value": [damaged]}}
        queue.change(key, submissionAnnotations={"id": key, "etag": "x", "annotations": found})
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored()) is Committed.DONE

    run(tmp_path, test)


def test_the_record_never_outgrows_its_annotation() -> None:
    record = Record(10**9, "n" * 80, "o" * 80, 1e9, 10**9, 10**9, 10**9, True, "a" * 30, 10**9, True, mark="m" * 12)
    told = tuple(f"{attempt}.1.32" for attempt in range(1000))
    written = replace(record, told=told).written()
    assert len(written) <= 500
    kept = read_record({"private_queue": [written]})
    assert kept.told == told[-len(kept.told) :]
    assert len(kept.told) > 5
