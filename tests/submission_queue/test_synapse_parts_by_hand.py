"""The parts of Synapse's home, one at a time, with stand-ins for the client; numbers are counted by hand."""

import asyncio
import datetime
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from released_samples import released

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.disclosure.released import CALLED_BACK
from sandscore.queue.homes.synapse import (
    account_budget,
    synapse_claims,
    synapse_listing,
    synapse_parts,
    synapse_session,
)
from sandscore.queue.homes.synapse.account_budget import AccountBudget, Lane, _seconds, lane_of
from sandscore.queue.homes.synapse.status_record import (
    KEY,
    SCORES,
    Record,
    key,
    merged,
    read_record,
    scores,
    text,
    with_marks,
    without_scores,
)
from sandscore.queue.homes.synapse.synapse_claims import SynapseClaims, SynapseLeases, after, ended
from sandscore.queue.homes.synapse.synapse_errors import Refused, clean, told
from sandscore.queue.homes.synapse.synapse_folders import Logs
from sandscore.queue.homes.synapse.synapse_listing import ListedSubmission, SubmittedWork, WaitingList
from sandscore.queue.homes.synapse.synapse_row import SynapseRow
from sandscore.queue.homes.synapse.synapse_session import Session, new_cache
from sandscore.queue.homes.synapse.synapse_statuses import Change, Seen, Statuses, seen
from sandscore.queue.homes.synapse.synapse_submissions import Results, TeamNames, bundle_of, image_of
from sandscore.queue.settings import QueueSettings
from sandscore.records.submission import (
    CANCELLED,
    Claim,
    Committed,
    Signal,
    Status,
    Submission,
    SubmissionKind,
    Verdict,
)

HELD = Record(attempt=2, nonce="n", owner="o", lease=30.0, beat=4)
IN_PROGRESS = Status.EVALUATION_IN_PROGRESS


def raw(status: str = "RECEIVED", record: Record | None = None, **more: Any) -> dict[str, Any]:
    """As Synapse sends it."""
    usual: dict[str, Any] = {"id": "7", "etag": "e", "canCancel": True, "cancelRequested": False}
    held = {KEY: {"type": "STRING", "value": [record.written()]}} if record else {}
    return {"status": status, "submissionAnnotations": {"annotations": held}} | usual | more


def status(code: Status | None, record: Record = HELD, cancel: bool = False, **shown: Any) -> Seen:
    return Seen(code, record, cancel, shown, raw())


# One status


class Stored:
    """Statuses as the service holds them: answers of writes, and what was written."""

    def __init__(self, *answers: int | None, latest: Callable[[], Any] = raw) -> None:
        self.answers, self.latest, self.written, self.reads = list(answers), latest, list[Any](), 0

    async def rest_get_async(self, uri: str) -> Any:
        assert uri == "/evaluation/submission/7/status"
        self.reads += 1
        return self.latest()

    async def rest_put_async(self, uri: str, body: str) -> Any:
        assert uri == "/evaluation/submission/7/status"
        self.written.append(json.loads(body))
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise Refused("refused", answer)
        return self.written[-1] | {"etag": "new"}


def of(stored: Stored) -> Statuses:
    async def vital(what: str, work: Any) -> Any:
        return await work

    return Statuses(SimpleNamespace(client=stored, vital=vital))  # type: ignore[arg-type]


def changed(stored: Stored, edit: Any, first: Seen | None = None) -> bool:
    return asyncio.run(of(stored).change("7", edit, first))


def test_a_change_is_made_once_more_after_a_412() -> None:
    stored = Stored(412, 412)
    asked: list[Seen] = []

    def edit(now: Seen) -> Change:
        asked.append(now)
        return Change(Record(attempt=5), Status.VALIDATED, can_cancel=False, cancel=True, annotations={"a": [1.0]})

    assert changed(stored, edit)
    assert len(asked) == 3
    last = stored.written[-1]
    assert (last["status"], last["canCancel"], last["cancelRequested"]) == ("VALIDATED", False, True)
    assert last["submissionAnnotations"]["annotations"]["a"] == {"type": "DOUBLE", "value": [1.0]}
    assert (seen(last).record.attempt, len(seen(last).record.mark)) == (5, 12)


def test_what_was_written_is_remembered_but_not_believed_where_nothing_is_to_be_done() -> None:
    """Two changes are one read and two writes; a third that wants nothing reads once more."""
    stored = Stored()

    async def go() -> None:
        statuses = of(stored)
        assert await statuses.change("7", lambda now: Change(Record(attempt=1)))
        assert await statuses.change("7", lambda now: Change(replace(now.record, beat=now.record.attempt)))
        assert (stored.reads, [seen(one).record.beat for one in stored.written]) == (1, [0, 1])
        assert stored.written[1]["etag"] == "new"
        assert not await statuses.change("7", lambda now: None)
        assert stored.reads == 2

    asyncio.run(go())


def test_annotations_of_other_tools_keep_their_types() -> None:
    """Types and values as the service's annotations have them (org.sagebionetworks.repo.model.annotation.v2)."""
    theirs = {
        "flag": {"type": "BOOLEAN", "value": ["true"]},
        "when": {"type": "TIMESTAMP_MS", "value": ["1700000000000"]},
        "count": {"type": "LONG", "value": ["3", "4"]},
        "ratio": {"type": "DOUBLE", "value": ["0.25"]},
        "empty": {"type": "STRING", "value": []},
    }
    frame = {"id": "7", "etag": "e7", "concreteType": "org.sagebionetworks.repo.model.annotation.v2.Annotations"}
    stored = Stored(latest=lambda: raw(submissionAnnotations=frame | {"annotations": theirs}, report="r"))
    assert changed(stored, lambda now: Change(now.record, annotations={"a_f1": [0.5], "reason": ["why"]}))
    held = stored.written[0]["submissionAnnotations"]["annotations"]
    assert {name: held[name] for name in theirs} == theirs
    assert (held["a_f1"]["type"], held["reason"]["type"], stored.written[0]["report"]) == ("DOUBLE", "STRING", "r")
    assert {name: stored.written[0]["submissionAnnotations"][name] for name in frame} == frame
    found = seen(stored.latest()).annotations
    assert (found["ratio"], found["count"], found["flag"]) == ([0.25], [3, 4], ["true"])


def test_scores_of_ours_are_told_from_others() -> None:
    """What was written by a version that kept no marks is known by its endings, beside a signature."""
    ours = with_marks({"a_f1": [0.5], "b_f1": None})
    assert ours[SCORES] == [hashlib.sha256(b"a_f1").hexdigest()[:4]]
    shown = dict(ours) | {"other_f1": [0.1], "signature": ["s"], "reason": ["r"]}
    assert set(without_scores(shown)) == {"a_f1", "reason", "finished", "signature", SCORES}
    old = {"a_f1": [0.5], "a_recall": [0.5], "count": [3.0], "signature": ["s"], "b_f1": ["text"]}
    assert set(without_scores(old)) == {"a_f1", "a_recall", "reason", "finished", "signature", SCORES}
    assert "a_f1" not in without_scores({"a_f1": [0.5]})
    assert with_marks({}) == {}


@pytest.mark.parametrize("code", [400, 403, 409, 411, 413, 500])
def test_other_refusals_are_told(code: int) -> None:
    with pytest.raises(Refused):
        changed(Stored(code), lambda now: Change(now.record))


def test_what_is_not_to_be_changed_stays() -> None:
    stored = Stored()
    assert not changed(stored, lambda now: None)
    assert changed(stored, lambda now: Change(now.record))
    first = stored.written[0]
    assert (first["status"], first["canCancel"], first["cancelRequested"]) == ("RECEIVED", True, False)
    with pytest.raises(InfrastructureFault, match="changed by others all the time"):
        changed(Stored(*[412] * 8), lambda now: Change(now.record))
    assert changed(Stored(*[412] * 7), lambda now: Change(now.record))


def test_the_first_look_is_used_and_an_own_mark_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda number: "m" * number)
    stored = Stored(412, latest=lambda: raw(record=Record(mark="m" * 6)))
    before = seen(raw())
    marks: list[str] = []

    def edit(now: Seen) -> Change:
        marks.append(now.record.mark)
        return Change(now.record)

    assert changed(stored, edit, before)
    assert marks == [""]


def test_statuses_as_they_are_read() -> None:
    assert seen(raw("OPEN")).status is None
    assert seen(raw("SCORED")).status is Status.SCORED
    assert seen(raw(cancelRequested=True)).cancel
    assert not seen(raw(cancelRequested=True, canCancel=False)).cancel
    assert not seen(raw(cancelRequested=None)).cancel
    assert seen(raw(record=HELD)).record == HELD
    assert seen({"id": 7, "submissionAnnotations": None}).annotations == {}


# The record beside it


def test_a_record_keeps_within_five_hundred_characters() -> None:
    assert Record().written() == "{}"
    assert Record(attempt=1, lease=2.5).written() == '{"attempt":1,"lease":2.5}'
    full = Record(told=tuple(str(number) for number in range(100, 300)))
    kept = read_record({KEY: [full.written()]}).told
    assert kept[-1] == "299"
    assert len(full.written()) <= 490 < len(replace(full, told=("999", *kept)).written()) + 6
    for damaged in (None, "x", [], ["{"], ["[]"], ['{"attempt":"x"}']):
        assert read_record({KEY: damaged}) == Record()


def test_scores_as_annotations() -> None:
    feedback = {"measures": {"token (o/w)": {"f1": 1, "precision": True, "recall": float("nan")}, "b": {"f1": 0.5}}}
    shown = scores(feedback)
    assert {name: value for name, value in shown.items() if value} == {"token_o_w_f1": [1.0], "b_f1": [0.5]}
    assert list(shown)[:2] == ["token_o_w_f1", "b_f1"]
    assert scores({}) == scores({"measures": 7}) == {}
    assert (key("a-b"), key("--"), text("x" * 501), text(""), text(None)) == ("a_b", "_", ["x" * 500], None, None)


def test_annotations_of_others_stay() -> None:
    record = Record(attempt=1)
    assert merged({"a": 1, "b": 2, KEY: 0}, {"a": None, "b": 3, "c": None}, record) == {"b": 3, KEY: [record.written()]}
    many = {f"k{number}": number for number in range(120)}
    full = merged({"old": 1}, many, record)
    assert len(full) == 100
    assert ("k97" in full, "k98" in full, full["old"]) == (True, False, 1)
    assert merged(many, {"k3": 7}, record)["k3"] == 7


# Leases and claims


@pytest.mark.parametrize(
    ("now", "wait"),
    [
        (status(Status.RECEIVED, Record()), 0.0),
        (status(Status.RECEIVED, Record(help=True)), None),
        (status(Status.RECEIVED, Record(after="nonsense")), 0.0),
        (status(Status.RECEIVED, Record(after="9999-01-01T00:00:00Z")), 3600.0),
        (status(Status.RECEIVED, Record(after="9999-01-01T00:00:00Z"), cancel=True), 0.0),
        (status(Status.RECEIVED, Record(after="1999-01-01T00:00:00Z")), 0.0),
        (status(None), None),
        (status(Status.SCORED), None),
        (status(IN_PROGRESS, Record()), None),
    ],
)
def test_how_long_to_wait(now: Seen, wait: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synapse_claims, "LONGEST_SECONDS", 3600.0)
    assert SynapseLeases().wait(now) == wait


def test_a_lease_is_judged_by_our_own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, dead = [100.0], list[str]()
    monkeypatch.setattr(synapse_claims, "uptime", lambda: clock[0])
    monkeypatch.setattr(synapse_claims, "gone", lambda owner: owner in dead)
    leases, now = SynapseLeases(), status(Status.VALIDATED)
    assert leases.wait(now) == 30.0
    clock[0] = 120.0
    assert leases.wait(now) == 10.0
    assert leases.wait(status(IN_PROGRESS, replace(HELD, beat=5))) == 30.0
    clock[0] = 151.0
    assert leases.wait(status(IN_PROGRESS, replace(HELD, beat=5))) == 0.0
    leases.wait(status(Status.RECEIVED, Record()))
    assert leases.wait(status(IN_PROGRESS, replace(HELD, beat=5))) == 30.0
    dead.append("o")
    assert leases.wait(status(IN_PROGRESS, replace(HELD, beat=6))) == 0.0


class Edited:
    """Statuses that show what is there and keep what is written; ``lost``: the write is not taken."""

    def __init__(self, now: Seen, lost: bool = False) -> None:
        self.now, self.lost, self.change_made = now, lost, None  # type: Seen, bool, Change | None

    async def change(self, submission_id: str, edit: Any, first: Seen | None = None) -> bool:
        self.change_made = edit(self.now)
        return self.change_made is not None and not self.lost


ONE = Submission("7", "t", "date", SubmissionKind.IMAGE, Status.RECEIVED, "2026-01-01T00:00:00Z")
CLAIM = Claim(ONE, 2, "o", "n", 30.0)


def claims(edited: Edited, **settings: Any) -> SynapseClaims:
    chosen = QueueSettings(data={}, **settings)

    async def running() -> dict[str, Seen]:
        return {"7": edited.now}

    return SynapseClaims(edited, running, SynapseLeases(), chosen, annotate_scores=True, by="me")  # type: ignore[arg-type]


def test_a_claim() -> None:
    held_by_another = status(IN_PROGRESS)
    free = Edited(status(Status.RECEIVED, Record(attempt=2, losses=1, failures=3, after="x")))
    held = asyncio.run(claims(free).claim(ONE, "w" * 90, 5.0, None))
    assert isinstance(held, Claim)
    assert (held.attempt, held.submission.status, held.lease_seconds, len(held.nonce)) == (3, IN_PROGRESS, 5.0, 24)
    written = free.change_made
    assert written is not None
    assert (written.status, written.can_cancel, written.cancel) == (IN_PROGRESS, True, False)
    assert (written.record.attempt, written.record.owner, written.record.lease, written.record.beat) == (
        3,
        "w" * 80,
        5.0,
        0,
    )
    assert written.record.by == "me"
    assert (written.record.losses, written.record.failures, written.record.after) == (1, 3, "")
    for now, lost in (
        (status(Status.RECEIVED, Record()), True),
        (status(Status.SCORED), False),
        (held_by_another, False),
    ):
        nothing = Edited(now, lost)
        assert asyncio.run(claims(nothing).claim(ONE, "o", 5.0, None)) is None


def test_a_claim_of_what_was_called_back_or_lost_too_often(monkeypatch: pytest.MonkeyPatch) -> None:
    back = Edited(status(Status.RECEIVED, Record(), cancel=True))
    assert asyncio.run(claims(back).claim(ONE, "o", 5.0, None)) == Verdict(Status.REJECTED, CALLED_BACK)
    assert back.change_made is not None
    assert (back.change_made.status, back.change_made.annotations["reason"]) == (Status.REJECTED, [CANCELLED])
    monkeypatch.setattr(synapse_claims, "gone", lambda owner: True)
    dead = Edited(status(IN_PROGRESS, replace(HELD, losses=1)))
    assert asyncio.run(claims(dead, most_losses=2).claim(ONE, "o", 5.0, None)) is None
    assert dead.change_made is not None
    assert (dead.change_made.status, dead.change_made.record.help) == (Status.RECEIVED, True)
    assert (dead.change_made.record.nonce, dead.change_made.record.lease) == ("", 0.0)
    again = asyncio.run(claims(dead, most_losses=3).claim(ONE, "o", 5.0, None))
    assert again is not None
    assert dead.change_made.record.losses == 2


def test_heartbeats() -> None:
    def beat(now: Seen, lost: bool = False) -> tuple[Signal, Change | None]:
        edited = Edited(now, lost)
        return asyncio.run(claims(edited).heartbeat(CLAIM)), edited.change_made

    signal, change = beat(status(IN_PROGRESS))
    assert change is not None
    assert (signal, change.record.beat, change.status) == (Signal.GO_ON, 5, None)
    assert beat(status(Status.VALIDATED, cancel=True))[0] is Signal.CANCEL
    assert beat(status(IN_PROGRESS), lost=True)[0] is Signal.LOST
    assert beat(status(Status.SCORED))[0] is Signal.LOST
    assert beat(status(IN_PROGRESS, replace(HELD, attempt=3)))[0] is Signal.LOST
    assert beat(status(IN_PROGRESS, replace(HELD, nonce="x")))[0] is Signal.LOST


def test_a_lease_is_written_three_times_in_its_length_and_looked_at_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty seconds: a claim at 0 is written again at 10, not at 9.9."""
    clock = [100.0]
    monkeypatch.setattr(synapse_claims, "uptime", lambda: clock[0])
    edited = Edited(status(Status.RECEIVED, Record()))
    mine = claims(edited)
    claim = asyncio.run(mine.claim(ONE, "o", 30.0, None))
    assert isinstance(claim, Claim)

    def beat(now: Seen, at: float) -> tuple[Signal, bool]:
        """What it says, and whether it was written."""
        clock[0], edited.now, edited.change_made = at, now, None
        return asyncio.run(mine.heartbeat(claim)), edited.change_made is not None

    held = status(IN_PROGRESS, replace(HELD, attempt=1, nonce=claim.nonce))
    assert beat(held, 109.9) == (Signal.GO_ON, False)
    assert beat(replace(held, cancel=True), 109.9) == (Signal.CANCEL, False)
    assert beat(replace(held, cancel=True), 110.0) == (Signal.CANCEL, True)
    assert beat(status(IN_PROGRESS, HELD), 110.0) == (Signal.LOST, False)


SCORED = Verdict(Status.SCORED, None, {}, released({"measures": {"m": {"f1": 0.5}}}), "sig")


def test_verdicts() -> None:
    def commit(now: Seen, verdict: Verdict = SCORED) -> tuple[Committed, Change | None]:
        edited = Edited(now)
        return asyncio.run(claims(edited).commit(CLAIM, verdict)), edited.change_made

    done, change = commit(status(Status.VALIDATED, replace(HELD, failures=1, losses=2, version=1, after="x")))
    assert (done, change is not None) == (Committed.DONE, True)
    assert change is not None
    assert (change.status, change.can_cancel, change.annotations["m_f1"]) == (Status.SCORED, False, [0.5])
    record = change.record
    assert (record.version, record.fed, record.failures, record.losses, record.after) == (2, True, 0, 0, "")
    assert (record.attempt, record.nonce) == (2, "n")
    assert commit(status(IN_PROGRESS, cancel=True))[0] is Committed.CANCELLED
    assert commit(status(IN_PROGRESS), Verdict(Status.REJECTED, released(CANCELLED)))[0] is Committed.CANCELLED
    assert commit(status(Status.SCORED))[0] is Committed.DONE
    assert commit(status(Status.REJECTED, reason=[CANCELLED]))[0] is Committed.CANCELLED
    assert commit(status(Status.RECEIVED))[0] is Committed.STALE
    assert commit(status(Status.SCORED, replace(HELD, attempt=3)))[0] is Committed.STALE
    assert commit(status(None))[0] is Committed.STALE
    invalid = ended(status(IN_PROGRESS), Verdict(Status.INVALID, released("bad")), scores=True)
    assert (invalid.record.version, invalid.record.fed, invalid.annotations["reason"]) == (0, False, ["bad"])
    assert not ended(status(IN_PROGRESS), Verdict(Status.SCORED)).record.fed


def test_handing_back() -> None:
    def release(now: Seen, ours: bool, **settings: Any) -> Change | None:
        edited = Edited(now)
        asyncio.run(claims(edited, **settings).release(CLAIM, "stopped", our_fault=ours))
        return edited.change_made

    clean_stop = release(status(IN_PROGRESS, replace(HELD, failures=1, losses=3)), ours=False)
    assert clean_stop is not None
    record = clean_stop.record
    assert (record.failures, record.losses, record.help, record.after, record.nonce) == (1, 0, False, "", "")
    assert (clean_stop.status, clean_stop.annotations["reason"]) == (Status.RECEIVED, ["stopped"])
    failed = release(status(IN_PROGRESS, replace(HELD, failures=1)), ours=True, most_failures=3)
    assert failed is not None
    assert (failed.record.failures, failed.record.help, bool(failed.record.after)) == (2, False, True)
    assert "stopped" not in str(failed.annotations["reason"])
    last = release(status(IN_PROGRESS, replace(HELD, failures=1)), ours=True, most_failures=2)
    assert last is not None
    assert last.record.help
    assert release(status(Status.SCORED), ours=True) is None
    edited, told = Edited(status(IN_PROGRESS, cancel=True)), list[Verdict]()
    over = asyncio.run(
        claims(edited).release(CLAIM, "", our_fault=True, ending=lambda _, verdict: told.append(verdict))
    )
    assert [over] == told == [Verdict(Status.REJECTED, CALLED_BACK)]
    back = release(status(IN_PROGRESS, cancel=True), ours=True)
    assert back is not None
    assert back.status is Status.REJECTED
    assert after(60.0).endswith("Z")


# Lists


def test_a_list_serves_until_it_is_used_up_or_old(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reads = [0.0], list[int]()
    monkeypatch.setattr(synapse_listing, "uptime", lambda: clock[0])
    waiting = [
        ListedSubmission(SubmittedWork(str(number), created_on="x", team_id="7"), status(Status.RECEIVED, record))
        for number, record in ((1, Record()), (2, Record(help=True)), (3, Record()), (4, Record()))
    ]

    async def listed() -> list[ListedSubmission]:
        reads.append(1)
        return list(waiting)

    async def lately() -> list[ListedSubmission]:
        return []

    async def go() -> None:
        listing: Any = SimpleNamespace(open=listed, lately=lately)
        queue = WaitingList(listing, SynapseLeases(), 10.0)
        assert [one.id for one in await queue.claimable(2)] == ["1", "3"]
        assert queue.take("1") is waiting[0].now
        assert queue.take("1") is None
        assert await queue.seconds() == 0.0
        clock[0] = 59.0
        assert [one.id for one in await queue.claimable(2)] == ["3", "4"]
        assert [queue.take(key) for key in ("3", "4")] == [waiting[2].now, waiting[3].now]
        assert len(reads) == 1
        assert await queue.seconds() == 0.0
        assert len(reads) == 2
        clock[0] = 119.0
        for one in await queue.claimable(9):
            queue.take(one.id)
        assert len(reads) == 3
        waiting[:] = waiting[1:2]
        assert await queue.seconds() is None
        assert len(reads) == 4
        clock[0] = 128.9
        assert await queue.seconds() is None
        assert len(reads) == 4
        clock[0] = 129.0
        assert await queue.seconds() is None
        assert len(reads) == 5

    asyncio.run(go())
    day = "2026-03-01T09:30:00"
    ages = [
        ListedSubmission(SubmittedWork(key, created_on=came), waiting[0].now).age
        for key, came in (("10", f"{day}.000Z"), ("9", f"{day}Z"), ("8", f"{day}.001Z"), ("x", None))
    ]
    assert [key for _, _, key in sorted(ages)] == ["x", "9", "10", "8"]


# Requests


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.slept = 1000.0, list[float]()
        monkeypatch.setattr(account_budget, "uptime", lambda: self.now)
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def test_no_minute_holds_more_requests_than_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten a minute: one at once, the other nine 60/9 s apart, whoever of two workers asks."""
    clock, moments = Clock(monkeypatch), list[float]()
    workers = [AccountBudget(tmp_path, 10), AccountBudget(tmp_path, 10)]

    async def go() -> None:
        for number in range(30):
            await workers[number % 2].turn(Lane.REQUEST)
            moments.append(clock.now)

    asyncio.run(go())
    assert max(sum(begin <= one < begin + 60 for one in moments) for begin in moments) <= 10
    assert moments[-1] - moments[0] == pytest.approx(29 * 60 / 9, abs=0.01)


def test_statuses_and_messages_have_a_pace_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A status a second and a hundredth; three messages at once, then one in 60/7 s: ten in the first minute."""
    clock = Clock(monkeypatch)
    budget = AccountBudget(tmp_path, 540)

    async def go(lane: Lane, count: int) -> float:
        begun = clock.now
        for _ in range(count):
            await budget.turn(lane)
        return clock.now - begun

    assert asyncio.run(go(Lane.STATUS, 5)) == pytest.approx(4 * 1.01)
    assert asyncio.run(go(Lane.MESSAGE, 3)) == 0
    assert budget.wait_for_message() == pytest.approx(60 / 7)
    assert asyncio.run(go(Lane.MESSAGE, 7)) == pytest.approx(60)
    assert asyncio.run(go(Lane.REQUEST, 1)) == 0


def test_pauses_that_are_asked_for_and_pauses_that_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What says how long holds for everything; what says nothing only for its own kind, and longer each time."""
    clock = Clock(monkeypatch)
    one, other = AccountBudget(tmp_path, 600), AccountBudget(tmp_path, 600)
    one.heed(Lane.STATUS, 429, "7")
    one.heed(Lane.STATUS, 429, "3")
    one.heed(Lane.STATUS, 200, "99")
    asyncio.run(other.turn(Lane.REQUEST))
    assert clock.slept == [7.0]
    clock.slept.clear()
    for expected in (1.0, 2.0, 4.0):
        one.heed(Lane.MESSAGE, 429)
        asyncio.run(other.turn(Lane.REQUEST))
        assert other.wait_for_message() == pytest.approx(expected)
        clock.now += 20
    assert clock.slept == []
    other.heed(Lane.MESSAGE, 201)
    one.heed(Lane.MESSAGE, 429)
    assert other.wait_for_message() == pytest.approx(1.0)
    one.heed(Lane.REQUEST, 503)
    asyncio.run(other.turn(Lane.REQUEST))
    assert clock.slept == []
    one.heed(Lane.REQUEST, 503, "999")
    asyncio.run(other.turn(Lane.REQUEST))
    assert clock.slept == [120.0]


def test_three_connections_and_those_of_the_dead_are_free_again(tmp_path: Path) -> None:
    async def go() -> None:
        one, other, lane = AccountBudget(tmp_path, 6000), AccountBudget(tmp_path, 6000), Lane.REQUEST
        held = [await one.begin(lane), await one.begin(lane), await other.begin(lane)]
        assert [len(locks) for locks in held] == [1, 1, 1]
        fourth = asyncio.ensure_future(other.begin(lane))
        await asyncio.sleep(0.05)
        assert not fourth.done()
        one.end(lane, held.pop())
        held.append(await asyncio.wait_for(fourth, 5))
        for locks in held:
            other.end(lane, locks)


def test_status_calls_of_all_workers_are_one_at_a_time(tmp_path: Path) -> None:
    """A second is over, and the first call still waits for its answer."""
    one, other = AccountBudget(tmp_path, 100_000), AccountBudget(tmp_path, 100_000)

    async def go() -> None:
        held = await one.begin(Lane.STATUS)
        second = asyncio.ensure_future(other.begin(Lane.STATUS))
        await asyncio.sleep(1.3)
        assert not second.done()
        one.end(Lane.STATUS, held)
        other.end(Lane.STATUS, await asyncio.wait_for(second, 10))

    asyncio.run(go())


def test_a_status_call_begins_a_pause_after_the_answer_of_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long that was under way: at 0 asked, at 5 answered, at 6.01 the next."""
    clock = Clock(monkeypatch)
    one, other = AccountBudget(tmp_path, 540), AccountBudget(tmp_path, 540)

    async def go() -> None:
        held = await one.begin(Lane.STATUS)
        clock.now += 5
        one.end(Lane.STATUS, held)
        other.end(Lane.STATUS, await other.begin(Lane.STATUS))
        assert clock.now == pytest.approx(1006.01)

    asyncio.run(go())


def test_a_budget_that_cannot_be_kept_or_read_is_each_processes_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = AccountBudget(tmp_path / "file", 60)
    asyncio.run(nowhere.turn(Lane.STATUS))
    assert asyncio.run(nowhere.begin(Lane.REQUEST)) == []
    for damaged in (b"x", b"\xff" * 108):
        (tmp_path / "turns").write_bytes(damaged)
        asyncio.run(asyncio.wait_for(AccountBudget(tmp_path, 60).turn(Lane.STATUS), 5))
        assert len((tmp_path / "turns").read_bytes()) == 108


def test_what_a_request_is_counted_as() -> None:
    assert lane_of("GET", "/repo/v1/evaluation/submission/7/status") is Lane.STATUS
    assert lane_of("PUT", "/repo/v1/evaluation/submission/7/status") is Lane.STATUS
    assert lane_of("GET", "/repo/v1/evaluation/7/submission/bundle/all") is Lane.REQUEST
    assert (lane_of("POST", "/repo/v1/message"), lane_of("GET", "/repo/v1/message")) == (Lane.MESSAGE, Lane.REQUEST)


def test_how_long_a_service_wants_to_be_left_alone() -> None:
    assert (_seconds(" 7 "), _seconds("-7"), _seconds(""), _seconds("soon")) == (7.0, 0.0, 0.0, 0.0)
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=100)
    assert 95 < _seconds(later.strftime("%a, %d %b %Y %H:%M:%S GMT")) <= 100
    assert 95 < _seconds(later.strftime("%a, %d %b %Y %H:%M:%S -0000")) <= 100


def session(**options: Any) -> Session:
    return Session(None, Path("nowhere"), SimpleNamespace(call_seconds=0.05, **options))  # type: ignore[arg-type]


def test_calls_end_in_time_and_rivals_are_no_fault() -> None:
    async def slow() -> None:
        await asyncio.sleep(5)

    with pytest.raises(InfrastructureFault, match=r"Synapse: waiting: no answer within 0\.05 seconds"):
        asyncio.run(session().call("waiting", slow()))
    with pytest.raises(InfrastructureFault, match=r"no answer within 0\.01 seconds"):
        asyncio.run(session().call("waiting", slow(), 0.01))
    with pytest.raises(InfrastructureFault, match="not connected"):
        session().client  # noqa: B018 (reading it is what fails)

    def made(*codes: int) -> Any:
        answers = list(codes)

        async def make() -> str:
            if answers:
                raise Refused("refused", answers.pop(0))
            return "made"

        return session().made("making", make)

    assert asyncio.run(made(409)) == asyncio.run(made()) == "made"
    for codes in ((409, 409), (404,)):
        with pytest.raises(Refused):
            asyncio.run(made(*codes))


def test_a_submission_that_may_not_be_read_is_not_of_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(code: int | None) -> bool:
        async def call(*_: Any) -> dict[str, Any]:
            if code is not None:
                raise Refused("refused", code)
            return {}

        asked = SimpleNamespace(call=call, client=SimpleNamespace(rest_get_async=lambda _: None))
        return asyncio.run(synapse_parts.belongs(asked, "7", "12"))  # type: ignore[arg-type]

    monkeypatch.setattr(synapse_parts, "submitted_work", lambda _: SimpleNamespace(evaluation_id=12))
    assert [answered(code) for code in (None, 400, 403, 404)] == [True, False, False, False]
    for code in (401, 405, 500):
        with pytest.raises(Refused):
            answered(code)


def test_caches_of_dead_processes_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def gone(owner: str) -> bool:
        asked.append(owner)
        return owner == "a/1/dead"

    monkeypatch.setattr(synapse_session, "gone", gone)
    for name in ("a_1_dead+x", "a_1_alive+y"):
        (tmp_path / synapse_session.FOLDER / name).mkdir(parents=True)
    made = new_cache(tmp_path)
    assert sorted(path.name for path in made.parent.iterdir()) == sorted(["a_1_alive+y", made.name])
    assert sorted(asked) == ["a/1/alive", "a/1/dead"]


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synapse_session, "find_spec", lambda name: None if name == "pandas" else name)
    with pytest.raises(UsageFault, match=r"a Synapse queue needs pandas: pip install 'sandscore\[synapse\]'"):
        synapse_session._want_packages()
    monkeypatch.setattr(synapse_session, "find_spec", str)
    synapse_session._want_packages()


def test_no_token_is_told() -> None:
    assert clean("Bearer abc  x") == "Bearer [hidden] x"
    assert clean("authtoken: abc") == "authtoken: [hidden]"
    assert clean("eyJx.y z") == "[hidden] z"
    assert clean("a?X-Amz-Key=1&b") == "a?X-Amz-Key=[hidden]&b"
    assert (len(clean("x" * 301)), clean("x" * 301)[-1], clean("x" * 300)) == (300, "…", "x" * 300)


@pytest.mark.parametrize(
    ("fault", "said"),
    [(OSError(111, "refused"), "refused"), (ValueError("x"), "an answer that cannot be understood"),
     (KeyError("k"), "'k'"), (TimeoutError(), "no answer within 3 seconds")],
)  # fmt: skip
def test_faults_of_the_client_as_sentences(fault: Exception, said: str) -> None:
    with pytest.raises(InfrastructureFault, match=f"^Synapse: asking: {said}$"), told("asking", 3):
        raise fault


def test_an_answer_along_the_chain() -> None:
    from synapseclient.core.exceptions import SynapseHTTPError

    response = SimpleNamespace(status_code=404, json=lambda: {"reason": "no such thing"})
    with pytest.raises(Refused, match="404 no such thing") as caught, told("asking", 3):
        raise SynapseHTTPError("x", response=response)
    assert caught.value.status == 404


# Submissions


def test_images_by_digest_and_bundles() -> None:
    digest = "sha256:" + "0" * 64

    def image(name: str | None, found: str | None = digest) -> str | None:
        return image_of(SimpleNamespace(docker_repository_name=name, docker_digest=found))

    assert image("docker.synapse.org/syn1/a") == f"docker.synapse.org/syn1/a@{digest}"
    for name, found in (
        ("a//b", digest),
        (None, digest),
        ("a", None),
        ("a", digest + "0"),
        ("-a", digest),
        ("a b", digest),
    ):
        assert image(name, found) is None
    assert image("a" * 501) is not None
    assert image("a" * 502) is None
    for written, read in (('{"a": 1}', {"a": 1}), (None, {}), ("[]", {}), ("{", {})):
        assert bundle_of(SimpleNamespace(entity_bundle_json=written)) == read


def test_results_of_the_current_version(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.keep("7", 1, {"m": 0.5}, {"rank": 1}, nonce="n")
    fed, unfed = Record(version=1, nonce="n", fed=True), Record(version=1, nonce="n")
    assert results.of("7", fed) == ({"m": 0.5}, {"rank": 1})
    assert results.of("7", unfed) == ({"m": 0.5}, None)
    assert results.of("7", replace(fed, nonce="x")) == ({}, {})
    assert results.of("7", replace(fed, version=2)) == ({}, {})
    results.keep("8", 1, {}, None)
    assert results.of("8", fed) == ({}, {})
    assert json.loads(next(tmp_path.glob("8-v1.json")).read_bytes()) == {"scores": {}, "feedback": None}


def test_who_has_no_name_is_called_by_the_id() -> None:
    def name(answer: Any, **who: Any) -> str:
        async def asked(kind: str, key: str) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

        names = TeamNames(session())
        names._ask = asked  # type: ignore[method-assign]
        return asyncio.run(names.of(SimpleNamespace(**{"team_id": None, "user_id": None} | who)))

    assert name("Lab", team_id=1, user_id=2) == "Lab"
    assert (name(None, team_id=1), name(None, user_id=2)) == ("team 1", "user 2")
    assert [name(Refused("x", code), team_id=1) for code in (400, 403, 404)] == ["team 1"] * 3
    for code in (401, 402, 405, 500):
        with pytest.raises(Refused):
            name(Refused("x", code), team_id=1)


@pytest.mark.parametrize(
    ("hidden", "sent"),
    [
        (True, [("7", ["problems.json"])]),
        (False, [("7", ["log.txt", "problems.json"]), ("locked", ["log.txt", "run.json"])]),
    ],
)
def test_no_log_of_hidden_notes_is_sent(hidden: bool, sent: Any, tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    for name in ("team/log.txt", "team/problems.json", "log.txt", "run.json"):
        (tmp_path / name).write_text("said", encoding="utf-8")
    (tmp_path / "problems.json").touch()
    told: list[Any] = []

    async def upload(_: Any, files: list[Path], place: str) -> None:
        told.append((place, [path.name for path in files]))

    async def place(who: str) -> str:
        return who

    async def locked(_: str) -> str:
        return "locked"

    folders = SimpleNamespace(of=place, locked=locked)
    logs = Logs(None, folders, lambda _: SimpleNamespace(notes_hidden=hidden))  # type: ignore[arg-type,return-value]
    logs._upload = upload  # type: ignore[method-assign,assignment]
    claim = SimpleNamespace(submission=SimpleNamespace(id="s", submitter="7"))
    asyncio.run(logs.send(claim, tmp_path))  # type: ignore[arg-type]
    assert told == sent


def test_synapse_is_asked_where_either_option_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandscore.queue.homes.synapse.synapse_access.check_access", lambda *given: [given])
    asked = [SynapseRow().check(chosen) for chosen in ({}, {"synapse": "1"}, {"synapse_config": "c"})]
    assert asked == [[], [(None, "1")], [("c", None)]]
