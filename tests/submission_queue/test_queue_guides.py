"""The guides of organisers and participants, followed command by command; and the examples in the verbs' help."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.cli.main import run
from sandscore.cli.queue import VERBS
from sandscore.cli.queue import command as queue

pytestmark = pytest.mark.usefixtures("near_children")

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^(<!-- engine -->\n)?```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str, *, engine: bool) -> list[str]:
    """The page's blocks of shell; those that need an engine only if asked for."""
    found = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert found
    return [block for needs_engine, block in found if engine or not needs_engine]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that sees the bundled examples, and this Python's sandscore."""
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "example").symlink_to(example_gold())
    (tmp_path / "submissions").symlink_to(submissions())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sandscore").write_text(
        f"#!{sys.executable}\nfrom sandscore.cli.main import main\nmain()\n", encoding="utf-8"
    )
    (tmp_path / "bin" / "sandscore").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def follow(script: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-x", "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_the_organisers_guide(workplace: Path) -> None:
    said = follow("\n".join(blocks("organisers.md", engine=False)))
    assert "2 SCORED" in said
    assert (workplace / "queue" / "site" / "index.html").exists()


def test_the_participants_guide(workplace: Path) -> None:
    said = follow("\n".join(blocks("participants.md", engine=False)))
    assert "1 SCORED" in said


@pytest.fixture
def base_image() -> Iterator[None]:
    """The base that a new annotator names, which machines without a registry have under another name."""
    tools = DOCS.parent / "tools"
    subprocess.run([tools / "base_image.sh"], check=True, capture_output=True)
    named = "python:3.12-slim"
    there = subprocess.run(["docker", "image", "inspect", named], capture_output=True, check=False).returncode == 0
    if not there:
        subprocess.run(["docker", "tag", "sandscore-base:bookworm", named], check=True)
    yield
    made = ["my-date-annotator", *([] if there else [named])]
    subprocess.run(["docker", "rmi", *made], check=True, capture_output=True)


@pytest.mark.engine
def test_the_participants_guide_with_an_engine(workplace: Path, base_image: None) -> None:
    first = [block for block in blocks("participants.md", engine=True) if "my-date-annotator" in block]
    follow("\n".join(first))
    assert (workplace / "result" / "card.json").exists()


def test_every_example_in_help_runs(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    context = click.Context(queue)
    commands = {name: queue.get_command(context, name) for name in VERBS}
    submission_id = ""
    for name in (
        "init",
        "check",
        "submit",
        "receipt",
        "list",
        "status",
        "show",
        "cancel",
        "requeue",
        "work",
        "rescore",
        "export",
        "backup",
        "restore",
        "drain",
        "undrain",
        "upgrade",
        "archive",
        "disclosed",
        "rekey",
        "history",
    ):
        command = commands.pop(name)
        assert command is not None
        example = re.sub(r"\\\n\s*", " ", (command.help or "").partition("Example:")[2]).strip()
        words = [submission_id if word == "ID" else word for word in shlex.split(example)]
        capsys.readouterr()
        assert run(words[1:]) == 0, example
        if name == "submit":
            submission_id = capsys.readouterr().out.strip()
    team = commands.pop("team")
    assert isinstance(team, click.Group)
    for name in ("add", "token", "list", "remove"):
        example = (team.commands[name].help or "").partition("Example:")[2].strip()
        assert run(shlex.split(example)[1:]) == 0, example
    elsewhere = {
        "release-log": "it asks a person at a terminal; test_log_release is one",
        "outbox": "of Synapse alone; test_synapse_outbox has one",
        "resend": "of Synapse alone; test_synapse_outbox has one",
    }
    assert commands.keys() == elsewhere.keys()
