"""The quota on failures: what ends INVALID, or is called back after it was begun, uses up no slot, but not without end.

Whoever could fail as often as they like would ask the hidden notes one question each time.
"""

import datetime
from collections.abc import Sequence

from msgspec import Struct

from sandscore.base.clock import DAY, written
from sandscore.queue.new_submission import OverQuota, quota_of, refusal
from sandscore.records.challenge import Challenge, Quota, SlotCounts
from sandscore.records.submission import CANCELLED, Status

_TIMES, _A_DAY = 5, 25
_TIME_LIMITS = 4


class Failure(Struct, frozen=True):
    """When a submission failed, and for how long its container had run."""

    when: datetime.datetime
    seconds: float = 0.0


def is_failure(status: Status | None, reason: str | None, attempt: int) -> bool:
    """Its team's own: what failed because of us, and what the organiser refused, counts nowhere."""
    called_back = status is Status.REJECTED and reason == CANCELLED and attempt > 0
    return status is Status.INVALID or called_back


def failure_limits(quota: Quota) -> SlotCounts:
    """What the challenge says; where it says nothing, five times each quota, and 25 a day where there is none."""
    said = quota.failures or SlotCounts()
    return SlotCounts(
        day=said.day if said.day is not None else _A_DAY if quota.day is None else _TIMES * quota.day,
        week=said.week if said.week is not None else None if quota.week is None else _TIMES * quota.week,
        total=said.total if said.total is not None else None if quota.total is None else _TIMES * quota.total,
    )


def failure_refusal(
    challenge: Challenge, phase: str | None, failures: Sequence[Failure], now: datetime.datetime
) -> OverQuota | None:
    """Why the team may not go on just now, and when it may; None where it may."""
    quota, _ = quota_of(challenge, phase)
    moments = [failure.when for failure in failures]
    if (said := refusal(failure_limits(quota), moments, now, "failed submissions")) is not None:
        return said
    today = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if not failures:
        return None
    from sandscore.queue.challenge_limits import limits_of

    most = _TIME_LIMITS * limits_of(challenge.limits).total_seconds
    if sum(failure.seconds for failure in failures if today <= failure.when < today + DAY) <= most:
        return None
    return OverQuota(
        f"the team's containers that failed or were cancelled have run for more than {most:,.0f} s today; "
        f"the next slot opens at {written(today + DAY)}",
        today + DAY,
    )
