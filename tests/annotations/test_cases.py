"""A directory of files a task: each valid one passes, each invalid one fails with the code its name begins with."""

from pathlib import Path

import pytest

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.task_table.task import TASKS

CASES = Path(__file__).resolve().parents[1] / "cases"
VALID = sorted(CASES.glob("*/valid/*"))
INVALID = sorted(CASES.glob("*/invalid/*"))


def found_in(path: Path) -> ProblemCollector:
    notes = CASES / ("one-note.json" if path.stem == "one-note" else "notes.json")
    return load_files(TASKS[path.parts[-3]], Inputs(predictions=path, notes=notes)).findings["predictions"]


def test_every_task_has_cases() -> None:
    assert {path.parts[-3] for path in VALID} == {path.parts[-3] for path in INVALID} == set(TASKS)


@pytest.mark.parametrize("path", VALID, ids=lambda p: f"{p.parts[-3]}-{p.stem}")
def test_valid(path: Path) -> None:
    assert not found_in(path).errors


@pytest.mark.parametrize("path", INVALID, ids=lambda p: f"{p.parts[-3]}-{p.stem}")
def test_invalid(path: Path) -> None:
    findings = found_in(path)
    errors = {problem.code for problem in findings.problems if problem.severity == "error"}
    assert errors == {path.stem.partition("--")[0]}
