"""What does not fit into memory waits in nameless files; nobody can tell from what comes out."""

import contextlib
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from annotations.test_large_inputs import corpus, score
from cli.running import sandscore

from sandscore.annotations import column_builder, columns, note_texts, problem_collector
from sandscore.base.column_files import Spool
from sandscore.measures import confidence
from sandscore.task_table.task import TASKS, Task

TOO_SMALL_A_DISK = """
import resource, sys
from sandscore.cli.main import main
from sandscore.annotations import column_builder
column_builder.SPILL = 3
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
main()
"""


@pytest.fixture
def cramped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Room for three annotations, a few notes and two confidences; the bytes of every write."""
    written: list[int] = []
    append = Spool.append

    def counting(self: Spool, values: np.ndarray[Any, Any]) -> None:
        written.append(values.nbytes)
        append(self, values)

    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    monkeypatch.setattr(column_builder, "SPILL", 3)
    monkeypatch.setattr(columns, "_PIECE", 10)
    monkeypatch.setattr(note_texts, "SPILL", 500)
    monkeypatch.setattr(note_texts, "_LOOKED_AT", 200)
    monkeypatch.setattr(confidence, "HELD", 2)
    monkeypatch.setattr(Spool, "append", counting)
    return written


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By task: the files, and what is said of them when all fits into memory."""
    known = {}
    for task in TASKS.values():
        files = corpus(tmp_path_factory.mktemp(task.id), task, 12, 30)
        known[task.id] = files, score(task, files)
    return known


def _open_files() -> list[str]:
    """By name, those without one too; pipes and sockets are those of whoever runs the test."""
    opened: list[str] = []
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the folder itself, while it was listed
            opened.append(str(one.readlink()))
    return sorted(name for name in opened if name.startswith("/"))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_card_is_the_same_to_the_byte(task: Task, jobs: int, told: dict[str, Any], cramped: list[int]) -> None:
    files, roomy = told[task.id]
    opened = _open_files()
    spooled = score(task, files, "--jobs", jobs)
    assert sum(cramped) > 0
    assert roomy.code == 0
    assert (spooled.code, spooled.out, spooled.err) == (roomy.code, roomy.out, roomy.err)
    gc.collect()
    assert _open_files() == opened
    assert not any(Path(tempfile.gettempdir()).iterdir())


def test_a_fault_is_told_alike(tmp_path: Path, cramped: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated annotations of a note with two entries, more of them than are listed."""
    monkeypatch.setattr(problem_collector, "LISTED", 7)
    monkeypatch.setattr(problem_collector, "_NOTED", 10)
    files = corpus(tmp_path, TASKS["date"], 4, 40)
    records = json.loads(files["predictions"].read_text(encoding="utf-8"))
    files["predictions"].write_text(json.dumps([*records, *records[:2]]), encoding="utf-8")
    words = ("validate", "date", files["predictions"], "--notes", files["notes"], "--format", "json")
    spooled = sandscore(*words)
    monkeypatch.setattr(column_builder, "SPILL", 1 << 20)
    monkeypatch.setattr(columns, "_PIECE", 1 << 20)
    monkeypatch.setattr(note_texts, "SPILL", 1 << 20)
    monkeypatch.setattr(problem_collector, "_NOTED", 1 << 20)
    roomy = sandscore(*words)
    assert json.loads(roomy.out)["counts"]["duplicate"] > 7
    assert (spooled.code, spooled.out) == (roomy.code, roomy.out) == (65, roomy.out)


def test_a_full_disk_is_said_to_be_full(told: dict[str, Any]) -> None:
    files, _ = told["date"]
    words = ["--gold", files["gold"], "--predictions", files["predictions"], "--notes", files["notes"]]
    run = [sys.executable, "-c", TOO_SMALL_A_DISK, "score", "date", *map(str, words)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 75
    assert "cannot write to" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_fits_into_memory_needs_no_file(told: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(_: Spool) -> None:
        raise OSError

    files, roomy = told["address"]
    monkeypatch.setattr(Spool, "__init__", no_file)
    found = score(TASKS["address"], files)
    assert (found.code, found.out) == (0, roomy.out)
