"""Messages: to those they are for, at most once, and never at the cost of a submission."""

import asyncio
from pathlib import Path

import pytest
from released_samples import words
from submission_queue.standin.world import ORGANISER, PARTICIPANT
from submission_queue.synapse_homes import claimed, opened, run, scored
from submission_queue.synapse_standin import LOST, LOST_503, Fault, Queue

from sandscore.records.submission import Claim, Committed, Event, Notice

MESSAGE = "/message$"


def notice(claim: Claim, event: Event = Event.SCORED) -> Notice:
    return Notice(claim.submission, claim.attempt, event, words("Your submission was scored", "F1 <b>0.5</b>"))


def test_the_team_is_told_once(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}", team="3001")
        async with opened(queue, "a") as a, opened(queue, "b") as b:
            claim = await claimed(a)
            told = await asyncio.gather(a.notify(notice(claim)), b.notify(notice(claim)))
            assert list(told) == [True, False], "by the state whose worker has the claim"
            assert await a.notify(notice(claim)) is False
            assert await a.notify(notice(claim, Event.STARTED)) is True
        (first,) = queue.world.messages
        assert (first["recipients"], first["subject"]) == (["3001"], "Your submission was scored")
        assert queue.world.contents[first["fileHandleId"]] == b"F1 <b>0.5</b>"
        assert queue.world.handles[first["fileHandleId"]]["contentType"] == "text/plain"
        assert len([one for one, *_ in queue.world.status_history if one == key]) == 1, "notices write no status"

    run(tmp_path, test)


@pytest.mark.parametrize("kind", [LOST, LOST_503])
def test_a_message_whose_answer_is_lost_is_not_sent_twice(tmp_path: Path, kind: str) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", MESSAGE, kind)]
        async with opened(queue) as home:
            assert await home.notify(notice(await claimed(home)))
        assert len(queue.world.messages) == 1
        assert queue.standin.count("POST", MESSAGE) == 1

    run(tmp_path, test)


def test_the_eleventh_message_of_a_minute_waits_and_holds_up_nothing(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", MESSAGE, 429)]
        async with opened(queue) as home:
            claim = await claimed(home)
            assert await home.notify(notice(claim))
            assert await home.commit(claim, scored()) is Committed.DONE
            assert queue.world.messages == []
        assert len(queue.world.messages) == 1

    run(tmp_path, test)


def test_what_needs_an_organiser_is_told_to_team_and_organiser(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue) as home:
            assert await home.notify(notice(await claimed(home), Event.NEEDS_ORGANISER))
        (message,) = queue.world.messages
        assert message["recipients"] == [PARTICIPANT, ORGANISER]

    run(tmp_path, test)


def test_events_nobody_wants_cost_no_request(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue, notices={"events": int(Event.INVALID)}) as home:
            claim = await claimed(home)
            before = len(queue.standin.log)
            assert await home.notify(notice(claim)) is False
            assert len(queue.standin.log) == before

    run(tmp_path, test)
