"""Quotas as Synapse counts them. Dates by hand: 18 November 2026 is a Wednesday, its week begins on the 16th."""

import datetime
from pathlib import Path

import pytest
from queue_samples import CHALLENGE, WRONG_PLACE, hand_in, opened, queue, with_home

from sandscore.base.errors import ParticipantFault
from sandscore.queue.failure_quota import Failure, failure_limits, failure_refusal
from sandscore.queue.homes.sqlite import sqlite_admin, sqlite_claims
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.new_submission import refusal
from sandscore.records.challenge import Challenge, Limits, Quota, SlotCounts
from sandscore.records.submission import Status, Verdict

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


@pytest.mark.parametrize(
    ("quota", "limits"),
    [
        (Quota(), (25, None, None)),
        (Quota(day=3), (15, None, None)),
        (Quota(week=10, total=40), (25, 50, 200)),
        (Quota(day=3, failures=SlotCounts(day=4, total=9)), (4, None, 9)),
    ],
)
def test_how_often_a_team_may_fail(quota: Quota, limits: tuple[int | None, ...]) -> None:
    """Five times each quota, and 25 a day where there is none."""
    found = failure_limits(quota)
    assert (found.day, found.week, found.total) == limits


def test_containers_that_fail_may_run_four_time_limits_a_day() -> None:
    challenge = Challenge(challenge="c", limits=Limits(time_limit=100))
    moments = at((18, 1), (18, 2), (17, 23))
    assert failure_refusal(challenge, None, [Failure(moment, 200.0) for moment in moments], NOW) is None, "400 today"
    failures = [Failure(moment, 200.5) for moment in moments]
    said = str(failure_refusal(challenge, None, failures, NOW))
    assert said.endswith("more than 400 s today; the next slot opens at 2026-11-19T00:00:00Z")


def test_who_fails_too_often_is_told_when_the_next_slot_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two INVALID and one called back after its claim: three. One called back before it is none."""
    for module in (sqlite_admin, sqlite_claims):
        monkeypatch.setattr(module, "utc_now", lambda: NOW)
    workspace = queue(tmp_path, f"{CHALLENGE}[quota.failures]\nday = 3\n")

    async def fail(home: EmbeddedHome) -> None:
        await home.cancel(hand_in(workspace))
        for called_back in (False, True, False):
            submission_id = hand_in(workspace)
            [one] = await home.claimable(1)
            claim = await home.claim(one, "w", 30.0)
            assert claim is not None
            if called_back:
                await home.cancel(submission_id)
            await home.commit(claim, Verdict(Status.INVALID))

    with_home(workspace, fail)
    with pytest.raises(ParticipantFault, match=r"all 3 failed submissions .* opens at 2026-11-19T00:00:00Z"):
        hand_in(workspace)
    hand_in(workspace, team="Team B")
