"""What a team is told of predictions on hidden data: code, place, count and its own value; nothing of note or gold."""

import json
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HIDDEN, OPEN, hand_in, queue, with_home

from sandscore.base import clock
from sandscore.cli.main import run
from sandscore.containers.answers import Answers, RefusedAnswer
from sandscore.containers.sent_notes import SentNote
from sandscore.queue.children.child_messages import RunAnswer, RunnerAnswer, RunnerRequest, SweepAnswer, SweepRequest
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import find_task

pytestmark = pytest.mark.usefixtures("near_children")

SECRET = "Zo\u00eb Vandermeulen was seen in the Brackwater clinic on 10/26/2020 by Dr. Ngo."
DATE = SECRET.index("10/26/2020")


@pytest.mark.parametrize(
    ("mode", "shown"),
    [
        ("rounded", ["token", "instance_strict", "instance_relax", "date_format"]),
        ("ladder", ["instance_strict"]),
        ("blind", []),
    ],
)
def test_the_team_view_holds_no_more_than_the_feedback_mode_allows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str, shown: list[str]
) -> None:
    configuration = f'challenge = "hidden"\nresamples = 100\nfeedback = "{mode}"\n{OPEN}'
    workspace = queue(tmp_path, configuration)
    submission_id = hand_in(workspace, {"n1": [(8, "10/26/2020")], "n2": [], "n3": []})
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    capsys.readouterr()
    assert run(["queue", "show", str(workspace.root), submission_id, "--team-view", "--format", "json"]) == 0
    seen = capsys.readouterr().out
    measures = json.loads(seen)["feedback"].get("measures", {})
    assert list(measures) == shown
    assert all(set(score) == {"f1"} for score in measures.values())
    notices = (workspace.private / "notices.jsonl").read_text(encoding="utf-8")
    assert not any(word in seen + notices for word in ("per_note", '"tp"', "gold:", "Seen on", "n1"))
    assert sum('"scored"' in line for line in notices.splitlines()) == 1
    assert ("F1" in notices) == bool(shown)


def test_a_fault_of_ours_is_no_business_of_the_teams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path, most_failures=2, first_wait_seconds=0.01)
    submission_id = hand_in(workspace)
    workspace.gold("date", None).write_text("{", encoding="utf-8")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    capsys.readouterr()
    assert run(["queue", "show", str(workspace.root), submission_id, "--team-view"]) == 0
    assert "gold" not in capsys.readouterr().out
    notices = [json.loads(line) for line in (workspace.private / "notices.jsonl").read_text().splitlines()]
    told = [(one["event"], "gold" in one["text"], "gold" in one["detail"]) for one in notices if "detail" in one]
    assert told == [("failed", False, True), ("needs_organiser", False, True)], "the detail is for organisers alone"


@pytest.mark.parametrize(
    ("span", "clue"),
    [
        pytest.param((75, 10), f"{len(SECRET)} characters", id="how long the note is"),
        pytest.param((DATE + 3, 10), str(DATE), id="where the text stands"),
    ],
)
def test_a_refused_answer_of_an_image_tells_its_team_nothing_of_the_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any, span: tuple[int, int], clue: str
) -> None:
    """The words are those of a real refusal; they reach the team by the status, the team's view and the notices."""
    answer = {"textDateAnnotations": [{"start": span[0], "length": span[1], "text": "10/26/2020"}]}
    with pytest.raises(RefusedAnswer) as refused:
        Answers(find_task("date"), RunLimits()).accepted(SentNote("n1", "n1", SECRET), json.dumps(answer).encode())
    monkeypatch.setattr(clock, "TICK_SECONDS", 3.0)
    workspace = queue(tmp_path, HIDDEN)
    submission_id = hand_in(workspace, image="sha256:" + "0" * 64)

    class Runs(LocalHands):
        async def run(self, job: RunnerRequest) -> RunnerAnswer:
            if isinstance(job, SweepRequest):
                return SweepAnswer(0)
            if job.practice is not None:
                (Path(job.folder) / "run.json").touch()
                return RunAnswer(Outcome.FINISHED)
            return RunAnswer(Outcome.INVALID_OUTPUT, str(refused.value), "validate", refused.value.code)

    async def work(home: EmbeddedHome) -> None:
        await Worker(home, workspace, WorkPlan(once=True), lambda: Runs(workspace.root)).run()

    with_home(workspace, work)
    assert run(["queue", "show", str(workspace.root), submission_id, "--team-view", "--format", "json"]) == 0
    notices = (workspace.private / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    for said in (json.loads(capsys.readouterr().out)["reason"], json.loads(notices[-1])["text"]):
        assert said == "the submission is not valid: invalid_output: validate: does-not-fit-notes"
    assert len(notices) == 2


def test_when_a_phase_ends_teams_are_told_what_was_hidden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    phase = 'challenge = "hidden"\nresamples = 100\n[[phases]]\nname = "final"\nfeedback = "blind"\nended = {}\n'
    workspace = queue(tmp_path, phase.format("false"))
    submission_id = hand_in(workspace)
    words = ["queue", "show", str(workspace.root), submission_id, "--team-view", "--format", "json"]
    shown = []
    for ended in ("false", "true", "true"):
        (workspace.root / "challenge.toml").write_text(phase.format(ended), encoding="utf-8")
        assert run(["queue", "work", str(workspace.root), "--once"]) == 0
        capsys.readouterr()
        assert run(words) == 0
        shown.append(json.loads(capsys.readouterr().out)["feedback"])
    assert "measures" not in shown[0]
    assert shown[1]["measures"]["instance_strict"]["f1"] == 1.0
    assert "per_note" not in shown[1]
    assert shown[1] == shown[2]
    notices = [json.loads(line) for line in (workspace.private / "notices.jsonl").read_text().splitlines()]
    assert [(one["event"], "F1" in one["text"]) for one in notices] == [
        ("started", False),
        ("scored", False),
        ("scored", True),
    ]
