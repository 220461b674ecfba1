"""A home of somebody else's package is served by every verb of the queue; the command line knows no home by name."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cli.running import sandscore
from queue_samples import HALF, RIGHT, annotations, as_older_versions, challenge_folder

from sandscore.queue.homes.home_registry import HOMES

pytestmark = pytest.mark.usefixtures("near_children")

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "scoring" / "sandscore" / "cli"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the package installed in it, as pip leaves it."""
    place = tmp_path / "site"
    about = place / "somebodys_home-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copyfile(ROOT / "tests" / "strangers" / "json_home.py", place / "somebodys_home.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-home\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(
        "[sandscore.homes]\njson-file = somebodys_home:JsonFileRow\n", encoding="utf-8"
    )
    return place


@pytest.fixture
def queue(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(package))
    challenge = challenge_folder(tmp_path / "challenge")
    made = sandscore("queue", "init", tmp_path / "queue", "--home", "json-file", "--challenge", challenge)
    assert (made.code, made.out) == (0, f"{tmp_path / 'queue'}: siege: date\n"), made.err
    assert json.loads((tmp_path / "queue" / "settings.json").read_bytes())["home"] == "json-file"
    return tmp_path / "queue"


def test_every_verb_serves_it(queue: Path, tmp_path: Path) -> None:
    ids = []
    for number, spans in enumerate((RIGHT, HALF)):
        file = tmp_path / f"{number}.json"
        file.write_bytes(annotations(spans))
        handed_in = ("--task", "date", "--team", f"Team {number}", "--predictions", file)
        ids.append(sandscore("queue", "submit", queue, *handed_in).out.strip())
    assert sandscore("queue", "work", queue, "--once").code == 0
    listed = json.loads(sandscore("queue", "list", queue, "--format", "json").out)
    assert [(one["id"], one["status"], one["scores"]["instance_strict"]) for one in listed] == [
        (ids[0], "SCORED", 1.0),
        (ids[1], "SCORED", 0.8),
    ]
    assert (queue / "site" / "index.html").is_file()
    assert json.loads(sandscore("queue", "show", queue, ids[0], "--format", "json").out)["status"] == "SCORED"
    assert json.loads(sandscore("queue", "rescore", queue, "--plan", "--format", "json").out)["written"] is None
    exported = sandscore("queue", "export", queue, "-o", tmp_path / "export", "--format", "json")
    assert json.loads(exported.out)["written"] == 4
    assert sandscore("queue", "requeue", queue, ids[1]).code == 0
    assert sandscore("queue", "cancel", queue, ids[1]).code == 0
    assert (
        json.loads(sandscore("queue", "list", queue, "--status", "rejected", "--format", "json").out)[0]["id"] == ids[1]
    )
    backed_up = sandscore("queue", "export", queue, "-o", tmp_path / "copy", "--backup")
    assert (backed_up.code, "cannot be backed up" in backed_up.err) == (2, True)


def test_a_home_that_cannot_tell_whether_it_rests_keeps_an_older_folder(queue: Path, tmp_path: Path) -> None:
    as_older_versions(queue)
    (tmp_path / "half.json").write_bytes(annotations(HALF))
    handed_in = ("--task", "date", "--team", "A", "--predictions", tmp_path / "half.json")
    assert sandscore("queue", "submit", queue, *handed_in).code == 0
    worked = sandscore("queue", "work", queue, "--once")
    assert (worked.code, "keeps the layout of an older version" in worked.err) == (0, True)
    assert (queue / "site" / "index.html").is_file()
    assert not (queue / "private").exists()


def test_what_contradicts_the_folder_is_refused(queue: Path, tmp_path: Path) -> None:
    challenge = tmp_path / "challenge" / "challenge.toml"
    again = sandscore("queue", "init", queue, "--challenge", challenge)
    assert (again.code, "a queue of the home 'json-file' already" in again.err) == (2, True)
    assert not (queue / "queue.sqlite").exists()
    unknown = sandscore("queue", "init", tmp_path / "other", "--home", "sqlight", "--challenge", challenge)
    assert (unknown.code, "did you mean" in unknown.err) == (2, True)
    alone = sandscore("queue", "init", tmp_path / "other", "--home-option", "a=b", "--challenge", challenge)
    assert (alone.code, "--home-option goes with --home" in alone.err) == (2, True)
    nowhere = sandscore("queue", "init", "--home", "json-file", "--challenge", challenge)
    assert (nowhere.code, "name the DIR to make" in nowhere.err) == (2, True)
    assert not (tmp_path / "other").exists()


def test_a_package_that_is_gone_is_named(queue: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(package)])
    monkeypatch.setattr(HOMES, "_found", {})
    ran = sandscore("queue", "list", queue)
    assert (ran.code, "unknown home 'json-file'" in ran.err) == (2, True)


def test_its_author_runs_the_suite_over_it(package: Path, tmp_path: Path) -> None:
    suite = (
        "--pyargs",
        "sandscore.conformance",
        "--kind",
        "home",
        "json-file",
        "-k",
        "fenced or listed or called_back",
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sandscore.conformance.kind_option"]
    path = {"PYTHONPATH": f"{ROOT / 'scoring'}:{package}", "PATH": ""}
    ran = subprocess.run([*words, *suite], cwd=tmp_path, env=path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"^1\d passed", ran.stdout, re.MULTILINE), ran.stdout


def test_the_command_line_knows_no_home_by_name() -> None:
    named = [
        f"{path.name}: {name}"
        for path in CLI.rglob("*.py")
        for name in HOMES.names
        if name in path.read_text(encoding="utf-8").lower()
    ]
    assert named == []


def test_ours_are_registered_as_a_strangers_are() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert declared["sandscore.homes"] == HOMES.targets
    assert all(row.name == name and row.description for name, row in zip(HOMES.names, HOMES, strict=True))
