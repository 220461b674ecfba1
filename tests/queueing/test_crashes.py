"""Nothing lost, nothing twice: the short form of benchmarks/queue_crashes.py."""

from pathlib import Path

from queue_siege import Siege


def test_killed_workers_change_nothing(tmp_path: Path) -> None:
    siege = Siege(tmp_path, seed=7, submissions=60)
    siege.attack(kills=30)
    siege.drain()
    ended = siege.check()
    assert ended["SCORED"] > ended["INVALID"] > 0
    assert siege.doubles > 0
    assert siege.lost() > 0
