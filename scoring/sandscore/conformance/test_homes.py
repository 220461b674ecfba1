"""The homes of queues that take submissions through their row, each tried with every check of the suite."""

from pathlib import Path

import pytest

from sandscore.conformance.home_bench import FolderBench
from sandscore.conformance.home_suite import CHECKS, tried
from sandscore.queue.homes.home_registry import HOMES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kind, *names = metafunc.config.getoption("kind") or ["home"]
    chosen = (names or [row.name for row in HOMES if row.takes_submissions]) if kind == "home" else []
    metafunc.parametrize("home", chosen)
    metafunc.parametrize("check", CHECKS)


def test_home(home: str, check: str, tmp_path: Path) -> None:
    row = HOMES.find(home)()
    if not row.takes_submissions:
        pytest.fail(f"submissions to the home '{home}' are made elsewhere: bring a bench of your own")
    tried(FolderBench(row, tmp_path), check)
