"""The page on prediction files and ``sandscore tasks TASK``: what they show is valid, and says what the schema says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore

from sandscore.cli.task_form import fields, note_text, smallest_file
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "predictions.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def judged(tmp_path: Path, task: str, shown: str, reads: str) -> dict[str, Any]:
    (tmp_path / "p.json").write_text(shown, encoding="utf-8")
    (tmp_path / "notes.json").write_text(json.dumps([{"identifier": "n1", "text": reads}]), encoding="utf-8")
    done = sandscore("validate", task, tmp_path / "p.json", "--notes", tmp_path / "notes.json", "--format", "json")
    told: dict[str, Any] = json.loads(done.out)
    return told


def test_every_task_has_a_section() -> None:
    assert [*SECTIONS] == [*TASKS]


@pytest.mark.parametrize("task", TASKS)
def test_examples_are_valid(task: str, tmp_path: Path) -> None:
    section = SECTIONS[task]
    [shown] = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    [reads] = re.findall(r"that reads `([^`]*)`", section)
    assert judged(tmp_path, task, shown, reads)["counts"] == {}


@pytest.mark.parametrize("task", TASKS)
def test_nothing_of_the_smallest_file_can_be_left_out(task: str, tmp_path: Path) -> None:
    [record] = smallest_file(TASKS[task])
    [annotation] = record[TASKS[task].array]
    assert {*annotation} == {one.name for one in fields(TASKS[task]) if one.required}
    for name in annotation:
        less = {key: value for key, value in annotation.items() if key != name}
        shown = json.dumps([record | {TASKS[task].array: [less]}])
        assert judged(tmp_path, task, shown, note_text(TASKS[task]))["counts"]["schema"] == 1


@pytest.mark.parametrize("task", TASKS)
def test_the_verb_prints_the_file_the_labels_and_three_commands(task: str, tmp_path: Path) -> None:
    told = sandscore("tasks", task).out
    shown = told[told.index("[") : told.index("\n]") + 2]
    assert judged(tmp_path, task, shown, note_text(TASKS[task]))["counts"] == {}
    assert all(label in told for labels in TASKS[task].label_fields.values() for label in labels)
    commands = [line.strip() for line in told.splitlines() if line.strip().startswith("sandscore ")]
    assert [line.split()[1] for line in commands] == ["validate", "score", "init"]


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text(
        '[tasks.medication]\narray = "textMedicationAnnotations"\nlabel = "route"\nlabels = ["oral", "iv"]\n'
        "label_required = true\n"
    )
    told = sandscore("tasks", "medication", "--task-file", tmp_path / "tasks.toml").out
    assert '"route": "oral"' in told
    assert "one of oral, iv" in told
