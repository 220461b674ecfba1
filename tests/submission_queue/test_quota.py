"""Quotas as Synapse counts them. Dates by hand: 18 November 2026 is a Wednesday, its week begins on the 16th."""

import datetime
from pathlib import Path

import pytest
from queue_samples import CHALLENGE, WRONG_PLACE, hand_in, opened, queue, with_home

from sandscore.base.errors import ParticipantFault
from sandscore.queue.homes.sqlite import sqlite_admin
from sandscore.queue.new_submission import refusal
from sandscore.records.challenge import Quota

NOW = datetime.datetime(2026, 11, 18, 15, 30, tzinfo=datetime.UTC)


def at(*days_and_hours: tuple[int, int]) -> list[datetime.datetime]:
    return [datetime.datetime(2026, 11, day, hour, tzinfo=datetime.UTC) for day, hour in days_and_hours]


@pytest.mark.parametrize(
    ("quota", "counted", "opens"),
    [
        pytest.param(Quota(), at((18, 1), (18, 2)), None, id="no limit"),
        pytest.param(Quota(day=2), at((17, 23), (18, 0)), None, id="yesterday does not count"),
        pytest.param(Quota(day=2), at((18, 0), (18, 15)), "2026-11-19T00:00:00Z", id="day full"),
        pytest.param(Quota(week=2), at((15, 23), (16, 0)), None, id="last week does not count"),
        pytest.param(Quota(week=2), at((16, 0), (18, 1)), "2026-11-23T00:00:00Z", id="week full"),
        pytest.param(Quota(day=1, week=1), at((18, 1)), "2026-11-23T00:00:00Z", id="both full: the later"),
        pytest.param(Quota(total=1), at((1, 1)), "no further slot", id="total full"),
        pytest.param(Quota(day=0), [], "2026-11-19T00:00:00Z", id="closed for the day"),
        pytest.param(Quota(day=1), at((19, 1)), None, id="a clock that ran ahead yesterday"),
    ],
)
def test_when_the_next_slot_opens(quota: Quota, counted: list[datetime.datetime], opens: str | None) -> None:
    said = refusal(quota, counted, NOW)
    assert (said is None) if opens is None else (opens in str(said))


def test_local_time_zones_do_not_move_midnight() -> None:
    tokyo = datetime.timezone(datetime.timedelta(hours=9))
    late = datetime.datetime(2026, 11, 19, 0, 30, tzinfo=tokyo)
    assert refusal(Quota(day=1), at((18, 1)), late) is not None


def test_invalid_and_cancelled_submissions_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_admin, "utc_now", lambda: NOW)
    workspace = queue(tmp_path, f"{CHALLENGE}[quota]\nday = 2\n")
    first, second = hand_in(workspace), hand_in(workspace, WRONG_PLACE)
    with pytest.raises(ParticipantFault, match="opens at 2026-11-19T00:00:00Z"):
        hand_in(workspace)
    hand_in(workspace, team="Team B")
    with_home(workspace, lambda home: home.cancel(first))
    with opened(workspace) as database, database.writing() as connection:
        connection.execute("UPDATE submission SET status='INVALID' WHERE id=?", (second,))
    hand_in(workspace)
    hand_in(workspace)
    with pytest.raises(ParticipantFault, match="opens at"):
        hand_in(workspace)
