"""Verdicts on Synapse: committed at most once, merged with what is there, and nothing exact beside the status."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path

import pytest
import requests
from queueing.synapse_homes import claimed, opened, run, scored
from queueing.synapse_standin import LOST, LOST_503, Fault, Queue
from queueing.test_synapse_claims import STATUS, once_before_put

from sandscore.queueing.submission import CANCELLED, Committed, Status, Verdict, Version


def finals(queue: Queue, key: str) -> int:
    """How often it ended: what is written beside a final status afterwards is no new end."""
    final = {str(status) for status in Status if status.final}
    course = [status in final for submission, status, _ in queue.world.status_history if submission == key]
    return sum(now and not before for before, now in pairwise([False, *course]))


def test_a_score_is_told_as_floating_point_and_the_exact_one_stays_here(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            assert await home.commit(claim, scored()) is Committed.DONE
            (kept,) = await home.submissions()
        assert (queue.status(key), queue.world.statuses[key]["canCancel"]) == ("SCORED", False)
        shown = queue.annotations(key)
        assert shown["instance_strict_f1"] == 0.5
        assert "instance_strict_recall" not in shown
        names = ("instance_strict_f1", "instance_strict_precision", "token_o_w_f1")
        assert {queue.types(key)[name] for name in names} == {"DOUBLE"}
        assert "0.512345" not in json.dumps(queue.world.statuses[key])
        assert (kept.scores, kept.version, kept.status) == ({"instance_strict": 0.512345}, 1, Status.SCORED)
        assert kept.feedback is not None

    run(tmp_path, test)


def test_everything_that_was_there_stays(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        theirs = {"quality": {"type": "DOUBLE", "value": [0.25]}, "round": {"type": "LONG", "value": [3]}}
        old = {"stringAnnos": [{"key": "public_note", "value": "hello", "isPrivate": False}]}
        queue.change(key, submissionAnnotations={"id": key, "etag": "x", "annotations": theirs}, annotations=old)
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored()) is Committed.DONE
        assert {name: queue.annotations(key)[name] for name in theirs} == {"quality": 0.25, "round": 3}
        assert queue.types(key)["round"] == "LONG"
        assert queue.world.statuses[key]["annotations"] == old

    run(tmp_path, test)


def test_at_most_a_hundred_keys_and_our_own_record_among_them(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        measures = {f"measure {n}": {"f1": 0.5, "precision": 0.5, "recall": 0.5} for n in range(60)}
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored(feedback={"measures": measures})) is Committed.DONE
        shown = queue.annotations(key)
        assert len(shown) == 100
        assert {"private_queue", "finished", "signature", "measure_59_f1"} <= shown.keys()

    run(tmp_path, test)


def test_a_score_that_is_not_a_number_is_left_out(tmp_path: Path) -> None:
    """A bare NaN is not JSON; a true is no score."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        measures = {"a": {"f1": float("nan")}, "b": {"f1": True}, "c": {"f1": 1}}
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored(feedback={"measures": measures})) is Committed.DONE
        assert {name for name in queue.annotations(key) if name.endswith("_f1")} == {"c_f1"}

    run(tmp_path, test)


@pytest.mark.parametrize("kind", [LOST, LOST_503])
def test_a_commit_whose_answer_is_lost_is_committed_once(tmp_path: Path, kind: str) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.standin.faults = [Fault("PUT", STATUS, kind)]
            assert await home.commit(claim, scored()) is Committed.DONE
            assert await home.commit(claim, scored()) is Committed.DONE
        assert finals(queue, key) == 1

    run(tmp_path, test)


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


def test_the_submitter_can_cancel_only_while_it_runs(tmp_path: Path) -> None:
    """Over HTTP, as the submitter: 403 before the claim and after the end, 204 in between."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        address = f"{queue.standin.base}/repo/v1/evaluation/submission/{key}/cancellation"

        def asked() -> int:
            return requests.put(address, headers={"Authorization": "Bearer participant-token"}, timeout=5).status_code

        async with opened(queue) as home:
            assert asked() == 403
            claim = await claimed(home)
            assert asked() == 204
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert asked() == 403

    run(tmp_path, test)


def test_invalid_says_why_and_does_not_score(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            verdict = Verdict(Status.INVALID, "3 annotations lie outside their note " + "x" * 600)
            assert await home.commit(await claimed(home), verdict) is Committed.DONE
            (kept,) = await home.submissions()
        assert (queue.status(key), kept.version) == ("INVALID", 0)
        assert kept.reason is not None
        assert kept.reason.startswith("3 annotations lie outside")

    run(tmp_path, test)


def test_a_failure_of_ours_goes_back_waits_and_ends_with_an_organiser(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue, most_failures=2, first_wait_seconds=0.3) as home:
            assert await home.release(await claimed(home), "the engine was gone")
            assert queue.status(key) == "RECEIVED"
            assert queue.annotations(key)["reason"] == "a failure of ours, which costs no quota"
            assert await home.claimable(1) == []
            waited = await home.seconds_until_claimable()
            assert waited is not None
            assert 0 < waited <= 0.3
            await asyncio.sleep(waited)
            assert await home.release(await claimed(home), "again")
            (kept,) = await home.submissions()
            assert (kept.failures, kept.needs_organiser, kept.reason) == (2, True, "again")
            assert await home.seconds_until_claimable() is None
            assert await home.requeue(key)
            again = await claimed(home)
            assert (again.attempt, again.submission.failures) == (3, 0)
            assert not await home.requeue(key), "it is in progress"

    run(tmp_path, test)


def test_a_clean_stop_costs_nothing(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue) as home:
            assert await home.release(await claimed(home), "stopped", our_fault=False)
            claim = await claimed(home)
            assert (claim.attempt, claim.submission.failures) == (2, 0)

    run(tmp_path, test)


def test_a_cancel_that_comes_with_a_failure_is_honoured(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            queue.change(key, cancelRequested=True)
            assert await home.release(claim, "the engine was gone")
        assert queue.status(key) == "REJECTED"

    run(tmp_path, test)


def test_the_organiser_cancels_what_waits_at_once_and_what_runs_at_its_heartbeat(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        first, second = queue.submit_file(b"{}"), queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            assert (claim.submission.id, await home.cancel(second)) == (first, True)
            assert queue.status(second) == "REJECTED"
            assert await home.cancel(first)
            assert await home.heartbeat(claim) == "cancel"
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert not await home.cancel(first), "it has ended"

    run(tmp_path, test)


def test_a_new_version_stands_beside_the_old_and_is_counted(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            await home.commit(await claimed(home), scored())
            (old,) = await home.submissions()
            told = {"measures": {"instance_strict": {"f1": 0.75, "precision": None}}}
            new = Version(2, {"instance_strict": 0.7501}, told, "date|y|v0.1.0", "gold")
            assert await home.add_version(old, new)
            assert not await home.add_version(old, new), "it is there already"
            (kept,) = await home.submissions()
        assert (kept.version, kept.scores) == (2, {"instance_strict": 0.7501})
        assert queue.annotations(key)["instance_strict_f1"] == 0.75
        assert "instance_strict_precision" not in queue.annotations(key), "a value that is gone is taken away"

    run(tmp_path, test)


def test_feedback_of_the_ladder_comes_from_the_boards_writer(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            await home.commit(await claimed(home), scored(feedback=None))
            (waiting,) = await home.submissions()
            assert (waiting.feedback, "instance_strict_f1" in queue.annotations(key)) == (None, False)
            await home.publish_feedback(waiting, {"measures": {"instance_strict": {"f1": 0.5}}})
            puts = queue.standin.count("PUT", STATUS)
            await home.publish_feedback(waiting, {"measures": {"instance_strict": {"f1": 0.5}}})
            (told,) = await home.submissions()
        assert told.feedback == {"measures": {"instance_strict": {"f1": 0.5}}}
        assert (queue.annotations(key)["instance_strict_f1"], queue.standin.count("PUT", STATUS)) == (0.5, puts)

    run(tmp_path, test)


def test_an_organiser_who_wants_no_scores_on_synapse_gets_none(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue, options={"annotate_scores": False}) as home:
            await home.commit(await claimed(home), scored())
        assert queue.status(key) == "SCORED"
        assert not [name for name in queue.annotations(key) if name.endswith("_f1")]

    run(tmp_path, test)
