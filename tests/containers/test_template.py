"""A participant's starting point works as it is, for every task."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli.running import sandscore

from sandscore.cli.init import command
from sandscore.cli.main import run
from sandscore.containers.annotation_run import RunJob
from sandscore.containers.annotation_run import run as run_job
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import TEMPLATES, example, starting_point
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import TASKS, Task, find_task

if TYPE_CHECKING:
    from docker import DockerClient

ROOT = Path(__file__).resolve().parents[2]
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
    assert "Ran 7 tests" in tested.stderr
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


PEERS = {"spacy": "presidio", "presidio": "presidio", "huggingface": "onnx"}
"""Beside whose original scorer the packages of a template are installed."""
MADE = {name: starting_point(find_task("date"), name) for name in TEMPLATES}


@pytest.mark.parametrize("template", TEMPLATES)
def test_what_the_dockerfile_copies_is_let_through(template: str) -> None:
    """Docker hands a build only what .dockerignore does not leave out; here that is everything but what is named."""
    first, *let_through = MADE[template][".dockerignore"].splitlines()
    assert first == "*"
    copied = re.findall(r"^COPY (.+) \S+$", MADE[template]["Dockerfile"], re.MULTILINE)
    assert sorted(let_through) == sorted(f"!{name}" for names in copied for name in names.split())
    assert {"model"} >= {name for names in copied for name in names.split()} - MADE[template].keys()


@pytest.mark.parametrize("template", [name for name in TEMPLATES if name != "plain"])
def test_a_template_is_of_the_task_it_is_made_for(template: str) -> None:
    assert set(TEMPLATES) == set(command.params[2].type.choices)  # type: ignore[attr-defined]
    files = starting_point(find_task("contact"), template)
    program = files["annotate.js" if template == "node" else "annotate.py"]
    assert '"contactType": "phone"' in program
    patterned = program if template in ("node", "presidio") else files["make_model.py"]
    assert "[0-9]{3}-[0-9]{4}" in patterned
    assert "sandscore run contact --image my-contact-annotator" in files["README.md"]
    assert "nlpsandbox:contact-annotator" in files["tool.json"]


@pytest.fixture(scope="module")
def models_base(python_image: object) -> str:
    subprocess.run([ROOT / "tools" / "models_image.sh"], check=True, capture_output=True)
    return "sandscore-base:templates"


@pytest.mark.engine
@pytest.mark.peer
@pytest.mark.parametrize("template", [name for name in TEMPLATES if name != "plain"])
def test_a_template_with_a_model_is_built_run_and_scored(
    models_base: str, client: "DockerClient", tmp_path: Path, template: str
) -> None:
    """The pattern stands in the example's notes 82 times, as ``re.findall`` counts, and each is a date of gold.

    Only packages are not installed by the Dockerfile: the base has them, since tests have no index of packages.
    """
    files: dict[str, str | bytes] = dict(MADE[template])
    if "make_model.py" in files:
        for name, content in MADE[template].items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        python = subprocess.check_output([sys.executable, ROOT / "tools" / "peer_env.py", PEERS[template]], text=True)
        for words in (["make_model.py"], ["-B", "-m", "unittest"]):
            subprocess.run([python.strip(), *words], cwd=tmp_path, check=True, capture_output=True)
        model = tmp_path / "model"
        files |= {f"model/{p.relative_to(model)}": p.read_bytes() for p in model.rglob("*") if p.is_file()}
    name, example = f"sandscore-test-template-{template}-{os.getpid()}", ROOT / "gold" / "example"
    build_image(client, name, files, {"BASE": models_base, "INSTALL": "true"})
    try:
        told = ["--gold", example / "date.json", "-o", tmp_path / "r", "--ready-time", "300", "--format", "json"]
        ran = sandscore("evaluate", "date", "--image", name, "--notes", example / "notes.json", *told)
    finally:
        client.images.remove(name, force=True)
    assert ran.code == 0, ran.err
    strict = json.loads(ran.out)["measures"]["instance_strict"]
    assert (strict["tp"], strict["fp"]) == (82, 0)


def test_examples_take_the_starting_points_server_and_their_own_annotator() -> None:
    files = example("date-good", find_task("date"))
    assert "FRACTION_BEFORE" in files["annotate.py"]
    assert '"name": "date-good"' in files["tool.json"]
    assert files["server.py"] == starting_point(find_task("date"))["server.py"]
