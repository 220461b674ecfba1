"""The parts of a worker, one at a time, with stand-ins for what is around them; numbers are counted by hand."""

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace
from queue_samples import CHALLENGE, GOLD, HALF, HIDDEN, annotations, hand_in, opened, queue
from released_samples import packed, released
from struct_values import changeable

from sandscore.base.errors import InfrastructureFault, OrganiserFault, ParticipantFault, UsageFault
from sandscore.containers.run_shards import gathered_record
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.attempt_files import PREDICTIONS, RUN
from sandscore.queue.attempt_scoring import Scorer
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.challenge_limits import limits_of
from sandscore.queue.children import child_answers, runner_process, scorer_process
from sandscore.queue.children.batching import Together, _Asked
from sandscore.queue.children.child_messages import (
    BatchAnswer,
    BatchRequest,
    Blame,
    FaultAnswer,
    GoldChange,
    GoldRequest,
    RecountAnswer,
    RecountRequest,
    RunAnswer,
    ScoreAnswer,
    SubmissionRunRequest,
    SweepAnswer,
    SweepRequest,
    score_request,
)
from sandscore.queue.children.child_process import runner_environment, scorer_environment
from sandscore.queue.dask import dask_executor
from sandscore.queue.dask.dask_executor import Cluster, DaskHands, ShardAnswer, cut, joined
from sandscore.queue.disk_space import full, want_room
from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin
from sandscore.queue.homes.sqlite.sqlite_claims import SqliteClaims
from sandscore.queue.homes.sqlite.sqlite_database import Database
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import open_phase
from sandscore.queue.worker import attempt as attempts
from sandscore.queue.worker import notice_text, worker_job
from sandscore.queue.worker.attempt import Attempts, Ending
from sandscore.queue.worker.lease_watch import HeldLeases, Interrupted
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.worker.worker_job import Chooser, Reach, SharedWork, Slot, WorkerJob
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge, Limits, Phase
from sandscore.records.run_record import Outcome, RunLimits, RunRecord, Seconds
from sandscore.records.submission import (
    CANCELLED,
    Claim,
    Committed,
    Event,
    Notice,
    Signal,
    Status,
    Submission,
    SubmissionKind,
    Verdict,
    Version,
)

IMAGE, FILES = SubmissionKind.IMAGE, SubmissionKind.PREDICTIONS
LOCAL = "sha256:" + "0" * 64


def submission(name: str, kind: SubmissionKind = FILES, **more: Any) -> Submission:
    return Submission(name, "t", "date", kind, Status.RECEIVED, "2026-01-01T00:00:00Z", **more)


def claim(one: Submission, number: int = 1) -> Claim:
    return Claim(one, number, "owner", "nonce", 0.3)


class Home:
    """Answers what it was told to; what it was asked."""

    def __init__(self, *waiting: Submission, **answers: Any) -> None:
        self.waiting, self.answers, self.asked = list(waiting), answers, list[Any]()
        self.told: list[Notice] = []

    def answer(self, name: str, usual: Any) -> Any:
        found = self.answers.get(name, usual)
        if isinstance(found, list):
            found = found.pop(0) if found else usual
        if isinstance(found, BaseException):
            raise found
        return found

    async def claimable(self, most: int) -> Sequence[Submission]:
        return self.waiting[:most]

    async def seconds_until_claimable(self) -> float | None:
        return self.answer("seconds", None)  # type: ignore[no-any-return]

    async def claim(self, one: Submission, owner: str, seconds: float) -> Claim | None:
        found = self.answer("claim", claim(one))
        if found is not None:
            self.waiting.remove(one)
        return found  # type: ignore[no-any-return]

    async def fetch_predictions(self, one: Claim, target: Path, most: int) -> None:
        self.answer("fetch", None)
        target.write_bytes(b"")

    async def advance(self, one: Claim, status: Status) -> Signal:
        return self.answer("advance", Signal.GO_ON)  # type: ignore[no-any-return]

    async def kept(self, one: Submission) -> None:
        """Nothing of earlier attempts."""

    async def heartbeat(self, one: Claim) -> Signal:
        return Signal.GO_ON

    async def commit(self, one: Claim, verdict: Verdict) -> Committed:
        self.asked.append(verdict)
        return self.answer("commit", Committed.DONE)  # type: ignore[no-any-return]

    async def release(self, one: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        self.asked.append((reason, our_fault))
        return self.answer("release", Committed.DONE)  # type: ignore[no-any-return]

    async def notify(self, notice: Notice) -> bool:
        self.told.append(notice)
        return self.answer("notify", True)  # type: ignore[no-any-return]

    async def submissions(self) -> Sequence[Submission]:
        return ()


class Hands:
    """Answers instead of a runner and a scorer."""

    def __init__(self, ran: Any = None, scored: Any = None) -> None:
        self.ran, self.scored, self.jobs = ran, scored, list[Any]()

    async def run(self, job: Any) -> Any:
        self.jobs.append(job)
        return self.ran

    async def score(self, job: Any) -> Any:
        self.jobs.append(job)
        if isinstance(self.scored, BaseException):
            raise self.scored
        return self.scored

    async def close(self) -> None:
        self.jobs.append("closed")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return queue(tmp_path)


# Claims and pauses


def test_the_oldest_are_taken_as_far_as_there_is_room(workspace: Workspace) -> None:
    async def taken(room: dict[Slot, int], home: Any) -> list[str]:
        chooser = Chooser(home, workspace, once=True)
        return [one.submission.id for one in await chooser.take(room)]

    waiting = [submission("a", IMAGE), submission("b"), submission("c", IMAGE), submission("d"), submission("e")]
    assert asyncio.run(taken({Slot.IMAGE: 1, Slot.PREDICTIONS: 2}, Home(*waiting))) == ["a", "b", "d"]
    assert asyncio.run(taken({Slot.PREDICTIONS: 1}, Home(*waiting))) == ["b"]
    assert asyncio.run(taken({Slot.IMAGE: 0, Slot.PREDICTIONS: 0}, Home(*waiting))) == []
    assert asyncio.run(taken({Slot.PREDICTIONS: 1}, Home(*waiting, claim=[None]))) == ["d"]
    lost: Any = InfrastructureFault("away")
    assert asyncio.run(taken({Slot.PREDICTIONS: 2}, Home(*waiting, claim=[lost]))) == ["d"]
    with pytest.raises(InfrastructureFault, match="away"):
        asyncio.run(taken({Slot.PREDICTIONS: 1}, Home(*waiting, claim=[lost])))


def test_candidates_are_handed_out_once(workspace: Workspace) -> None:
    async def twice() -> list[str]:
        home = Home(submission("a"), submission("b"))
        chooser = Chooser(home, workspace, once=True)  # type: ignore[arg-type]
        first, second = await chooser.take({Slot.PREDICTIONS: 1}), await chooser.take({Slot.PREDICTIONS: 1})
        return [one.submission.id for one in (*first, *second, *await chooser.take({Slot.PREDICTIONS: 1}))]

    assert asyncio.run(twice()) == ["a", "b"]


def test_what_there_is_no_room_for_is_listed_once(workspace: Workspace) -> None:
    """Within a second, if the list was whole: of 32 that were asked for one was there."""

    async def listed(now: list[float]) -> list[int]:
        home, asked = Home(submission("a", IMAGE)), list[int]()
        chooser, claimable = Chooser(home, workspace, once=True), home.claimable  # type: ignore[arg-type]

        async def counted(most: int) -> Any:
            asked.append(most)
            return await claimable(most)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(home, "claimable", counted)
            for moment in now:
                patch.setattr(worker_job, "uptime", lambda moment=moment: moment)
                assert await chooser.take({Slot.PREDICTIONS: 1}) == ()
        return asked

    assert asyncio.run(listed([100.0, 100.5, 100.9])) == [32]
    assert asyncio.run(listed([100.0, 100.5, 101.0])) == [32, 32]


@pytest.mark.parametrize(
    ("left", "once", "pause"),
    [(None, True, None), (None, False, 1.0), (0.0, True, 0.05), (9.0, True, 1.0), (0.5, True, 0.5)],
)
def test_pauses(left: float | None, once: bool, pause: float | None, workspace: Workspace) -> None:
    home: Any = Home(seconds=left)
    assert asyncio.run(Chooser(home, workspace, once).pause()) == pause


def working(home: Home, workspace: Workspace, carry: Any, once: bool = True) -> list[Any]:
    """What a job tells of, from its first claim until nothing is left."""
    seen: list[Any] = []

    async def work() -> None:
        jobs: list[WorkerJob] = []
        chooser = Chooser(home, workspace, once)  # type: ignore[arg-type]
        stopping = asyncio.Event()

        def moved() -> None:
            jobs[0].moved.set()

        shared = SharedWork(workspace, chooser, Reach(not once), stopping, moved, seen.append)
        jobs.append(WorkerJob(SimpleNamespace(carry_out=carry, waiting_to_run=0), shared))  # type: ignore[arg-type]
        await asyncio.wait_for(jobs[0].work(), 5)

    asyncio.run(work())
    return seen


def test_a_job_ends_when_nothing_is_left(workspace: Workspace) -> None:
    under_way: list[int] = [0, 0]

    async def carry(one: Claim) -> Ending:
        under_way[0] += 1
        under_way[1] = max(under_way)
        await asyncio.sleep(0.01)
        under_way[0] -= 1
        return Ending(one, "SCORED")

    home = Home(*(submission(name, IMAGE) for name in "abc"), seconds=[0.05, 0.05, 0.05, None])
    seen = working(home, workspace, carry)
    assert [type(one).__name__ for one in seen] == ["Claim", "Ending"] * 3
    assert under_way[1] == 1
    files = Home(*(submission(name) for name in "abcde"), seconds=[0.05] * 4)
    seen = working(files, workspace, carry)
    assert len(seen) == 10
    assert [type(one).__name__ for one in seen[:3]] == ["Claim", "Claim", "Ending"]


def test_a_queue_out_of_reach_is_asked_again(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    async def carry(one: Claim) -> Ending:
        return Ending(one, "SCORED")

    monkeypatch.setattr(worker_job, "_SHORTEST_WAIT", 0.01)
    home = Home(submission("a"), claim=[InfrastructureFault("away")], seconds=[])
    assert len(working(home, workspace, carry)) == 2


def test_a_worker_drains_its_queue_and_closes_its_hands(workspace: Workspace) -> None:
    hands = Hands(scored=ScoreAnswer({"m": 0.5}, "s", None))
    home = Home(submission("a"), submission("b"), seconds=[0.05] * 8 + [None])
    seen: list[Any] = []

    async def work(**plan: Any) -> None:
        worker = Worker(home, workspace, WorkPlan(once=True, board_seconds=60, **plan), lambda: hands, seen.append)  # type: ignore[arg-type]
        worker._follower = SimpleNamespace(refresh=refreshed)  # type: ignore[assignment]
        await asyncio.wait_for(worker.run(), 10)

    async def refreshed() -> bool:
        seen.append("board")
        return len([one for one in seen if one == "board"]) > 1

    asyncio.run(work())
    assert [one.status for one in seen if isinstance(one, Ending)] == [Status.SCORED] * 2
    assert seen[-2:] == ["board", "board"] or "board" in seen
    assert hands.jobs[-1] == "closed"


def test_a_worker_that_is_stopped_claims_nothing_more(workspace: Workspace) -> None:
    home = Home(*(submission(name) for name in "ab"), seconds=[0.05] * 99)

    async def work() -> None:
        worker: Any = Worker(home, workspace, WorkPlan(once=False, grace=5), Hands)  # type: ignore[arg-type]
        worker.stop()
        await asyncio.wait_for(worker.run(), 5)
        assert not worker._leases.halted
        worker.stop()
        assert worker._leases.halted

    asyncio.run(work())
    assert len(home.waiting) == 2


# Attempts


def ended(
    workspace: Workspace, home: Home, hands: Hands, one: Submission | None = None
) -> tuple[str, str | None, list[str]]:
    """Status, reason, and what is left of the attempt's folder."""
    held = claim(one or submission("s1"))

    async def carry() -> Ending:
        leases = HeldLeases(home, 5.0)  # type: ignore[arg-type]
        return await Attempts(home, workspace, hands, leases).carry_out(held)  # type: ignore[arg-type]

    ending = asyncio.run(carry())
    folder = workspace.attempt("s1", 1, "nonce")
    return (
        str(ending.status),
        ending.reason,
        sorted(path.name for path in folder.glob("*")) if folder.exists() else ["gone"],
    )


OURS = FaultAnswer(Blame.ORGANISER, "gold")
SCORED = ScoreAnswer({"m": 0.5}, "sig", packed({"measures": {"m": {"f1": 0.5}}}))


def test_a_score_is_committed_and_told(workspace: Workspace) -> None:
    home = Home()
    assert ended(workspace, home, Hands(scored=SCORED)) == ("SCORED", None, [PREDICTIONS])
    (verdict,) = home.asked
    assert (verdict.scores, verdict.signature, verdict.feedback.view) == (
        {"m": 0.5},
        "sig",
        {"measures": {"m": {"f1": 0.5}}},
    )
    assert [notice.event for notice in home.told] == [Event.STARTED, Event.SCORED]
    assert home.told[1].words.view.text == "m: F1 0.5000"
    later = Home()
    ended(queue(workspace.root.parent / "other"), later, Hands(scored=ScoreAnswer({}, "s", None)))
    assert [notice.event for notice in later.told] == [Event.STARTED]


@pytest.mark.parametrize(
    ("home", "scored", "ending", "events"),
    [
        (Home(), FaultAnswer(Blame.PARTICIPANT, "bad"), ("INVALID", "bad", [PREDICTIONS]), [1, 8]),
        (Home(fetch=ParticipantFault("big")), SCORED, ("INVALID", "big", []), [1, 8]),
        (Home(fetch=OSError(5, "b")), SCORED, ("RECEIVED", "the operating system refused: b", ["gone"]), [1, 4]),
        (Home(), OURS, ("RECEIVED", "gold", ["gone"]), [1, 4]),
        (Home(release=Committed.STALE), OURS, ("STALE", "another worker has taken it over", ["gone"]), [1]),
        (Home(release=Committed.CANCELLED), OURS, ("REJECTED", CANCELLED, ["gone"]), [1]),
        (Home(commit=Committed.STALE), SCORED, ("STALE", "another worker has taken it over", ["gone"]), [1]),
        (Home(commit=Committed.CANCELLED), SCORED, ("REJECTED", CANCELLED, [PREDICTIONS]), [1, 16]),
        (Home(notify=InfrastructureFault("x")), SCORED, ("SCORED", None, [PREDICTIONS]), [1, 2]),
        (Home(commit=[InfrastructureFault("x")]), SCORED, ("SCORED", None, [PREDICTIONS]), [1, 2]),
    ],
)  # fmt: skip
def test_endings(workspace: Workspace, home: Home, scored: Any, ending: Any, events: list[int]) -> None:
    assert ended(workspace, home, Hands(scored=scored)) == ending
    assert [int(notice.event) for notice in home.told] == events


def test_a_queue_that_stays_away_ends_the_attempt(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_RETRY_SECONDS", 0.01)
    home = Home(commit=InfrastructureFault("x"))
    assert ended(workspace, home, Hands(scored=SCORED))[:2] == ("STALE", "the queue could not be reached to commit it")
    assert len(home.asked) == 6  # waits of 1, 2, 4, 8, 16 hundredths make 31, more than the lease's 30


def test_the_last_failure_asks_for_the_organiser(workspace: Workspace) -> None:
    fault = FaultAnswer(Blame.INFRASTRUCTURE, "no disk")
    home, before = Home(), workspace.settings.most_failures - 1
    told = ended(workspace, home, Hands(scored=fault), submission("s1", failures=before))
    assert told[:2] == ("needs_organiser", "no disk")
    assert (home.told[1].event, home.told[1].detail) == (Event.NEEDS_ORGANISER, "no disk")
    assert "no disk" not in home.told[1].words.view.text
    home = Home()
    told = ended(
        queue(workspace.root.parent / "before"), home, Hands(scored=fault), submission("s1", failures=before - 1)
    )
    assert told[:2] == ("RECEIVED", "no disk"), "the last but one does not"
    assert home.told[1].event == Event.FAILED


@pytest.mark.parametrize(
    ("signal", "ending"),
    [
        (Signal.CANCEL, ("REJECTED", CANCELLED)),
        (Signal.LOST, ("STALE", "another worker has taken it over")),
        (None, ("RECEIVED", "the worker was stopped")),
    ],
)
def test_interruptions(workspace: Workspace, signal: Signal | None, ending: Any) -> None:
    home = Home()
    assert ended(workspace, home, Hands(scored=Interrupted(signal)))[:2] == ending
    assert home.asked[-1:] == {"RECEIVED": [("the worker was stopped", False)], "STALE": []}.get(ending[0], home.asked)


def test_an_image_is_run_then_scored(workspace: Workspace) -> None:
    image = submission("s1", IMAGE, image=LOCAL)
    hands = Hands(RunAnswer(Outcome.FINISHED), SCORED)
    assert ended(workspace, Home(), hands, image)[0] == "SCORED"
    job = hands.jobs[0]
    assert (job.image, job.task, job.protocol, job.concurrency, job.own_task) == (
        LOCAL,
        "date",
        "service",
        4,
        None,
    )
    for ran, home, ending in (
        (RunAnswer(Outcome.CRASHED, "died"), Home(), ("INVALID", "crashed: died")),
        (RunAnswer(Outcome.INFRASTRUCTURE, "no engine"), Home(), ("RECEIVED", "no engine")),
        (FaultAnswer(Blame.ORGANISER, "notes"), Home(), ("RECEIVED", "notes")),
        (RunAnswer(Outcome.FINISHED), Home(advance=Signal.CANCEL), ("REJECTED", CANCELLED)),
    ):
        place = workspace.root.parent / ending[1].replace(" ", "")
        assert ended(queue(place), home, Hands(ran, SCORED), image)[:2] == ending


def test_what_died_without_a_run_is_swept(tmp_path: Path) -> None:
    for name in ("kept", "ran", "died"):
        (tmp_path / name).mkdir()
    (tmp_path / "ran" / RUN).touch()
    attempts.sweep(tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "ran"]


def test_notices() -> None:
    held = claim(submission("s1"), 3)
    begun = notice_text.started(held)
    assert (begun.words.view.subject, begun.attempt) == ("Your submission s1 for the task date is being evaluated", 3)
    invalid = notice_text.ended(held, Verdict(Status.INVALID, released("why")))
    assert (invalid.event, invalid.words.view.text) == (Event.INVALID, "why")
    assert notice_text.ended(held, Verdict(Status.REJECTED, released(CANCELLED))).event is Event.CANCELLED
    assert notice_text.scored(held.submission, 1, released({})).words.view.text == "The score is not shown yet."
    told = {"measures": {"a": {"f1": 0.25}, "b": {"f1": None}, "c": 7}}
    assert notice_text.scored(held.submission, 1, released(told)).words.view.text == "a: F1 0.2500\nb: F1 –\nc: F1 –"
    again = notice_text.failed(held, "why", False)
    assert (again.event, again.detail, again.words.view.text[-23:]) == (Event.FAILED, "why", "It will be tried again.")
    for helpless in (False, True):
        running = replace(held, submission=replace(held.submission, status=Status.EVALUATION_IN_PROGRESS))
        waits = notice_text.failed(running, "why", helpless).submission
        assert (waits.status, waits.needs_organiser) == (Status.RECEIVED, helpless), "it waits again"


@pytest.mark.parametrize(
    ("said", "what"),
    [("note n1: seen on", "invalid_output: validate: schema"), ("too_costly: of time", "too_costly: validate: schema")],
)
def test_of_an_image_on_hidden_notes_no_sentence_of_its_file_is_told(
    said: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = queue(tmp_path, HIDDEN)
    fault = FaultAnswer(Blame.PARTICIPANT, said, {"schema": 1})
    image = submission("s1", IMAGE, image=LOCAL, rehearsed=True)
    left = iter([0.0, 600.0])
    monkeypatch.setattr(attempts, "seconds_to_tick", lambda: next(left))
    told = ended(workspace, Home(), Hands(RunAnswer(Outcome.FINISHED), fault), image)
    assert told[:2] == ("INVALID", f"the submission is not valid: {what}")


def test_of_a_file_on_hidden_notes_the_codes_are_told(tmp_path: Path) -> None:
    fault = FaultAnswer(Blame.PARTICIPANT, "note n1: seen on", {"schema": 1})
    told = ended(queue(tmp_path, HIDDEN), Home(), Hands(scored=fault))
    assert told[:2] == ("INVALID", "the submission is not valid: schema 1")


def test_only_images_rehearse_and_only_for_hidden_notes(tmp_path: Path) -> None:
    died, image = RunAnswer(Outcome.CRASHED, "died"), submission("s1", IMAGE, image=LOCAL)
    for number, (kind, told_first, rules, practice) in enumerate(
        (
            (image, Event.INVALID, HIDDEN, True),
            (image, Event.STARTED, CHALLENGE, False),
            (submission("s1"), Event.STARTED, HIDDEN, False),
        )
    ):
        home, hands = Home(), Hands(died, FaultAnswer(Blame.PARTICIPANT, "bad"))
        ended(queue(tmp_path / str(number), rules), home, hands, kind)
        assert home.told[0].event is told_first
        assert bool(getattr(hands.jobs[0], "practice", None)) is practice


@pytest.mark.parametrize(
    ("rules", "runs", "left"), [(HIDDEN, True, [RUN]), (HIDDEN, False, ["gone"]), (CHALLENGE, True, ["gone"])]
)
def test_a_stopped_worker_keeps_a_run_on_hidden_notes(rules: str, runs: bool, left: list[str], tmp_path: Path) -> None:
    class Stopped(Hands):
        async def run(self, job: Any) -> Any:
            if runs:
                (Path(job.folder) / RUN).write_bytes(b"")
            return RunAnswer(Outcome.FINISHED)

    image = submission("s1", IMAGE, image=LOCAL, rehearsed=True)
    told = ended(queue(tmp_path, rules), Home(), Stopped(scored=Interrupted(None)), image)
    assert told == ("RECEIVED", "the worker was stopped", left)


# Children


def test_jobs_go_together_and_the_suspects_alone() -> None:
    def given(*alone: bool) -> tuple[int, int]:
        shared = Together(SimpleNamespace(), 1.0)  # type: ignore[arg-type]
        jobs: Any = [_Asked(None, None, one) for one in alone]  # type: ignore[arg-type]
        shared._waiting = jobs
        return len(shared._next()), len(shared._waiting)

    assert given(*[False] * 20) == (16, 4)
    assert given(False, False, True, False) == (2, 2)
    assert given(True, False) == (1, 1)
    assert given(True) == (1, 0)
    assert given(*[False] * 16, True) == (16, 1)


def test_as_many_answers_as_jobs() -> None:
    class Child:
        async def ask(self, request: Any, seconds: float) -> Any:
            assert seconds == 7.0
            return BatchAnswer((FaultAnswer(Blame.ORGANISER, "a"),) * self.number)

        number = 1

    async def asked() -> Any:
        child: Any = Child()
        shared = Together(child, 7.0)
        one: Any = None
        first = await shared.ask(one)
        child.number = 2
        with pytest.raises(InfrastructureFault, match="another number of answers"):
            await asyncio.wait_for(shared.ask(one), 5)
        return first

    assert asyncio.run(asked()).reason == "a"


def test_the_next_version_is_asked_for() -> None:
    one = replace(submission("s1", phase="final", version=3), name="Ours")
    asked = score_request(one, Path("f"))
    assert (asked.submission, asked.phase, asked.version, asked.folder, asked.name) == ("s1", "final", 4, "f", "Ours")


def test_what_is_not_said_of_a_run() -> None:
    job = SubmissionRunRequest("date", "i", "n", "f", "batch", 1, RunLimits())
    assert (job.part, job.registries, job.registry_failed, job.own_task, job.practice) == (None, (), False, None, None)
    assert job.masked
    assert job.engine is None


def test_rules_are_read_again_where_another_challenge_is_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str | None] = []

    def under(root: Path, challenge: str | None) -> Any:
        read.append(challenge)
        return SimpleNamespace(challenge=challenge)

    def recounted(workspace: Any, scorer: Any, job: Any) -> RecountAnswer:
        seen.append((workspace.challenge, scorer))
        return RecountAnswer({})

    seen: list[Any] = []
    monkeypatch.setattr(scorer_process, "asked_workspace", under)
    monkeypatch.setattr(scorer_process, "Scorer", lambda workspace, cells: f"scorer of {workspace.challenge}")
    monkeypatch.setattr(scorer_process, "recounted_answer", recounted)
    desk = scorer_process.Desk(Path("q"), None)  # type: ignore[arg-type]
    for challenge in (None, None, "new", "new", None):
        job = RecountRequest("date", None, ())
        assert desk.work(BatchRequest((job, job), challenge)) == BatchAnswer((RecountAnswer({}),) * 2)
    assert read == [None, "new", None]
    assert seen == [(one, f"scorer of {one}") for one in (None,) * 4 + ("new",) * 4 + (None,) * 2]


def test_what_changed_in_gold(workspace: Workspace, tmp_path: Path) -> None:
    workspace.gold_seen.mkdir(parents=True, exist_ok=True)
    (workspace.gold_seen / "date.0123456789ab.json").write_bytes(annotations(HALF))
    (tmp_path / PREDICTIONS).write_bytes(annotations(GOLD))
    job = GoldRequest(task="date", phase=None, before="0123456789ab", folders={"s": str(tmp_path)})
    scorer = Scorer(workspace, cells := ReadingCells())
    answer = scorer_process.changes(workspace, scorer, job)
    assert answer.changes == (GoldChange("added", "n1", 23, 10, None),)
    assert answer.holders == {"s": (0,)}
    other = GoldRequest(task="date", phase=None, before="ffffffffffff", folders={})
    assert scorer_process.changes(workspace, scorer, other).changes is None
    cells.close()


def test_labels_of_changes() -> None:
    from sandscore.annotations.columns import Columns, floats_of, small_of
    from sandscore.annotations.data_set import DataSet, NoteRoll
    from sandscore.annotations.label_codes import LabelCodes

    labels = LabelCodes(None)
    labels.learn(["a", "b"])
    dataset = DataSet(labels, roll=NoteRoll(["n"]))
    rows = Columns(
        small_of([0, 0, -1]), small_of([1, 2, 3]), small_of([4, 5, 6]), small_of([1, -1, 0]), floats_of([0.0] * 3)
    )
    assert scorer_process._named(rows, dataset, labels) == [("n", 1, 4, "b"), ("n", 2, 5, None)]


@pytest.mark.parametrize(("part", "names"), [(None, ["n1", "n2", "n3"]), ((0, 1), ["n1"]), ((1, 3), ["n2", "n3"])])
def test_a_runner_runs_its_part_of_the_notes(
    part: Any, names: list[str], workspace: Workspace, monkeypatch: Any
) -> None:
    ran: list[Any] = []
    record = SimpleNamespace(outcome=Outcome.CRASHED, reason="why", stage="notes", code=None)

    def run(job: Any) -> Any:
        ran.append(job)
        return SimpleNamespace(record=record, early="ready")

    monkeypatch.setattr(runner_process, "run", run)
    monkeypatch.setattr(runner_process, "write_run", lambda *given: ran.append(given))
    job = SubmissionRunRequest(
        task="date", image="i", notes=str(workspace.notes(None)), folder="f", protocol="batch", concurrency=2,
        limits=RunLimits(), part=part,
    )  # fmt: skip
    assert runner_process.work(job) == RunAnswer(Outcome.CRASHED, "why", "notes")
    asked, (folder, task, notes, _, beside) = ran
    assert beside == {"early-log.txt": b"ready"}
    assert [note.identifier for note in asked.notes] == [note.identifier for note in notes] == names
    assert (asked.pinned, asked.concurrency, asked.annotator.kind, folder, task.id) == (
        True,
        2,
        "image",
        Path("f"),
        "date",
    )
    assert asked.notes_sha256 == read_notes(job.notes)[1]


def test_a_runner_removes_what_dead_runs_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Engine:
        def __enter__(self) -> "Engine":
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing is held."""

        def remove_leftovers(self) -> int:
            return 3

    asked: list[str | None] = []

    def connected(name: str | None) -> Engine:
        asked.append(name)
        return Engine()

    monkeypatch.setattr(runner_process, "connected", connected)
    assert runner_process.work(SweepRequest()) == SweepAnswer(3)
    assert runner_process.work(SweepRequest("podman")) == SweepAnswer(3)
    assert asked == [None, "podman"]


@pytest.mark.parametrize(
    ("fault", "blame", "reason"),
    [
        (ParticipantFault("p"), Blame.PARTICIPANT, "p"),
        (OrganiserFault("o"), Blame.ORGANISER, "o"),
        (UsageFault("u"), Blame.INFRASTRUCTURE, "u"),
        (OSError(28, "no space"), Blame.INFRASTRUCTURE, "the operating system refused: no space"),
        (MemoryError(), Blame.INFRASTRUCTURE, "out of memory"),
        (ZeroDivisionError(), Blame.INFRASTRUCTURE, "a bug of ours (ZeroDivisionError)"),
    ],
)
def test_faults_are_answers(fault: Exception, blame: Blame, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(_: Any) -> Any:
        raise fault

    monkeypatch.delenv("SANDSCORE_DEBUG", raising=False)
    assert child_answers.answered(work, None) == FaultAnswer(blame, reason)
    if isinstance(fault, ZeroDivisionError):
        monkeypatch.setenv("SANDSCORE_DEBUG", "1")
        with pytest.raises(ZeroDivisionError):
            child_answers.answered(work, None)


def test_no_token_reaches_a_child() -> None:
    given = {"PATH": "p", "HOME": "h", "DOCKER_HOST": "d", "SYNAPSE_AUTH_TOKEN": "t", "SANDSCORE_SALT": "s"}
    assert scorer_environment(given) == {"PATH": "p", "OPENBLAS_NUM_THREADS": "1"}
    given |= {"SANDSCORE_IMAGES": "i"}
    assert runner_environment(given) == {"PATH": "p", "HOME": "h", "DOCKER_HOST": "d", "SANDSCORE_IMAGES": "i"}


# The queue in SQLite


def test_versions_count_from_one(workspace: Workspace) -> None:
    key, invalid = hand_in(workspace), hand_in(workspace)
    with opened(workspace) as database:
        claims, admin = (
            SqliteClaims(database, workspace.settings),
            SqliteAdmin(database, SubmissionJournal(workspace.root)),
        )
        for one, verdict in (
            (key, Verdict(Status.SCORED, scores={"m": 0.5})),
            (invalid, Verdict(Status.INVALID, released("no"))),
        ):
            held = taken(database, claims, admin, one)
            with database.writing() as connection:
                assert claims.commit(connection, held, verdict) is Committed.DONE
        found, other = admin.find(key), admin.find(invalid)
        assert found is not None
        assert other is not None
        assert (found.version, found.attempt, found.scores) == (1, 1, {"m": 0.5})
        assert (other.version, other.status, other.reason) == (0, Status.INVALID, "no")
        assert [row.number for row in admin.versions(key)] == [1]
        assert admin.versions(invalid) == []
        first, second = Version(1, {}, None, "sig", "x"), Version(2, {"m": 0.75}, None, "sig", "new gold")
        for one, version, taken_in in ((key, second, True), (key, second, False), (invalid, first, False)):
            with database.writing() as connection:
                assert admin.add_version(connection, one, version) is taken_in
        assert [(row.number, row.cause) for row in admin.versions(key)] == [(1, "scored"), (2, "new gold")]
        again = admin.find(key)
        assert again is not None
        assert (again.version, again.scores) == (2, {"m": 0.75})
        admin.publish_feedback(again, released({"rank": 1}))
        assert [row.feedback for row in admin.versions(key)] == [None, '{"rank":1}']
        assert (admin.find("x"), admin.folder_of("x"), admin.folder_of(key)) == (None,) * 3


def taken(database: Database, claims: SqliteClaims, admin: SqliteAdmin, key: str) -> Claim:
    one = admin.find(key)
    assert one is not None
    with database.writing() as connection:
        held = claims.claim(connection, one, "owner", 30.0)
    assert held is not None
    return held


def test_nobody_knows_a_claim_of_nothing(workspace: Workspace) -> None:
    key = hand_in(workspace)
    with opened(workspace) as database:
        claims, admin = (
            SqliteClaims(database, workspace.settings),
            SqliteAdmin(database, SubmissionJournal(workspace.root)),
        )
        assert [one.id for one in claims.claimable(5)] == [key]
        assert claims.claimable(0) == []
        assert claims.seconds_until_claimable() == 0.0
        held = taken(database, claims, admin, key)
        assert 0 < (claims.seconds_until_claimable() or 0) <= 30
        stranger = Claim(submission("nothing"), 1, "o", "n", 1.0)
        with database.writing() as connection:
            assert claims.heartbeat(connection, stranger) is Signal.LOST
            assert claims.commit(connection, stranger, Verdict(Status.INVALID)) is Committed.STALE
            assert claims.release(connection, stranger, "x", True) is Committed.STALE
            assert claims.heartbeat(connection, held, Status.VALIDATED) is Signal.GO_ON
        assert not admin.requeue(key)
        assert admin.cancel(key)
        with database.writing() as connection:
            assert claims.heartbeat(connection, held) is Signal.CANCEL
            assert claims.commit(connection, held, Verdict(Status.SCORED)) is Committed.CANCELLED
        assert not admin.cancel(key)
        assert claims.seconds_until_claimable() is None
        assert admin.requeue(key)
        (row,) = admin.attempts(key)
        assert (row.number, row.outcome, row.reason) == (1, "REJECTED", CANCELLED)


# Configuration


def test_limits_of_a_challenge() -> None:
    usual = limits_of(Limits())
    assert (usual.memory_bytes, usual.cpus, usual.processes, usual.total_seconds) == (2 << 30, 1.0, 256, 3600.0)
    chosen = limits_of(Limits(memory="512m", cpus=2, processes=9, time_limit=60, output="3k"))
    assert (chosen.memory_bytes, chosen.cpus, chosen.processes) == (512 << 20, 2, 9)
    assert (chosen.total_seconds, chosen.output_bytes) == (60, 3072)


@pytest.mark.parametrize(
    ("free", "files", "said"),
    [(99, 9, "99 bytes are free"), (100, 7, "no more files can be made"), (100, 8, None), (100, None, None)],
)
def test_room_on_the_disk(free: int, files: int | None, said: str | None, monkeypatch: Any, tmp_path: Path) -> None:
    found = SimpleNamespace(f_bavail=free, f_frsize=1, f_files=0 if files is None else 99, f_favail=files or 0)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    if said is None:
        want_room(tmp_path, 100)
    else:
        with pytest.raises(InfrastructureFault, match=f"{said}; nothing is begun with less than 100"):
            want_room(tmp_path, 100)
    assert full(tmp_path)
    found.f_bavail = 1 << 16
    assert full(tmp_path) is (files == 7)


def test_the_phase_that_is_meant() -> None:
    def phases(*names: str, ended: tuple[str, ...] = ()) -> Challenge:
        return Challenge(challenge="c", phases=tuple(Phase(name=name, ended=name in ended) for name in names))

    assert open_phase(phases(), None) is None
    assert open_phase(phases("a", "b", ended=("a",)), None) == "b"
    assert open_phase(phases("a", "b"), "a") == "a"
    with pytest.raises(UsageFault, match="choose a phase with --phase: a, b"):
        open_phase(phases("a", "b"), None)
    with pytest.raises(UsageFault, match="choose a phase"):
        open_phase(phases("a", "b"), "c")
    with pytest.raises(ParticipantFault, match="the phase 'a' has ended"):
        open_phase(phases("a", "b", ended=("a",)), "a")
    with pytest.raises(ParticipantFault, match="the challenge has ended"):
        open_phase(phases("a", ended=("a",)), None)


# Shards


def test_notes_are_cut_into_shards() -> None:
    assert cut([3, 3, 3], 6) == [(0, 2), (2, 3)]
    assert cut([9, 1, 9], 6) == [(0, 1), (1, 2), (2, 3)]
    assert cut([1, 1], 6) == [(0, 2)]
    assert cut([], 6) == [(0, 0)]


def test_shards_become_one_run(tmp_path: Path) -> None:
    usual: dict[str, Any] = {"sandscore": "1", "task": "date", "protocol": "batch", "kind": "image", "isolation": "all"}
    usual |= {"limits": RunLimits(), "concurrency": 1, "notes_sha256": "0", "outcome": Outcome.FINISHED}
    one = RunRecord(notes=2, retried_notes=1, cpu_seconds=1.5, peak_memory_bytes=7, warnings=("a", "b"), **usual)
    two = RunRecord(notes=3, retried_notes=2, cpu_seconds=None, seconds=Seconds(total=4.0), warnings=("b",), **usual)
    both = gathered_record([one, two])
    assert (both.notes, both.retried_notes, both.cpu_seconds, both.peak_memory_bytes) == (5, 3, 1.5, 7)
    assert (both.seconds.total, both.warnings, both.latency) == (4.0, ("a", "b"), None)
    assert (gathered_record([two]).cpu_seconds, gathered_record([two]).peak_memory_bytes) == (None, None)
    parts = [tmp_path / "1", tmp_path / "2"]
    for path, content in zip(parts, (b"[\n1,\n2\n]\n", b"[\n3\n]\n"), strict=True):
        path.write_bytes(content)
    joined(PREDICTIONS, parts, tmp_path / "whole")
    assert json.loads((tmp_path / "whole").read_bytes()) == [1, 2, 3]
    joined("log.txt", parts, tmp_path / "log")
    assert (tmp_path / "log").read_bytes() == b"[\n1,\n2\n]\n[\n3\n]\n"
    for path, record in zip(parts, (one, two), strict=True):
        path.write_text(record.model_dump_json(), encoding="utf-8")
    joined(RUN, parts, tmp_path / "run")
    assert RunRecord.model_validate_json((tmp_path / "run").read_bytes()) == both


class _Shards:
    """A cluster's place, for one run: each shard's answer is known before."""

    def __init__(self, folder: Path, *ends: Outcome) -> None:
        self.asked: list[tuple[int, int] | None] = []
        self._answers = []
        for number, end in enumerate(ends):
            place = folder / f"run-{number}"
            place.mkdir()
            (place / "log.txt").write_text(f"{number}\n", encoding="utf-8")
            self._answers.append(ShardAnswer(RunAnswer(end, reason=str(number)), str(place)))

    async def ask(self, _task: object, _root: Path, job: SubmissionRunRequest, resource: str) -> ShardAnswer:
        assert resource == "runner"
        self.asked.append(job.part)
        return self._answers[len(self.asked) - 1]


def run_on_shards(folder: Path, *ends: Outcome) -> tuple[RunAnswer, list[tuple[int, int] | None]]:
    texts = [{"identifier": f"n{n}", "text": "x" * 1_500_000} for n in range(len(ends))]
    (folder / "notes.json").write_text(json.dumps(texts), encoding="utf-8")
    job = SubmissionRunRequest("date", LOCAL, str(folder / "notes.json"), str(folder), "service", 1, RunLimits())
    shards = _Shards(folder, *ends)
    hands = DaskHands(cast("Cluster", shards), folder)
    answer = asyncio.run(hands.run(job))
    assert isinstance(answer, RunAnswer)
    return answer, shards.asked


@pytest.mark.parametrize("there", [True, False], ids=["wanted", "given up"])
def test_a_shard_works_as_long_as_the_attempt_is_wanted(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gives up an attempt removes its folder; a run that is wanted is waited for."""

    async def working(_root: str, job: SubmissionRunRequest) -> RunAnswer:
        await asyncio.sleep(0.02 if there else 60)
        return RunAnswer(Outcome.FINISHED, reason=Path(job.folder).name)

    monkeypatch.setattr(dask_executor, "_run", working)
    monkeypatch.setattr(dask_executor, "_LOOK_SECONDS", 0.01)
    place = tmp_path if there else tmp_path / "gone"
    job = SubmissionRunRequest("date", LOCAL, "notes.json", str(place), "service", 1, RunLimits())
    answer = asyncio.run(dask_executor.run_task("root", job))
    if there:
        assert isinstance(answer.ended, RunAnswer)
        assert answer.folder is not None
        assert (Path(answer.folder).parent, Path(answer.folder).name) == (tmp_path, answer.ended.reason)
    else:
        assert answer == ShardAnswer(FaultAnswer(Blame.INFRASTRUCTURE, "the attempt was given up"))


def test_a_cluster_is_asked_for_one_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A worker has one place for runs: who asked for two would wait for ever."""
    asked: list[dict[str, Any]] = []

    class Client:
        status = "running"

        async def submit(self, _task: object, root: str, job: str, **how: Any) -> str:
            asked.append(how)
            return f"{job} in {root}"

    async def connect(address: str, **how: Any) -> Client:
        assert (address, how["asynchronous"], how["set_as_default"]) == ("tcp://here", True, False)
        return Client()

    monkeypatch.setattr("distributed.Client", connect)
    answer = asyncio.run(Cluster("tcp://here").ask(cast("Any", None), tmp_path, "job", "runner"))
    assert answer == f"job in {tmp_path}"
    assert [(how["resources"], how["pure"]) for how in asked] == [({"runner": 1}, False)]


def test_shards_that_all_came_to_their_end_make_one_run(tmp_path: Path) -> None:
    """Two notes of 1.5 million characters each are two shards of at most 2 million."""
    answer, asked = run_on_shards(tmp_path, Outcome.FINISHED, Outcome.FINISHED)
    assert (answer.outcome, answer.reason, asked) == (Outcome.FINISHED, "0", [(0, 1), (1, 2)])
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "0\n1\n"


def test_a_single_shard_is_the_run(tmp_path: Path) -> None:
    answer, asked = run_on_shards(tmp_path, Outcome.FINISHED)
    assert (answer.outcome, answer.reason, asked) == (Outcome.FINISHED, "0", [(0, 1)])


def test_the_first_shard_that_failed_is_what_came_of_the_run(tmp_path: Path) -> None:
    failed = next(one for one in Outcome if one is not Outcome.FINISHED)
    answer, _ = run_on_shards(tmp_path, Outcome.FINISHED, failed, failed)
    assert (answer.outcome, answer.reason) == (failed, "1")
    assert (tmp_path / "log.txt").read_text(encoding="utf-8") == "1\n"


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("queue") == {"_Asked", "_Found", "_Known"}
