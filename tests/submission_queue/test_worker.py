"""The worker on a queue of its own: verdicts by whose fault it was, stops, cancels, and hands that fail."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HALF, WRONG_PLACE, annotations, hand_in, queue

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.child_messages import (
    Blame,
    FaultAnswer,
    RunAnswer,
    RunnerAnswer,
    RunnerRequest,
    ScorerAnswer,
    ScorerRequest,
    SubmissionRunRequest,
    SweepAnswer,
    SweepRequest,
    as_line,
)
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace
from sandscore.records.run_record import Outcome
from sandscore.records.submission import Submission

pytestmark = pytest.mark.usefixtures("near_children")

IMAGE = "sha256:" + "0" * 64
FINISHED, CRASHED = RunAnswer(Outcome.FINISHED), RunAnswer(Outcome.CRASHED, "x")


class Hands:
    """Runs end as told; scoring is real."""

    def __init__(self, workspace: Workspace, *ends: RunnerAnswer | Exception, slow: float = 0.0) -> None:
        self._real, self._ends, self._slow = LocalHands(workspace.root), list(ends), slow
        self.running, self.jobs = asyncio.Event(), list[SubmissionRunRequest]()

    async def run(self, job: RunnerRequest) -> RunnerAnswer:
        if isinstance(job, SweepRequest):
            return SweepAnswer(0)
        self.jobs.append(job)
        self.running.set()
        await asyncio.sleep(self._slow)
        end = self._ends.pop(0)
        if isinstance(end, Exception):
            raise end
        if end == FINISHED:
            (Path(job.folder) / "predictions.json").write_bytes(annotations(HALF))
        return end

    async def score(self, job: ScorerRequest) -> ScorerAnswer:
        return await self._real.score(job)

    async def close(self) -> None:
        await self._real.close()


async def working(workspace: Workspace, hands: Hands, plan: WorkPlan, meanwhile: Any = None) -> list[Submission]:
    home = EmbeddedHome(workspace)
    await home.open()
    worker = Worker(home, workspace, plan, lambda: hands)
    doing = asyncio.ensure_future(worker.run())
    if meanwhile is not None:
        await meanwhile(worker, home)
    await asyncio.wait_for(doing, 60)
    found = list(await home.submissions())
    await home.close()
    return found


def drained(workspace: Workspace, *ends: RunnerAnswer | Exception) -> list[Submission]:
    async def work() -> list[Submission]:
        return await working(workspace, Hands(workspace, *ends), WorkPlan(once=True))

    return asyncio.run(work())


@pytest.mark.parametrize(
    "outcome", ["invalid_output", "crashed", "out_of_memory", "timed_out", "never_ready", "image_missing"]
)
def test_the_fault_of_an_image_makes_it_invalid(tmp_path: Path, outcome: str) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, image=IMAGE)
    [one] = drained(workspace, RunAnswer(Outcome(outcome), "so it was"))
    assert (one.status, one.reason, one.attempt) == ("INVALID", f"{outcome}: so it was", 1)


@pytest.mark.parametrize(
    "end",
    [
        RunAnswer(Outcome.INFRASTRUCTURE, "no engine answers"),
        FaultAnswer(Blame.INFRASTRUCTURE, "no engine answers"),
        InfrastructureFault("the child died"),
    ],
    ids=["as a run says it", "as a process says it", "as its end says it"],
)
def test_our_own_fault_is_tried_again_and_then_needs_an_organiser(tmp_path: Path, end: Any) -> None:
    workspace = queue(tmp_path, most_failures=3, first_wait_seconds=0.01)
    hand_in(workspace, image=IMAGE)
    [one] = drained(workspace, end, end, end)
    assert (one.status, one.attempt, one.needs_organiser) == ("RECEIVED", 3, True)
    told = [json.loads(line)["event"] for line in (workspace.private / "notices.jsonl").read_text().splitlines()]
    assert told == ["started", "failed", "started", "failed", "started", "needs_organiser"]


def test_gold_that_went_bad_is_not_the_teams_fault(tmp_path: Path) -> None:
    workspace = queue(tmp_path, most_failures=2, first_wait_seconds=0.01)
    hand_in(workspace)
    workspace.gold("date", None).write_text("{")
    [one] = drained(workspace)
    assert (one.status, one.needs_organiser) == ("RECEIVED", True)
    assert "gold not valid" in str(one.reason)


def test_predictions_of_a_run_are_scored(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, image=IMAGE)
    [one] = drained(workspace, FINISHED)
    assert (one.status, one.scores["instance_strict"]) == ("SCORED", 0.8)


def test_a_run_is_told_of_notes_but_not_of_gold(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, image=IMAGE)

    async def work() -> Hands:
        hands = Hands(workspace, CRASHED)
        await working(workspace, hands, WorkPlan(once=True))
        return hands

    [job] = asyncio.run(work()).jobs
    assert set(job.__struct_fields__) == {
        *("task", "image", "notes", "folder", "protocol", "concurrency", "limits", "part", "own_task"),
        *("practice", "masked", "registries", "registry_failed", "engine"),
    }
    assert str(workspace.gold("date", None)) not in as_line(job).decode()


def test_a_stop_lets_what_is_under_way_finish(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, image=IMAGE)
    hand_in(workspace, WRONG_PLACE, image="sha256:" + "1" * 64)

    async def work() -> list[Submission]:
        hands = Hands(workspace, CRASHED, slow=0.3)

        async def stop(worker: Worker, _: EmbeddedHome) -> None:
            await hands.running.wait()
            worker.stop()

        return await working(workspace, hands, WorkPlan(grace=30), stop)

    assert [one.status for one in asyncio.run(work())] == ["INVALID", "RECEIVED"]


def test_a_second_stop_hands_back_at_once_and_costs_nothing(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, image=IMAGE)

    async def work() -> list[Submission]:
        hands = Hands(workspace, CRASHED, slow=30)

        async def stop(worker: Worker, _: EmbeddedHome) -> None:
            await hands.running.wait()
            worker.stop()
            worker.stop()

        return await working(workspace, hands, WorkPlan(grace=30), stop)

    [one] = asyncio.run(work())
    assert (one.status, one.attempt, one.failures) == ("RECEIVED", 1, 0)
    assert list((workspace.attempts / one.id).iterdir()) == []


def test_a_cancel_ends_the_run(tmp_path: Path) -> None:
    workspace = queue(tmp_path, lease_seconds=0.3)
    submission_id = hand_in(workspace, image=IMAGE)

    async def work() -> list[Submission]:
        hands = Hands(workspace, CRASHED, slow=30)

        async def cancel(_: Worker, home: EmbeddedHome) -> None:
            await hands.running.wait()
            assert await home.cancel(submission_id)

        return await working(workspace, hands, WorkPlan(once=True), cancel)

    [one] = asyncio.run(work())
    assert (one.status, one.reason) == ("REJECTED", "cancelled")


def test_work_outlasts_its_lease_as_long_as_it_beats(tmp_path: Path) -> None:
    workspace = queue(tmp_path, lease_seconds=0.3)
    hand_in(workspace, image=IMAGE)

    async def work() -> list[Submission]:
        return await working(workspace, Hands(workspace, CRASHED, slow=1.5), WorkPlan(jobs=3, once=True))

    [one] = asyncio.run(work())
    assert (one.status, one.attempt) == ("INVALID", 1)
