"""Every task goes through every verb, format and profile: those of the table, an organiser's own, and a ninth one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore
from jsonschema import Draft202012Validator
from profile_words import written
from task_samples import write_challenge

from sandscore.formats import FORMATS
from sandscore.profiles.profile_registry import CHALLENGE, PROFILES
from sandscore.records.task_definition import TaskDefinition
from sandscore.task_table.own_tasks import own_task
from sandscore.task_table.task import TASKS, Task

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = 'challenge = "everywhere"\nresamples = 100\nrandomisations = 99\n'
OWN = """
[tasks.medication]
array = "textMedicationAnnotations"
label = "drugRoute"
labels = ["Oral", "iv", "topical"]
label_required = true
headline = "drug_route"
"""
DEFINITION: dict[str, Any] = {
    "array": "textMedicationAnnotations",
    "label": "drugRoute",
    "labels": ("Oral", "iv", "topical"),
    "label_required": True,
}
EVERY = [*TASKS.values(), own_task("medication", TaskDefinition(**DEFINITION))]
NINTH = """
[tasks.dosage]
array = "textDosageAnnotations"
kind = "dosage"
label = "dosageUnit"
labels = ["mg", "ml", "unit"]
"""
every_task = pytest.mark.parametrize("task", EVERY, ids=lambda task: task.id)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a configuration that defines a task."""
    (tmp_path / "challenge.toml").write_text(CONFIGURATION + OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(verb: str, task: Task, *words: str, code: int = 0) -> Ran:
    ran = sandscore(*verb.split(), task.id, *words, "--challenge", "challenge.toml")
    assert ran.code == code, ran.err
    return ran


def scored(task: Task, predictions: str, card: str, *words: str) -> dict[str, Any]:
    files = ("--gold", f"{task.id}.json", "--predictions", predictions, "--notes", "notes.json", "--team", card)
    said("score", task, *files, *words, "-o", f"{card}.json")
    read: dict[str, Any] = json.loads(Path(f"{card}.json").read_text(encoding="utf-8"))
    return read


@pytest.mark.slow
@every_task
def test_validated_scored_ranked_published_and_verified(task: Task, place: Path) -> None:
    write_challenge(place, task)
    said("validate", task, "predictions.json", "--notes", "notes.json")
    right = scored(task, f"{task.id}.json", "right")
    weak = scored(task, "predictions.json", "weak", "--html", "weak.html", "--errors", "errors")
    assert list(right["measures"]) == list(task.measures)
    assert {measure["f1"] for measure in right["measures"].values()} <= {1.0, None}
    assert weak["measures"]["instance_strict"] | {"tp": 12, "fp": 0, "fn": 4} == weak["measures"]["instance_strict"]
    if task.label_measure:
        assert weak["measures"][task.label_measure]["tp"] == 9, "three of twelve carry another label"
    assert ("definition" in weak) == task.own
    cards = ("right.json", "weak.json")
    assert sandscore("rank", *cards, "--challenge", "challenge.toml", "-o", "board.json").code == 0
    board = json.loads(Path("board.json").read_text(encoding="utf-8"))
    assert ("definition" in board) == task.own
    assert [row["team"] for row in board["rows"]] == ["right", "weak"]
    assert sandscore("publish", "board.json", "-o", "site").code == 0
    assert sandscore("verify", "board.json").code == 0
    assert sandscore("verify", next(Path("site").rglob("board.json"))).code == 0


@pytest.mark.slow
@every_task
def test_a_starting_point_serves_and_its_answers_are_scored(task: Task, place: Path) -> None:
    write_challenge(place, task, notes=2)
    said("init", task, "mine")
    tested = subprocess.run([sys.executable, "-B", "-m", "unittest"], cwd="mine", capture_output=True, check=False)
    assert tested.returncode == 0, tested.stderr
    service = f"{sys.executable} mine/server.py"
    said("run", task, "--command", service, "--notes", "notes.json", "-o", "run")
    record = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    assert (record["task"], record["outcome"], record["warnings"]) == (task.id, "finished", [])
    assert scored(task, "run/predictions.json", "run-card", "--run", "run")["run"]["outcome"] == "finished"


@pytest.mark.slow
def test_a_queue_of_every_task(place: Path) -> None:
    """Handed in, worked on, published and rescored."""
    for task in EVERY:
        write_challenge(place / "data", task)
        shutil.copyfile("data/predictions.json", f"{task.id}.json")
    (place / "data" / "challenge.toml").write_text(CONFIGURATION + OWN, encoding="utf-8")
    assert sandscore("queue", "init", "q", "--challenge", "data/challenge.toml").code == 0
    for task in EVERY:
        for team, file in (("A", f"data/{task.id}.json"), ("B", f"{task.id}.json")):
            handed = ("--task", task.id, "--team", team, "--predictions", file)
            assert sandscore("queue", "submit", "q", *handed).code == 0
    worked = sandscore("queue", "work", "q", "--once", "--format", "json")
    ends = [(ended["task"], ended["status"]) for ended in map(json.loads, worked.out.splitlines())]
    assert sorted(ends) == sorted((task.id, "SCORED") for task in (*EVERY, *EVERY)), worked.err
    boards = list(Path("q/boards").glob("*.json"))
    assert [sandscore("verify", board).code for board in boards] == [0] * len(EVERY)
    assert (place / "q" / "site" / "index.html").exists()
    assert sandscore("queue", "rescore", "q", "--plan").code == 0


@every_task
def test_listed_with_its_schema(task: Task, place: Path) -> None:
    [row] = json.loads(said("tasks", task, "--format", "json").out)
    assert (row["array"], row["path"], row["measures"]) == (task.array, task.path, list(task.measures))
    schema = json.loads(said("tasks", task, "--schema").out)
    Draft202012Validator.check_schema(schema)
    write_challenge(place, task)
    gold = json.loads((place / f"{task.id}.json").read_text(encoding="utf-8"))
    assert Draft202012Validator(schema).is_valid(gold)
    assert not Draft202012Validator(schema).is_valid(
        [{name: value for name, value in gold[0].items() if name[0] == "a"}]
    )
    assert f"\n{task.id} " in f"\n{sandscore('tasks', '--challenge', 'challenge.toml').out}"


@every_task
def test_the_patients_it_takes(task: Task, place: Path) -> None:
    write_challenge(place, task)
    said("power", task, "--gap", "0.4", "--gold", f"{task.id}.json", "--notes", "notes.json", "--simulations", "20")


@pytest.mark.parametrize("form", FORMATS.names)
@every_task
def test_converted_to_a_format_and_back(task: Task, form: str, place: Path) -> None:
    write_challenge(place, task)
    into = ("--from", "ours", "--notes", "notes.json", f"{task.id}.json", "--to", form, "-o", "there")
    if task.any_type and form.startswith("nlpsandbox"):
        assert "has no place for the task" in said("convert", task, *into, code=2).err
        return
    said("convert", task, *into)
    source = ("there",) if form == "ours" else ("--notes", "notes.json", "there")
    said("convert", task, "--from", form, *source, "--to", "ours", "-o", "back")
    said("validate", task, f"back/{task.id}.json", "--notes", "notes.json")
    ours, theirs = (json.loads(Path(folder, f"{task.id}.json").read_text(encoding="utf-8")) for folder in (".", "back"))
    assert [spans(record, task) for record in theirs] == [spans(record, task) for record in ours]


def spans(record: dict[str, Any], task: Task) -> list[tuple[Any, ...]]:
    """What a flat format can hold of a label: one of a list, or any type."""
    label = task.label if task.labels or task.any_type else None
    return [(one["start"], one["text"], str(one.get(label)).lower()) for one in record[task.array]]


@pytest.mark.parametrize("profile", [CHALLENGE, *PROFILES.names])
@every_task
def test_scored_as_another_scorer_would(task: Task, profile: str, place: Path) -> None:
    write_challenge(place, task)
    notes = json.loads((place / "notes.json").read_text(encoding="utf-8"))
    card = scored(task, f"{task.id}.json", "card", "--profile", written(profile, place, notes))
    assert card["measures"]
    assert ("definition" in card) == task.own


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What a checkout holds of the house."""
    for folder in ("scoring", "schemas", "gold", "submissions", "tools", "docs", "tests/task_table"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "cli").mkdir()
    for file in ("pyproject.toml", "tests/task_samples.py", "tests/profile_words.py", "tests/cli/running.py"):
        shutil.copyfile(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.mark.slow
def test_a_ninth_task_is_a_table_and_a_command(copy: Path) -> None:
    """As CONTRIBUTING tells it; then all of the above for that task alone."""
    with (copy / "scoring/sandscore/task_table/tasks.toml").open("a", encoding="utf-8") as table:
        table.write(NINTH)
    environment = os.environ | {"PYTHONPATH": str(copy / "scoring")}
    subprocess.run([sys.executable, "tools/make_schemas.py"], cwd=copy, env=environment, check=True)
    assert (copy / "schemas" / "dosage.schema.json").exists()
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "tests/task_table",
        "-k",
        "dosage or queue or follows_from_the_table",
    ]
    tested = subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout
