"""``make mutate`` in small: a planted fault is noticed, a harmless one is not, and the places are always the same."""

import os
import runpy
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "mutate.py"))
RATIO = Path("tests/records/test_ratio.py")
SURVIVES, NOTICED, LATE = TOOL["Said"].SURVIVES, TOOL["Said"].NOTICED, TOOL["Said"].LATE
FAILING = SimpleNamespace(nearest_first=lambda *_: [], said_by=lambda *_: (NOTICED, "no module named so"))
HANGING = """
import subprocess
import time
from pathlib import Path


def test_hanging() -> None:
    Path("began").write_text(str(subprocess.Popen(["sleep", "60"]).pid), encoding="utf-8")
    time.sleep(60)
"""
TEST = """
from sandscore.records.counts import Counts


def test_nothing_found() -> None:
    assert Counts(3, 1, 0).precision == 0.75
"""


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = TOOL["Grounds"](tmp_path_factory.mktemp("grounds"))
    (made.folder / RATIO).write_text(TEST, encoding="utf-8")
    return made


@pytest.mark.slow
def test_a_fault_is_noticed(grounds: Any) -> None:
    faults = [plant for plant in TOOL["places_in"]("records") if plant.file.endswith("/counts.py")]
    assert faults
    assert NOTICED in {grounds.said(fault, [RATIO]) for fault in faults[:4]}


@pytest.mark.slow
def test_what_changes_nothing_survives(grounds: Any) -> None:
    plant = TOOL["Plant"]("scoring/sandscore/records/counts.py", 1, 0, 0, "", "# nothing\n")
    assert grounds.said(plant, [RATIO]) is SURVIVES


@pytest.mark.slow
def test_what_hangs_is_ended_with_all_that_it_began(grounds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where time is short that is no survivor, and else it is noticed."""
    hanging = Path("tests/records/test_hanging.py")
    (grounds.folder / hanging).write_text(HANGING, encoding="utf-8")
    assert grounds.said_by([hanging], 5.0) == (LATE, "not at their end after 5 s")
    began = int((grounds.folder / "began").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        _wait_for(began)
    monkeypatch.setitem(grounds.said_by.__globals__, "PATIENCE", 5.0)
    assert grounds.said_by([hanging]) == (NOTICED, "not at their end after 5 s")


def _wait_for(process: int) -> None:
    """Until it is gone: who adopts it takes a moment."""
    for _ in range(100):
        os.kill(process, 0)
        if Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            raise ProcessLookupError
        time.sleep(0.05)


def test_tests_that_fail_without_a_fault_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOL["survivors"].__globals__, "Grounds", lambda *_, **__: FAILING)
    with pytest.raises(SystemExit, match="tests/records: does not pass as it is\nno module named so"):
        next(TOOL["survivors"]("records", 1, 7))


@pytest.mark.parametrize("room", ["records", "task_table"])
def test_ten_places_of_a_room_stay_the_same(room: str) -> None:
    """Also where its files are read again."""
    first = TOOL["drawn"](room, 10, 7)
    TOOL["places_in"].cache_clear()
    assert first == TOOL["drawn"](room, 10, 7)
    assert len(first) == 10


def test_the_page_of_survivors_speaks_of_every_room() -> None:
    page = (ROOT / "docs" / "mutation.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")}
    assert set(TOOL["rooms"]()) <= rows


def test_every_room_has_a_folder_of_tests() -> None:
    for room in TOOL["rooms"]():
        for tests in TOOL["tests_of"](room):
            assert (ROOT / tests).is_file() or list((ROOT / tests).rglob("test_*.py")), room


def test_a_package_of_a_room_and_the_suites_themselves_can_be_asked_for() -> None:
    assert {plant.file.rpartition("/")[0] for plant in TOOL["drawn"]("queue/homes/sqlite", 10, 7)} == {
        "scoring/sandscore/queue/homes/sqlite"
    }
    assert TOOL["tests_of"]("queue/homes/sqlite") == [Path("tests/submission_queue")]
    assert len(TOOL["drawn"]("conformance", 10, 7)) == 10
    assert all((ROOT / tests).exists() for tests in TOOL["tests_of"]("conformance"))
