"""The short form of ``benchmarks/intake_load.py``: servers die by force while teams hand in, and nothing is lost."""

from pathlib import Path

import pytest
from intake_siege import IntakeSiege

pytestmark = pytest.mark.slow


def test_every_201_is_listed_once(tmp_path: Path) -> None:
    siege = IntakeSiege(tmp_path, teams=6, servers=2, seed=16)
    try:
        siege.attack(submissions=60, watchers=20, kills=4)
        found = siege.check()
    finally:
        siege.stop()
    assert len(found) == 60
    assert siege.kills == 4
    assert siege.most_memory <= 200 << 20
