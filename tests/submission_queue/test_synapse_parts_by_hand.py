"""The parts of Synapse's home, one at a time, with stand-ins for the client; numbers are counted by hand."""

import asyncio
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from released_samples import released

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.queue.homes.synapse import synapse_claims, synapse_listing, synapse_session
from sandscore.queue.homes.synapse.status_record import KEY, Record, key, merged, read_record, scores, text
from sandscore.queue.homes.synapse.synapse_claims import SynapseClaims, SynapseLeases, after, ended
from sandscore.queue.homes.synapse.synapse_errors import Refused, clean, told
from sandscore.queue.homes.synapse.synapse_listing import ListedSubmission, WaitingList
from sandscore.queue.homes.synapse.synapse_session import RequestPace, Session, _seconds, new_cache
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


def model(status: str = "RECEIVED", record: Record | None = None, **more: Any) -> Any:
    usual: dict[str, Any] = {"id": 7, "can_cancel": True, "cancel_requested": False}
    annotations = {KEY: [record.written()]} if record else None
    return SimpleNamespace(**{"status": status, "submission_annotations": annotations} | usual | more)


def status(code: Status | None, record: Record = HELD, cancel: bool = False, **shown: Any) -> Seen:
    return Seen(code, record, cancel, shown, model())


# One status


class Stored:
    """Statuses as the service holds them: answers of writes, and what was written."""

    def __init__(self, *answers: int | None, latest: Callable[[], Any] = model) -> None:
        self.answers, self.latest, self.written = list(answers), latest, list[Any]()

    def read(self) -> Any:
        found = self.latest()

        async def store_async(synapse_client: Any) -> None:
            self.written.append(found)
            answer = self.answers.pop(0) if self.answers else None
            if answer is not None:
                raise Refused("refused", answer)

        found.store_async = store_async
        return found


def changed(stored: Stored, edit: Any, first: Seen | None = None) -> bool:
    async def call(what: str, work: Any, seconds: float | None = None) -> Any:
        return await work

    async def read(submission_id: str) -> Seen:
        return seen(stored.read())

    statuses = Statuses(SimpleNamespace(client=None, call=call))  # type: ignore[arg-type]
    statuses.read = read  # type: ignore[method-assign]
    return asyncio.run(statuses.change("7", edit, first))


def test_a_change_is_made_once_more_after_a_412() -> None:
    stored = Stored(412, 412)
    asked: list[Seen] = []

    def edit(now: Seen) -> Change:
        asked.append(now)
        return Change(Record(attempt=5), Status.VALIDATED, can_cancel=False, cancel=True, annotations={"a": [1.0]})

    assert changed(stored, edit)
    assert len(asked) == 3
    last = stored.written[-1]
    assert (last.status, last.can_cancel, last.cancel_requested) == ("VALIDATED", False, True)
    assert last.submission_annotations["a"] == [1.0]
    assert read_record(last.submission_annotations).attempt == 5
    assert len(read_record(last.submission_annotations).mark) == 12


@pytest.mark.parametrize("code", [400, 403, 409, 411, 413, 500])
def test_other_refusals_are_told(code: int) -> None:
    with pytest.raises(Refused):
        changed(Stored(code), lambda now: Change(now.record))


def test_what_is_not_to_be_changed_stays() -> None:
    stored = Stored()
    assert not changed(stored, lambda now: None)
    assert changed(stored, lambda now: Change(now.record))
    assert (stored.written[0].status, stored.written[0].can_cancel, stored.written[0].cancel_requested) == (
        "RECEIVED", True, False,
    )  # fmt: skip
    with pytest.raises(InfrastructureFault, match="changed by others all the time"):
        changed(Stored(*[412] * 8), lambda now: Change(now.record))
    assert changed(Stored(*[412] * 7), lambda now: Change(now.record))


def test_the_first_look_is_used_and_an_own_mark_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda number: "m" * number)
    stored = Stored(412, latest=lambda: model(record=Record(mark="m" * 6)))
    before = seen(Stored(412).read())
    marks: list[str] = []

    def edit(now: Seen) -> Change:
        marks.append(now.record.mark)
        return Change(now.record)

    assert changed(stored, edit, before)
    assert marks == [""]


def test_statuses_as_they_are_read() -> None:
    assert seen(model("OPEN")).status is None
    assert seen(model("SCORED")).status is Status.SCORED
    assert seen(model(cancel_requested=True)).cancel
    assert not seen(model(cancel_requested=True, can_cancel=False)).cancel
    assert not seen(model(cancel_requested=None)).cancel
    assert seen(model(record=HELD)).record == HELD


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
    return SynapseClaims(edited, SynapseLeases(), chosen, annotate_scores=True)  # type: ignore[arg-type]


def test_a_claim() -> None:
    held_by_another = status(IN_PROGRESS)
    free = Edited(status(Status.RECEIVED, Record(attempt=2, losses=1, failures=3, after="x")))
    held = asyncio.run(claims(free).claim(ONE, "w" * 90, 5.0, None))
    assert held is not None
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
    assert asyncio.run(claims(back).claim(ONE, "o", 5.0, None)) is None
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
        return asyncio.run(claims(edited).heartbeat(CLAIM, Status.VALIDATED)), edited.change_made

    signal, change = beat(status(IN_PROGRESS))
    assert change is not None
    assert (signal, change.record.beat, change.status) == (Signal.GO_ON, 5, Status.VALIDATED)
    assert beat(status(Status.VALIDATED, cancel=True))[0] is Signal.CANCEL
    assert beat(status(IN_PROGRESS), lost=True)[0] is Signal.LOST
    assert beat(status(Status.SCORED))[0] is Signal.LOST
    assert beat(status(IN_PROGRESS, replace(HELD, attempt=3)))[0] is Signal.LOST
    assert beat(status(IN_PROGRESS, replace(HELD, nonce="x")))[0] is Signal.LOST


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
    back = release(status(IN_PROGRESS, cancel=True), ours=True)
    assert back is not None
    assert back.status is Status.REJECTED
    assert after(60.0).endswith("Z")


# Lists


def test_a_list_serves_until_it_is_used_up_or_old(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, reads = [0.0], list[int]()
    monkeypatch.setattr(synapse_listing, "uptime", lambda: clock[0])
    waiting = [
        ListedSubmission(SimpleNamespace(id=number, created_on="x", team_id="7"), status(Status.RECEIVED, record))
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
    ages = [
        ListedSubmission(SimpleNamespace(id=key, created_on=day), waiting[0].now).age
        for key, day in ((9, "b"), (10, "b"), ("x", None))
    ]
    assert sorted(ages) == [("", 0, "x"), ("b", 9, "9"), ("b", 10, "10")]


# Requests


def test_a_request_over_the_limit_waits_until_the_oldest_is_a_minute_old() -> None:
    slept: list[float] = []

    async def go() -> None:
        loop = asyncio.get_running_loop()
        now = [1000.0]

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            now[0] += seconds

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(loop, "time", lambda: now[0])
            patch.setattr(asyncio, "sleep", sleep)
            pace = RequestPace(2)
            await pace.wait()
            now[0] += 10
            for _ in range(3):
                await pace.wait()
            await pace.heed(SimpleNamespace(status_code=429, headers={"Retry-After": "7"}))
            await pace.heed(SimpleNamespace(status_code=429, headers={"Retry-After": "3"}))
            await pace.heed(SimpleNamespace(status_code=200, headers={"Retry-After": "99"}))
            now[0] += 100
            await pace.heed(SimpleNamespace(status_code=503, headers={"Retry-After": "999"}))
            await pace.wait()

    asyncio.run(go())
    assert slept == [50.0, 10.0, 120.0, 0.0]


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
