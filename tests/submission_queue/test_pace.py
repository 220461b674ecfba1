"""How much a worker takes on, and when. A queue that cannot be had is waited for: said once, longer each time, and said
again when it is back."""

import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from sandscore.base import clock as clocks
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.worker import worker_job
from sandscore.queue.worker.ticks import Lookahead, at_tick
from sandscore.queue.worker.worker_job import Backpressure, Reach, Slot, WorkerJob

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


def test_a_job_takes_as_many_at_a_tick_as_it_was_done_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four at first, eight once these were done, none while five of them are left, and then six."""
    now = datetime.datetime(2026, 3, 1, 12, 0, 0, tzinfo=datetime.UTC)
    monkeypatch.setattr(clocks, "TICK_SECONDS", 600.0)
    monkeypatch.setattr(clocks, "utc_now", lambda: now)
    ahead = Lookahead()
    rooms = []
    for minutes, waiting, claimed in ((0, 0, 4), (3, 4, 0), (10, 0, 8), (20, 5, 0), (29, 5, 0), (30, 0, 0)):
        now = datetime.datetime(2026, 3, 1, 12, minutes, 0, tzinfo=datetime.UTC)
        rooms.append(ahead.look(waiting))
        ahead.room -= claimed
    assert rooms == [4, 0, 8, 0, 0, 6]


@pytest.mark.parametrize(
    ("apart", "since", "begun"), [(60.0, 9.9, True), (60.0, 10.0, False), (600.0, 19.9, True), (600.0, 20.0, False)]
)
def test_a_tick_has_just_been_for_a_sixth_or_twenty_seconds(
    apart: float, since: float, begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.datetime(2026, 3, 1, 12, 0, 0, tzinfo=datetime.UTC) + datetime.timedelta(seconds=since)
    monkeypatch.setattr(clocks, "TICK_SECONDS", apart)
    monkeypatch.setattr(clocks, "utc_now", lambda: now)
    assert at_tick() is begun


def test_the_room_of_a_job_is_what_is_not_under_way() -> None:
    attempts, anything = SimpleNamespace(waiting_to_run=0), SimpleNamespace()
    job = WorkerJob(attempts, anything)  # type: ignore[arg-type]
    ahead: Any = SimpleNamespace(look=lambda waiting: 40 + waiting)
    job._ahead = ahead

    def room() -> list[int]:
        found = job._room()
        return [found[slot] for slot in (Slot.REHEARSAL, Slot.HIDDEN, Slot.IMAGE, Slot.PREDICTIONS)]

    assert room() == [1, 40, 1, 2]
    for slot in Slot:
        job._under_way[slot] += 1
    assert room() == [0, 40, 0, 1]
    job._under_way.clear()
    attempts.waiting_to_run = 3
    assert room() == [1, 43, -2, 2]
