"""Lists: whole before anything is changed, oldest first, polite to the service."""

from pathlib import Path

import pytest
from submission_queue.synapse_homes import claimed, opened, run, scored
from submission_queue.synapse_standin import Fault, Queue

from sandscore.base.errors import ParticipantFault
from sandscore.records.submission import Committed, Status, SubmissionKind

BUNDLES = "bundle/all"


def test_forty_five_submissions_are_all_seen_although_each_claim_shifts_the_list(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(45)]
        async with opened(queue) as home:
            listed = await home.claimable(100)
            assert [one.id for one in listed] == keys
            assert all([await home.claim(one, "w1", 30) for one in listed])
            assert await home.claimable(100) == []

    run(tmp_path, test)


def test_a_long_list_is_read_once_and_worked_off(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(30)]
        done: list[str] = []
        async with opened(queue) as home:
            before = queue.standin.count("GET", BUNDLES)
            while len(done) < 30:
                for one in await home.claimable(4):
                    assert await home.claim(one, "w1", 30) is not None
                    done.append(one.id)
            # 30 RECEIVED on one page, two empty lists, and once all of every status for whose turn it is
            assert queue.standin.count("GET", BUNDLES) - before == 4
        assert done == keys

    run(tmp_path, test)


def test_an_idle_queue_is_looked_at_now_and_then(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        async with opened(queue, options={"poll_seconds": 60}) as home:
            for _ in range(20):
                assert await home.claimable(4) == []
                assert await home.seconds_until_claimable() is None
        assert queue.standin.count("GET", BUNDLES) == 1 + 3

    run(tmp_path, test)


def test_nothing_is_left_only_after_a_look_at_the_queue(tmp_path: Path) -> None:
    """What was handed out and came back is seen although the list is young."""

    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue, options={"poll_seconds": 60}, first_wait_seconds=30) as home:
            claim = await claimed(home)
            assert await home.seconds_until_claimable() is not None
            await home.release(claim, "the engine was gone")
            waiting = await home.seconds_until_claimable()
            assert waiting is not None
            assert waiting > 0

    run(tmp_path, test)


def test_who_what_and_when(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        alone, team, image = queue.submit_file(b"{}"), queue.submit_file(b"{}", team="3001"), queue.submit_image()
        async with opened(queue) as home:
            listed = await home.submissions()
            await home.submissions()
        assert [one.id for one in listed] == [alone, team, image]
        assert [one.team for one in listed] == ["user-2001", "Team Rocket", "user-2001"]
        assert [one.submitter for one in listed] == ["2001", "3001", "2001"]
        assert [one.kind for one in listed] == [
            SubmissionKind.PREDICTIONS,
            SubmissionKind.PREDICTIONS,
            SubmissionKind.IMAGE,
        ]
        assert all(one.task == "date" and one.created.endswith("Z") for one in listed)
        assert queue.standin.count("GET", "/userProfile/2001") == 1

    run(tmp_path, test)


def test_a_team_without_a_readable_name_is_called_by_its_number(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}", team="3999")
        async with opened(queue) as home:
            (one,) = await home.submissions()
        assert one.team == "team 3999"

    run(tmp_path, test)


def test_a_throttled_list_is_whole(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(25)]
        async with opened(queue) as home:
            queue.standin.faults = [Fault("GET", BUNDLES, 429, after=1), Fault("GET", BUNDLES, 503, after=1)]
            assert [one.id for one in await home.submissions()] == keys

    run(tmp_path, test)


def test_the_task_of_a_queue_for_several_is_said_by_each_submission(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        named, annotated, filed = (queue.submit_file(b"{}", fileName=f"my_{one}-2.json") for one in ("x", "x", "date"))
        silent = queue.submit_file(b"{}")
        world = queue.world.submissions
        world[named]["name"] = "our person-name run 3"
        bundle = world[annotated]["entityBundleJSON"]
        said = '"annotations": {"task": {"type": "STRING", "value": ["address"]}}'
        world[annotated]["entityBundleJSON"] = bundle.replace('"annotations": {}', said)
        world[silent]["name"] = "run 4"
        async with opened(queue, options={"task": None}) as home:
            listed = {one.id: one for one in await home.submissions()}
            assert [listed[one].task for one in (named, annotated, filed)] == ["person-name", "address", "date"]
            assert [(await claimed(home)).submission.id for _ in range(3)] == [named, annotated, filed]
            with pytest.raises(ParticipantFault, match="does not say its task"):
                await home.fetch_predictions(await claimed(home), tmp_path / "out.json", 10)

    run(tmp_path, test)


def test_statuses_of_other_tools_are_shown_as_ended(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            queue.change(key, status="ACCEPTED")
            (one,) = await home.submissions()
            assert (one.status, await home.claimable(1)) == (Status.CLOSED, [])
            queue.change(key, status="RECEIVED")
            assert await home.commit(await claimed(home), scored()) is Committed.DONE

    run(tmp_path, test)
