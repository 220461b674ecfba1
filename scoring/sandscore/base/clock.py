"""Two clocks: one for people and quotas (UTC), one for leases and waiting (seconds since this machine's start).

Leases never look at the wall clock, so that setting it back or forth neither frees nor freezes a claim. The other
clock is shared by all processes of a machine and starts anew with it.

How long a submission waits after a failure of ours.
"""

import datetime
import time

DAY = datetime.timedelta(days=1)


def utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def written(moment: datetime.datetime) -> str:
    """2026-03-01T09:30:00Z: sorts as text, read by everybody."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamped(moment: datetime.datetime) -> str:
    """The same to the microsecond, where order matters."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


TICK_SECONDS = 600.0
"""Ticks are the only moments at which anything about an image on hidden notes becomes visible."""


def seconds_since_tick(now: datetime.datetime) -> float:
    """Since the latest tick: 00:00 UTC, and every ten minutes from then on."""
    begun = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (now - begun).total_seconds() % TICK_SECONDS


def uptime() -> float:
    """Seconds since the machine's start, time asleep included where the system counts it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


MOST_FAILURES = 5
FIRST_SECONDS, LONGEST_SECONDS = 5.0, 900.0


def wait_after(failures: int, first: float = FIRST_SECONDS) -> float:
    """Doubles with each failure in a row; ``failures`` counts the one that just happened."""
    return float(min(LONGEST_SECONDS, first * 2 ** min(failures - 1, 30)))
