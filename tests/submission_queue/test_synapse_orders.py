"""What organisers and the writer of the board do to submissions on Synapse."""

from pathlib import Path

from released_samples import released
from submission_queue.synapse_homes import STATUS, claimed, opened, run, scored
from submission_queue.synapse_standin import Queue

from sandscore.records.submission import Committed, Version


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
            new = Version(2, {"instance_strict": 0.7501}, released(told), "date|y|v0.1.0", "gold")
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
            await home.publish_feedback(waiting, released({"measures": {"instance_strict": {"f1": 0.5}}}))
            puts = queue.standin.count("PUT", STATUS)
            await home.publish_feedback(waiting, released({"measures": {"instance_strict": {"f1": 0.5}}}))
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
