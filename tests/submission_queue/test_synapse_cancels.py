"""Cancelling on Synapse: seen between steps, never overwritten, never invented."""

from pathlib import Path

import requests
from submission_queue.standin.routing import Request
from submission_queue.standin.world import PARTICIPANT
from submission_queue.synapse_homes import claimed, opened, run, scored
from submission_queue.synapse_standin import Queue

from sandscore.records.submission import CANCELLED, Committed, Signal, Status


def test_a_cancel_asked_for_while_it_waits_ends_it(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.change(key, canCancel=True, cancelRequested=True)
        async with opened(queue) as home:
            (seen,) = await home.claimable(1)
            assert await home.claim(seen, "w1", 30) is None
        assert (queue.status(key), queue.annotations(key)["reason"]) == ("REJECTED", CANCELLED)
        assert queue.world.statuses[key]["canCancel"] is False

    run(tmp_path, test)


def test_a_flag_left_over_from_an_earlier_life_is_no_cancel(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.change(key, canCancel=False, cancelRequested=True)
        async with opened(queue) as home:
            assert await home.heartbeat(await claimed(home)) is Signal.GO_ON
        assert queue.world.statuses[key]["cancelRequested"] is False

    run(tmp_path, test)


def test_a_cancel_is_seen_by_the_next_heartbeat_and_not_wiped_out(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.change(key, cancelRequested=True)
            assert await home.heartbeat(claim) is Signal.CANCEL
            assert await home.advance(claim, Status.VALIDATED) is Signal.CANCEL
            assert await home.commit(claim, scored()) is Committed.CANCELLED
        assert (queue.status(key), queue.annotations(key)["reason"]) == ("REJECTED", CANCELLED)

    run(tmp_path, test)


def test_a_cancel_between_read_and_write_of_a_heartbeat_survives(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home, seconds=0)
            queue.standin.before = once_before_put(queue, key)
            assert await home.heartbeat(claim) is Signal.CANCEL
        assert queue.world.statuses[key]["cancelRequested"] is True

    run(tmp_path, test)


def once_before_put(queue: Queue, key: str) -> object:
    """The submitter cancels after our read and before our write."""
    done: list[bool] = []

    def before(request: Request) -> None:
        if request.method == "PUT" and request.path.endswith(f"{key}/status") and not done:
            done.append(True)
            assert queue.world.submissions[key]["userId"] == PARTICIPANT
            queue.change(key, cancelRequested=True)

    return before


def test_a_cancel_between_read_and_write_is_not_overwritten_by_a_score(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.standin.before = once_before_put(queue, key)
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert await home.commit(claim, scored()) is Committed.CANCELLED
        assert (queue.status(key), queue.annotations(key)["reason"]) == ("REJECTED", CANCELLED)
        assert "instance_strict_f1" not in queue.annotations(key)

    run(tmp_path, test)


def test_what_is_put_back_in_the_queue_is_not_cancelled_again(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.change(key, cancelRequested=True)
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert await home.requeue(key)
            assert await home.commit(await claimed(home), scored()) is Committed.DONE
        assert queue.status(key) == "SCORED"

    run(tmp_path, test)


def test_what_waits_after_a_failure_of_ours_can_be_called_back(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            assert await home.release(await claimed(home), "the engine was gone") is Committed.DONE
        assert (queue.status(key), queue.world.statuses[key]["canCancel"]) == ("RECEIVED", True)

    run(tmp_path, test)


def test_the_submitter_can_cancel_only_while_it_runs(tmp_path: Path) -> None:
    """Over HTTP, as the submitter: 403 before the claim and after the end, 204 in between."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        address = f"{queue.standin.base}/repo/v1/evaluation/submission/{key}/cancellation"

        def asked() -> int:
            who = {"Authorization": "Bearer participant-token"}
            return int(requests.put(address, headers=who, timeout=5).status_code)

        async with opened(queue) as home:
            assert asked() == 403
            claim = await claimed(home)
            assert asked() == 204
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert asked() == 403

    run(tmp_path, test)


def test_a_cancel_that_comes_with_a_failure_is_honoured(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.change(key, cancelRequested=True)
            assert await home.release(claim, "the engine was gone") is Committed.CANCELLED
        assert queue.status(key) == "REJECTED"
        [told] = [one["subject"] for one in queue.world.messages]
        assert told.endswith("was cancelled")

    run(tmp_path, test)
