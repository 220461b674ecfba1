"""How many submissions a team may make, counted as Synapse does: all but INVALID and REJECTED, days from 00:00 UTC."""

import datetime
from collections.abc import Sequence

from sandscore.queueing.times import DAY, written
from sandscore.records.challenge import Challenge, Quota


def quota_of(challenge: Challenge, phase: str | None) -> tuple[Quota, str | None]:
    """The phase's own quota, counted within it; else the challenge's, counted over all phases (None)."""
    own = next((p.quota for p in challenge.phases if p.name == phase), None)
    return (challenge.quota, None) if own is None else (own, phase)


def refusal(quota: Quota, counted: Sequence[datetime.datetime], now: datetime.datetime) -> str | None:
    """Why a further submission is refused, and when the next slot opens; None if there is room.

    ``counted`` are the times of the team's submissions that count.
    """
    if quota.total is not None and len(counted) >= quota.total:
        return f"the team has used all {quota.total} submissions it may make in all; no further slot will open"
    full = []
    for limit, begin, length, name in _windows(quota, now):
        used = sum(begin <= moment < begin + length for moment in counted)
        if limit is not None and used >= limit:
            full.append((begin + length, f"the team has used all {limit} submissions it may make in a {name}"))
    if not full:
        return None
    opens, sentence = max(full)
    return f"{sentence}; the next slot opens at {written(opens)}"


def _windows(
    quota: Quota, now: datetime.datetime
) -> list[tuple[int | None, datetime.datetime, datetime.timedelta, str]]:
    today = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [(quota.day, today, DAY, "day"), (quota.week, today - today.weekday() * DAY, 7 * DAY, "week")]
