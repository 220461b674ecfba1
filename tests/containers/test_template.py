"""A participant's starting point works as it is, for every task."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandscore.cli.main import run
from sandscore.containers.annotation_run import RunJob
from sandscore.containers.annotation_run import run as run_job
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import example, starting_point
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import TASKS, Task, find_task

if TYPE_CHECKING:
    from docker import DockerClient

SENTENCE = "Seen on 10/26/2020 in Seattle by Dr. Rivera (ext. 555-0148), cough, MRN 10000-0, age 69."
NOTES = [SentNote("n-1", "n-1", SENTENCE)]


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_answers_of_the_starting_point_are_valid_and_not_empty(task: Task, tmp_path: Path) -> None:
    for name, content in starting_point(task).items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    command = f"{sys.executable} {tmp_path / 'server.py'}"
    done = run_job(RunJob(task, Annotator("command", command), NOTES, "0" * 64, RunLimits()))
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.record.warnings == ()
    assert done.record.tool is not None
    assert done.record.tool["name"] == f"my-{task.id}-annotator"
    assert done.answers is not None
    assert len(done.answers[0]) > len("[]")


def test_its_own_test_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "contact", str(tmp_path / "mine")]) == 0
    words = [sys.executable, "-B", "-m", "unittest"]
    tested = subprocess.run(words, cwd=tmp_path / "mine", capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr
    assert "Ran 6 tests" in tested.stderr
    readme = (tmp_path / "mine" / "README.md").read_text(encoding="utf-8")
    assert "sandscore run contact --image my-contact-annotator --notes notes.json -o run" in readme
    assert run(["init", "contact", str(tmp_path / "mine")]) == 2, "what is there is not written over"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.engine
def test_it_builds_and_runs_isolated(python_image: object, client: "DockerClient") -> None:
    """The Dockerfile as the participant has it; only the base is ours, since tests have no registry."""
    task = find_task("date")
    name = "sandscore-test-starting-point"
    build_image(client, name, starting_point(task), {"BASE": "sandscore-base:bookworm"})
    done = run_job(RunJob(task, Annotator("image", name), NOTES, "0" * 64, RunLimits()))
    client.images.remove(name, force=True)
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.answers is not None


def test_examples_take_the_starting_points_server_and_their_own_annotator() -> None:
    files = example("date-good", find_task("date"))
    assert "FRACTION_BEFORE" in files["annotate.py"]
    assert '"name": "date-good"' in files["tool.json"]
    assert files["server.py"] == starting_point(find_task("date"))["server.py"]
