"""Leases of others' claims: whether one has run out, judged without comparing clocks of two machines."""

import datetime

from sandscore.base.clock import LONGEST_SECONDS, read, uptime, utc_now
from sandscore.base.process_identity import gone
from sandscore.queue.homes.synapse.synapse_statuses import Seen
from sandscore.records.submission import Status


class SynapseLeases:
    """Remembers since when each claim has shown no sign of life."""

    def __init__(self) -> None:
        self._pulses: dict[str, tuple[tuple[str, int], float]] = {}

    def wait(self, now: Seen) -> float | None:
        """Seconds until a claim may succeed; 0 at once; None never, or not by us."""
        if now.record.help or now.status is None:
            return None
        if now.status is Status.RECEIVED:
            self._pulses.pop(now.id, None)
            return 0.0 if now.cancel else _until(now.record.after)
        if now.status not in (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED) or not now.record.nonce:
            return None
        return self._left(now)

    def _left(self, now: Seen) -> float:
        """Unchanged for as long as the lease lasts, on our own clock; at once if its process died on this machine."""
        pulse, since = self._pulses.get(now.id, (None, 0.0))
        if pulse != now.record.pulse:
            pulse, since = now.record.pulse, uptime()
            self._pulses[now.id] = pulse, since
        if gone(now.record.owner):
            return 0.0
        return max(0.0, since + now.record.lease - uptime())


def after(seconds: float) -> str:
    """The time a back-off ends, for people and for the next worker."""
    return (utc_now() + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _until(moment: str) -> float:
    """Never longer than the longest back-off, whatever a clock said when it was written."""
    try:
        left = (read(moment) - utc_now()).total_seconds() if moment else 0.0
    except (ValueError, TypeError):
        return 0.0
    return min(max(0.0, left), LONGEST_SECONDS)
