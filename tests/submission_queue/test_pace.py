"""A queue that cannot be had is waited for: said once, longer each time, and said again when it is back."""

import pytest

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.worker import worker_job
from sandscore.queue.worker.worker_job import Backpressure, Reach

GONE = InfrastructureFault("nobody answers")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(worker_job, "uptime", lambda: now[0])
    return now


def test_it_is_said_once_and_that_it_is_back(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    reach = Reach(patient=True)
    waits = []
    for passed in (0.0, 2.0, 5.0, 500.0):
        clock[0] = 100.0 + passed
        waits.append(reach.lost(GONE))
    assert waits == [2.0, 2.0, 5.0, 30.0]
    assert capsys.readouterr().err == "sandscore: nobody answers; trying again\n"
    for _ in range(2):
        reach.back()
    assert capsys.readouterr().err == "sandscore: going on after 500 s\n"
    reach.lost(GONE)
    assert "nobody answers" in capsys.readouterr().err


def test_who_is_to_end_gives_up(clock: list[float]) -> None:
    reach = Reach(patient=False)
    reach.lost(GONE)
    clock[0] += 121.0
    with pytest.raises(InfrastructureFault, match="nobody answers"):
        reach.lost(GONE)


def test_only_quick_work_is_held_in_number() -> None:
    held = Backpressure()
    seen = [held.most]
    for seconds in (0.01, 0.01, 0.01, 0.01, 0.5, 2.0, 2.0, 2.0, 2.0):
        held.took(seconds)
        seen.append(held.most)
    assert seen == [2, 4, 8, 16, 16, 16, 8, 4, 2, 2]
