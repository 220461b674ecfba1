"""The outbox: nothing that was to be told is lost without a trace, and nothing is told twice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from msgspec.structs import replace
from released_samples import words
from submission_queue.synapse_homes import claimed, opened, run, scored
from submission_queue.synapse_standin import LOST, Fault, Queue, synapse

from sandscore.base.process_identity import own_name
from sandscore.queue.homes.synapse import synapse_notices, synapse_outbox
from sandscore.queue.homes.synapse.synapse_outbox import Delivery, Outbox, OutboxMessage, outbox_of
from sandscore.records.submission import Claim, Committed, Event, Notice

MESSAGE = "/message$"


def message(identity: str, event: Event = Event.SCORED, to: str = "1", **more: Any) -> OutboxMessage:
    return OutboxMessage(identity, int(event), identity, [to], f"about {identity}", "text", "", **more)


def filled(folder: Path, *messages: OutboxMessage) -> Outbox:
    box = Outbox(folder)
    for one in messages:
        assert box.prepare(one)
        assert box.release(one.identity)
    return box


def identities(taken: list[OutboxMessage]) -> list[str]:
    return [one.identity for one in taken]


def test_verdicts_go_first_and_beginnings_of_a_team_together(tmp_path: Path) -> None:
    box = filled(
        tmp_path,
        message("begun-1", Event.STARTED),
        message("begun-2", Event.STARTED, to="2"),
        message("begun-3", Event.STARTED),
        message("failed", Event.FAILED),
        message("invalid", Event.INVALID),
        message("scored", Event.SCORED),
    )
    order = []
    while taken := box.take():
        order.append(identities(taken))
        box.settle(taken, Delivery.SENT)
    assert order == [["scored"], ["invalid"], ["failed"], ["begun-1", "begun-3"], ["begun-2"]]
    assert box.listed() == []
    assert {one.delivery for one in box.listed(every=True)} == {"sent"}


def test_what_a_verdict_has_overtaken_is_not_sent_after_it(tmp_path: Path) -> None:
    """Verdicts go first: "it will be tried again" would arrive after "was cancelled". A second chance begins anew."""

    def about(event: Event, attempt: int, key: str = "12") -> OutboxMessage:
        return replace(message(f"{key}-{attempt}-{event.name}", event, attempt=attempt), submission=key)

    box = filled(tmp_path, about(Event.STARTED, 1), about(Event.FAILED, 1), about(Event.FAILED, 1, key="1"))
    assert box.prepare(about(Event.CANCELLED, 1))
    taken = box.take()
    assert identities(taken) == ["12-1-FAILED"], "the verdict has not come to pass yet"
    box.give_back(taken)
    assert box.release("12-1-CANCELLED")
    later = filled(tmp_path, about(Event.STARTED, 2), about(Event.FAILED, 2))
    order = []
    while taken := later.take():
        order.append(identities(taken))
        later.settle(taken, Delivery.SENT)
    assert order == [["12-1-CANCELLED"], ["1-1-FAILED"], ["12-2-FAILED"], ["12-2-STARTED"]]


def test_a_message_is_there_once_and_belongs_to_one(tmp_path: Path) -> None:
    box, other = filled(tmp_path, message("a")), Outbox(tmp_path)
    assert not other.prepare(message("a"))
    assert not box.release("a")
    taken = other.take()
    assert (identities(taken), box.take()) == (["a"], [])
    other.give_back(taken)
    assert identities(box.take()) == ["a"]
    other.settle(taken, Delivery.UNKNOWN, "no answer")
    (found,) = box.listed()
    assert (found.delivery, found.why, found.submission) == ("unknown", "no answer", "a")
    assert box.resend(["b"]) == []
    assert box.resend([]) == ["a"]
    assert [one.why for one in box.listed()] == [None]
    assert box.waiting() == 1


def test_what_the_dead_leave_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they were sending may have arrived; what they had prepared is looked into by whoever comes next."""
    box = filled(tmp_path, message("sending"))
    assert box.take()
    assert box.prepare(message("prepared", nonce="n", attempt=2))
    assert box.abandoned() == []
    monkeypatch.setattr(synapse_outbox, "gone", lambda owner: owner == own_name())
    (left,) = box.abandoned()
    assert (left.identity, left.is_verdict) == ("prepared", True)
    assert [(one.submission, one.delivery) for one in box.listed()] == [
        ("sending", "unknown"),
        ("prepared", "prepared"),
    ]
    box.undeliver(left, "never said")
    assert {one.delivery: one.why for one in box.listed()}["undelivered"] == "never said"


def test_a_damaged_message_is_passed_over(tmp_path: Path) -> None:
    box = filled(tmp_path, message("a"))
    (tmp_path / "waiting" / "b").write_bytes(b"{")
    (tmp_path / "waiting" / ".c.part").write_bytes(b"{}")
    assert identities(box.take()) == ["a"]
    assert box.take() == []


def notice(claim: Claim, event: Event = Event.SCORED) -> Notice:
    return Notice(claim.submission, claim.attempt, event, words(f"{claim.submission.id} {event.name}", "…"))


def subjects(queue: Queue) -> list[str]:
    return [one["subject"] for one in queue.world.messages]


def delivered(queue: Queue, name: str) -> list[tuple[str, str]]:
    return [(one.submission, one.delivery) for one in outbox_of(queue.folder / name).listed(every=True)]


def test_a_clean_stop_loses_none_of_eighty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Synapse takes none for as long as the worker tries at its end: all wait, and a later worker sends them."""
    monkeypatch.setattr(synapse_notices, "_DRAIN_SECONDS", 1.0)

    async def test(queue: Queue) -> None:
        usual: dict[str, Any] = {"options": {"requests_per_minute": 100_000}}
        queue.submit_file(b"{}")
        async with opened(queue, **usual) as home:
            claim = await claimed(home)
            queue.standin.faults = [Fault("POST", MESSAGE, 429, times=10**6)]
            for number in range(80):
                one = replace(claim, submission=replace(claim.submission, id=claim.submission.id, version=number))
                assert await home.notify(notice(one))
        box = outbox_of(queue.folder / "w")
        assert (len(subjects(queue)), box.waiting()) == (0, 80)
        queue.standin.faults = []
        async with opened(queue, **usual) as home:
            await home.claimable(1)
            while box.waiting():
                await asyncio.sleep(0.05)
        assert len(subjects(queue)) == 80
        assert {state for _, state in delivered(queue, "w")} == {"sent"}

    run(tmp_path, test)


def test_a_lost_answer_is_unknown_and_sent_again_only_when_told_to(tmp_path: Path) -> None:
    async def test(queue: Queue) -> str:
        key = queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", MESSAGE, LOST)]
        async with opened(queue, options={"evaluation": queue.id, "config": str(queue.config())}) as home:
            claim = await claimed(home)
            assert await home.commit(claim, scored()) is Committed.DONE
            assert await home.notify(notice(claim))
        async with opened(queue) as home:
            await home.claimable(1)
        assert (len(subjects(queue)), delivered(queue, "w")) == (1, [(key, "unknown")])
        return key

    with synapse(tmp_path / "synapse") as queue:
        key = asyncio.run(test(queue))
        where = ["--state", queue.folder / "w", "--synapse", queue.id, "--synapse-config", queue.config()]
        shown = sandscore("queue", "outbox", *where)
        assert (shown.code, key in shown.out, "unknown" in shown.out) == (0, True, True)
        (listed,) = json.loads(sandscore("queue", "outbox", *where, "--format", "json").out)
        assert (listed["submission"], listed["event"], listed["to"]) == (key, "scored", ["2001"])
        assert [sandscore("queue", "resend", *where, *more).code for more in ((), (key, "--all"))] == [2, 2]
        ran = sandscore("queue", "resend", *where, key, "--why", "asked by phone")
        assert (ran.code, "1 messages sent again, of which 0 wait" in ran.out) == (0, True), ran.err
        assert len(subjects(queue)) == 2
        assert json.loads(sandscore("queue", "outbox", *where, "--format", "json").out) == []
        assert "asked by phone" in sandscore("queue", "history", *where).out


@pytest.mark.parametrize("status", [403, 400])
def test_a_refused_message_is_known_to_be_undelivered(tmp_path: Path, status: int) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", MESSAGE, status)]
        async with opened(queue) as home:
            assert await home.notify(notice(await claimed(home)))
        assert [state for _, state in delivered(queue, "w")] == ["undelivered"]

    run(tmp_path, test)


@pytest.mark.parametrize(("commits", "found"), [(True, "sent"), (False, None)])
def test_a_worker_that_dies_around_its_commit_leaves_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commits: bool, found: str | None
) -> None:
    """It was prepared before; whoever comes next asks Synapse whether the verdict came to pass."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            home._on.mailbox.close = lambda: asyncio.sleep(0)  # type: ignore[attr-defined]
            if commits:
                assert await home.commit(claim, scored()) is Committed.DONE
            else:
                assert home._prepared(claim, scored()) is not None  # type: ignore[attr-defined]
        assert [state for _, state in delivered(queue, "w")] == ["prepared"]
        monkeypatch.setattr(synapse_outbox, "gone", lambda owner: True)
        async with opened(queue) as home:
            await home.claimable(1)
            for _ in range(100):
                if [state for _, state in delivered(queue, "w")] in ([], ["sent"]):
                    break
                await asyncio.sleep(0.05)
        assert delivered(queue, "w") == ([(key, found)] if found else [])
        assert len(subjects(queue)) == (1 if found else 0)

    run(tmp_path, test)


def test_beginnings_are_told_where_that_is_wanted_and_in_one_message(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        for _ in range(3):
            queue.submit_file(b"{}")
        async with opened(queue, options={"begun_messages": True}) as home:
            queue.standin.faults = [Fault("POST", MESSAGE, 429, times=10**6)]
            for _ in range(3):
                assert await home.notify(notice(await claimed(home), Event.STARTED))
            queue.standin.faults = []
        assert subjects(queue) == ["3 of your submissions are being evaluated"]

    run(tmp_path, test)


def test_an_embedded_queue_has_no_outbox(tmp_path: Path) -> None:
    from sandscore.base.bundled_content import example_gold

    made = sandscore("queue", "init", tmp_path / "q", "--challenge", example_gold() / "challenge.toml")
    assert made.code == 0, made.err
    assert sandscore("queue", "outbox", tmp_path / "q", "--format", "json").out.strip() == "[]"
    assert sandscore("queue", "resend", tmp_path / "q", "--all").code == 2
