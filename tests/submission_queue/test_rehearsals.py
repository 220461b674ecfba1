"""Images on hidden notes: a rehearsal first, what is told of it and of the run after it, and when anything moves."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HALF, HIDDEN, TEXTS, annotations, challenge_folder, hand_in, queue, with_home
from submission_queue.synapse_homes import state
from submission_queue.synapse_standin import Queue, synapse

from sandscore.base import clock
from sandscore.base.errors import OrganiserFault
from sandscore.cli.main import run
from sandscore.containers.practice_notes import rehearsal_notes, rounded_up
from sandscore.containers.sent_notes import SentNote
from sandscore.queue.attempt_files import team_view
from sandscore.queue.children.child_messages import RunAnswer, RunnerRequest, SubmissionRunRequest
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.homes.synapse.synapse_home import SynapseHome
from sandscore.queue.worker import attempt
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace, open_workspace
from sandscore.records.run_record import Outcome, RunRecord
from sandscore.records.submission import Claim, Committed, Submission, Verdict

pytestmark = pytest.mark.usefixtures("near_children")

IMAGE = "sha256:" + "0" * 64
FINISHED = RunAnswer(Outcome.FINISHED)
TICK = 3.0


@pytest.fixture(autouse=True)
def _short_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every three seconds; what is begun at one is begun within half a second."""
    monkeypatch.setattr(clock, "TICK_SECONDS", TICK)


@pytest.mark.parametrize(
    ("length", "shown"), [(0, 1), (1, 1), (2, 2), (3, 5), (5, 5), (6, 10), (11, 20), (499, 500), (501, 1000)]
)
def test_the_longest_note_is_told_roughly(length: int, shown: int) -> None:
    assert rounded_up(length) == shown


def test_odd_notes_are_added() -> None:
    practice, hidden = [SentNote("p", "p", "Practice.")], [SentNote("a", "a", "x" * 130), SentNote("b", "b", "y")]
    notes = {note.name: note.text for note in rehearsal_notes(practice, hidden)}
    assert notes.pop("p") == "Practice."
    assert notes["sandscore-odd-empty"] == ""
    assert len(notes["sandscore-odd-long"]) == 200
    assert "\r\n" in notes["sandscore-odd-line-ends"]
    assert max(map(ord, notes["sandscore-odd-emoji"])) > 0xFFFF
    assert len(notes) == 4


def test_a_practice_note_that_is_hidden_is_refused(tmp_path: Path) -> None:
    (tmp_path / "challenge/practice").mkdir(parents=True)
    notes = [{"identifier": "n7", "text": TEXTS["n1"]}]
    (tmp_path / "challenge/practice/notes.json").write_text(json.dumps(notes), encoding="utf-8")
    configuration = HIDDEN.replace('notes = "hidden"', 'notes = "hidden", practice = "practice/"')
    with pytest.raises(OrganiserFault, match="the practice note n7 is one of the hidden notes too"):
        queue(tmp_path, configuration)
    notes[0]["text"] = "Another."
    (tmp_path / "challenge/practice/notes.json").write_text(json.dumps(notes), encoding="utf-8")
    made = queue(tmp_path, configuration)
    assert made.practice(None) == tmp_path / "challenge/practice/notes.json"
    assert Path(made.settings.practice[""]).is_absolute()


class Hands:
    """Runs end as ``ends`` says, files beside them as a runner leaves them; scoring is real."""

    def __init__(self, workspace: Workspace, ends: Callable[[SubmissionRunRequest], RunAnswer]) -> None:
        self._real, self._ends = LocalHands(workspace.root), ends
        self.jobs: list[SubmissionRunRequest] = []
        self.hold: asyncio.Event | None = None

    async def run(self, job: RunnerRequest) -> Any:
        if not isinstance(job, SubmissionRunRequest):
            return None
        self.jobs.append(job)
        if self.hold is not None and job.practice is None:
            await self.hold.wait()
        answer, folder = self._ends(job), Path(job.folder)
        record = RunRecord(
            sandscore="0", task="date", protocol="service", kind="image", isolation="none", limits=job.limits,
            concurrency=1, notes=3, notes_sha256=digest(Path(job.notes)), outcome=answer.outcome,
            reason=answer.reason, stage=answer.stage, code=answer.code,
        )  # fmt: skip
        (folder / "log.txt").write_text(f"{TEXTS['n1'] if job.practice is None else 'practised'}", encoding="utf-8")
        if job.practice is None:
            (folder / "early-log.txt").write_text("warming up", encoding="utf-8")
        if answer == FINISHED:
            (folder / "predictions.json").write_bytes(annotations(HALF))
        (folder / "run.json").write_text(record.model_dump_json(), encoding="utf-8")
        return answer

    async def score(self, job: Any) -> Any:
        return await self._real.score(job)

    async def close(self) -> None:
        await self._real.close()


def digest(notes: Path) -> str:
    from sandscore.containers.sent_notes import read_notes

    return read_notes(notes)[1]


class _Timed:
    """Knows how long after a tick it was asked for each change."""

    changed: list[tuple[str, bool, float]]

    async def claim(self, submission: Submission, owner: str, lease_seconds: float) -> Claim | None:
        self.changed.append(("claim", submission.rehearsed, since_tick()))
        claim: Claim | None = await super().claim(submission, owner, lease_seconds)  # type: ignore[misc]
        return claim

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        self.changed.append(("commit", claim.submission.rehearsed, since_tick()))
        committed: Committed = await super().commit(claim, verdict)  # type: ignore[misc]
        return committed

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        self.changed.append(("release", claim.submission.rehearsed, since_tick()))
        released: Committed = await super().release(claim, reason, our_fault=our_fault)  # type: ignore[misc]
        return released


class Home(_Timed, EmbeddedHome):
    """In a folder."""


class SharedHome(_Timed, SynapseHome):
    """On Synapse."""


def since_tick() -> float:
    return clock.seconds_since_tick(clock.utc_now())


def worked(workspace: Workspace, hands: Hands, meanwhile: Any = None, once: bool = True) -> Home:
    """The home, with all that it was asked; closed."""

    async def work() -> Home:
        home = Home(workspace)
        home.changed = []
        await home.open()
        worker = Worker(home, workspace, WorkPlan(once=once), lambda: hands)
        doing = asyncio.ensure_future(worker.run())
        if meanwhile is not None:
            await meanwhile(worker, home)
        await asyncio.wait_for(doing, 60)
        await home.close()
        return home

    return asyncio.run(work())


def only(workspace: Workspace) -> Submission:
    [one] = with_home(workspace, lambda home: home.submissions())
    return one


def seen_by_team(workspace: Workspace) -> dict[str, Any]:
    one = only(workspace)
    folder = with_home(workspace, lambda home: home.kept(one))
    return team_view(one, folder, workspace.rehearsal(one.id) if one.rehearsed else None)


def test_an_image_rehearses_and_then_meets_the_hidden_notes_at_a_tick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE)
    hands = Hands(workspace, lambda _: FINISHED)
    home = worked(workspace, hands)
    rehearsal, hidden = hands.jobs
    assert rehearsal.practice is not None
    assert (hidden.practice, hidden.masked) == (None, True)
    one = only(workspace)
    assert (one.status, one.attempt, one.rehearsed, one.scores["instance_strict"]) == ("SCORED", 2, True, 0.8)
    late = [(what, since) for what, rehearsed, since in home.changed if rehearsed]
    assert [what for what, _ in late] == ["claim", "commit"]
    assert max(since for _, since in late) < TICK / 3, "at a tick, both"
    seen = seen_by_team(workspace)
    assert (seen["early-log"], seen["rehearsal"]["log"]) == ("warming up", "practised")
    assert seen["rehearsal"]["run"]["outcome"] == "finished"
    capsys.readouterr()
    assert run(["queue", "show", str(workspace.root), one.id, "--team-view"]) == 0
    text = capsys.readouterr().out.splitlines()
    assert [line for line in text if line.strip() in ("log:", "practised", "early-log:", "warming up")] == [
        *("  log:", "    practised"),
        *("early-log:", "  warming up"),
    ], "for people, each log line by line"
    assert TEXTS["n1"] not in json.dumps(seen)
    [private] = [path.read_text("utf-8") for path in (workspace.attempts / one.id).glob("2-*/log.txt")]
    assert TEXTS["n1"] in private, "the organiser's own log has it"


def test_what_fails_in_the_rehearsal_never_meets_hidden_notes(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE)
    wrong = RunAnswer(Outcome.INVALID_OUTPUT, "note p1: /3 ends at 99", "validate", "out-of-bounds")
    hands = Hands(workspace, lambda _: wrong)
    worked(workspace, hands)
    [job] = hands.jobs
    assert job.practice is not None
    one = only(workspace)
    assert (one.status, one.attempt) == ("INVALID", 1)
    assert one.reason == "the rehearsal on practice notes: invalid_output: note p1: /3 ends at 99"
    assert seen_by_team(workspace)["rehearsal"]["log"] == "practised"


def test_of_the_hidden_run_a_team_gets_outcome_stage_and_code(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE)
    wrong = RunAnswer(Outcome.INVALID_OUTPUT, f"note n1: {TEXTS['n1']}", "validate", "schema")
    home = worked(workspace, Hands(workspace, lambda job: FINISHED if job.practice else wrong))
    one = only(workspace)
    assert (one.status, one.reason) == ("INVALID", "the submission is not valid: invalid_output: validate: schema")
    assert home.changed[-1][2] < TICK / 3
    assert TEXTS["n1"] not in json.dumps(seen_by_team(workspace))


def test_a_failure_of_ours_is_seen_at_a_tick_too(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN, most_failures=1)
    hand_in(workspace, image=IMAGE)
    ours = RunAnswer(Outcome.INFRASTRUCTURE, "no engine")
    home = worked(workspace, Hands(workspace, lambda job: FINISHED if job.practice else ours))
    assert only(workspace).needs_organiser
    assert [(what, since < TICK / 3) for what, rehearsed, since in home.changed if rehearsed][-1] == ("release", True)


def test_a_rehearsal_never_waits_for_a_hidden_run(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE, team="Team A")
    hands = Hands(workspace, lambda _: FINISHED)
    rehearsed: list[bool] = []

    async def meanwhile(_worker: Worker, home: Home) -> None:
        hands.hold = asyncio.Event()
        await until(lambda: len(hands.jobs) == 2)  # the first is held among the hidden notes
        second = hand_in(workspace, image=IMAGE, team="Team B")
        for _ in range(200):
            await asyncio.sleep(0.05)
            if any(one.id == second and one.rehearsed for one in await home.submissions()):
                break
        rehearsed.append(not hands.hold.is_set() and len(hands.jobs) == 3)
        hands.hold.set()

    worked(workspace, hands, meanwhile)
    assert rehearsed == [True]
    assert [one.status for one in with_home(workspace, lambda home: home.submissions())] == ["SCORED", "SCORED"]


async def until(happens: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not happens():
            await asyncio.sleep(0.02)


def test_a_worker_that_stops_before_the_tick_loses_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run has ended and nobody may know; its worker goes; the next one takes the run over and commits it."""
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE)
    hands = Hands(workspace, lambda _: FINISHED)

    waited: list[bool] = []

    def long_to_tick() -> float:
        waited.append(True)
        return 600

    async def meanwhile(worker: Worker, _home: Home) -> None:
        await until(lambda: bool(waited))
        worker.stop()
        worker.stop()

    with monkeypatch.context() as patch:
        patch.setattr(attempt, "seconds_to_tick", long_to_tick)
        worked(workspace, hands, meanwhile, once=False)
    one = only(workspace)
    assert (one.status, one.rehearsed, one.version) == ("RECEIVED", True, 0)
    assert "practised" in json.dumps(seen_by_team(workspace)), "the rehearsal is there already"
    worked(workspace, hands)
    assert len(hands.jobs) == 2, "neither rehearsed nor run again"
    assert (only(workspace).status, only(workspace).attempt) == ("SCORED", 3)


def test_a_second_chance_is_a_run_of_its_own(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN)
    hand_in(workspace, image=IMAGE)
    hands = Hands(workspace, lambda _: FINISHED)
    worked(workspace, hands)
    submission_id = only(workspace).id
    assert with_home(workspace, lambda home: home.requeue(submission_id))
    worked(workspace, hands)
    assert [job.practice is None for job in hands.jobs] == [False, True, True], "one rehearsal, two runs"


def test_a_cancelled_run_ends_at_a_tick(tmp_path: Path) -> None:
    workspace = queue(tmp_path, HIDDEN, lease_seconds=0.6)
    submission_id = hand_in(workspace, image=IMAGE)
    hands = Hands(workspace, lambda _: FINISHED)

    async def meanwhile(_worker: Worker, home: Home) -> None:
        hands.hold = asyncio.Event()
        await until(lambda: len(hands.jobs) == 2)
        assert await home.cancel(submission_id)

    home = worked(workspace, hands, meanwhile)
    assert (only(workspace).status, only(workspace).reason) == ("REJECTED", "cancelled")
    assert home.changed[-1][0] == "commit"
    assert home.changed[-1][2] < TICK / 3


def test_on_synapse_too(tmp_path: Path) -> None:
    """Claimed and committed at ticks; the team's folder has the rehearsal, and nothing that met a hidden note."""
    challenge_folder(tmp_path / "challenge", HIDDEN)

    async def work(queue: Queue) -> tuple[str, SharedHome]:
        key = queue.submit_image()
        root = state(queue.folder / "w", {"evaluation": queue.id}, data={"": str(tmp_path / "challenge")})
        (root / "private/challenge.toml").write_text(HIDDEN, encoding="utf-8")
        workspace = open_workspace(root)
        home = SharedHome(queue.id, queue.config(), workspace)
        home.changed = []
        await home.open()
        hands = Hands(workspace, lambda _: FINISHED)
        await asyncio.wait_for(Worker(home, workspace, WorkPlan(once=True), lambda: hands).run(), 60)
        await home.close()
        assert [job.practice is None for job in hands.jobs] == [False, True]
        return key, home

    with synapse(tmp_path / "synapse") as queue:
        key, home = asyncio.run(work(queue))
        assert queue.status(key) == "SCORED"
        late = [(what, since < TICK / 3) for what, rehearsed, since in home.changed if rehearsed]
        assert late == [("claim", True), ("commit", True)]
        folders = {one["id"]: one["name"] for one in queue.world.entities.values() if one["parentId"] == queue.project}
        there = {one["name"]: folders.get(one["parentId"]) for one in queue.world.entities.values()}
        assert there[f"{key}_rehearsal_log.txt"] == "2001"
        assert {f"{key}_rehearsal_run.json", f"{key}_rehearsal_predictions.json"} <= there.keys()
        assert not [name for name in there if name.startswith(f"{key}_attempt_") and name.endswith("log.txt")]
        assert not any(TEXTS["n1"].encode() in data for data in queue.world.contents.values())
        assert queue.world.unknown == []
