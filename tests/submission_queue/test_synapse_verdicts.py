"""Verdicts on Synapse: committed at most once, merged with what is there, and nothing exact beside the status."""

import asyncio
import json
from pathlib import Path

import pytest
from released_samples import released
from submission_queue.synapse_homes import STATUS, claimed, finals, opened, run, scored
from submission_queue.synapse_standin import LOST, LOST_503, Fault, Queue

from sandscore.records.submission import Committed, Status, Verdict


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
            assert (
                await home.commit(await claimed(home), scored(feedback=released({"measures": measures})))
                is Committed.DONE
            )
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
            assert (
                await home.commit(await claimed(home), scored(feedback=released({"measures": measures})))
                is Committed.DONE
            )
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


def test_invalid_says_why_and_does_not_score(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            verdict = Verdict(Status.INVALID, released("3 annotations lie outside their note " + "x" * 600))
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
            assert await home.release(await claimed(home), "the engine was gone") is Committed.DONE
            assert queue.status(key) == "RECEIVED"
            assert queue.annotations(key)["reason"] == "a failure of ours, which costs no quota"
            assert await home.claimable(1) == []
            waited = await home.seconds_until_claimable()
            assert waited is not None
            assert 0 < waited <= 0.3
            await asyncio.sleep(waited)
            assert await home.release(await claimed(home), "again") is Committed.DONE
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
            assert await home.release(await claimed(home), "stopped", our_fault=False) is Committed.DONE
            claim = await claimed(home)
            assert (claim.attempt, claim.submission.failures) == (2, 0)

    run(tmp_path, test)
