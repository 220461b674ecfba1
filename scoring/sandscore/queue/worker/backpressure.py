"""The number of submissions a job holds, and its patience with a queue that cannot be had."""

from sandscore.base.clock import uptime
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault

_FEWEST, _MOST = 2, 16
_QUICK_SECONDS, _SLOW_SECONDS = 0.25, 1.0
_SHORTEST_WAIT, _LONGEST_WAIT = 2.0, 30.0
_GIVE_UP_SECONDS = 120.0


class Backpressure:
    """One is made ready while another is being scored; more where they are quick, so that they go together, and so
    few that other workers find work too."""

    def __init__(self) -> None:
        self.most = _FEWEST

    def took(self, seconds: float) -> None:
        """An attempt's time from its claim to its end."""
        if seconds < _QUICK_SECONDS:
            self.most = min(_MOST, 2 * self.most)
        elif seconds > _SLOW_SECONDS:
            self.most = max(_FEWEST, self.most // 2)


class Reach:
    """Whether the queue can be had; said once when it is lost, and once when it is back."""

    def __init__(self, patient: bool) -> None:
        self._patient = patient
        self._lost_since: float | None = None

    def lost(self, fault: InfrastructureFault) -> float:
        """How long to wait: longer each time. Raises where nobody would notice that nothing goes on."""
        if self._lost_since is None:
            self._lost_since = uptime()
            warn(f"{fault}; trying again")
        lost = uptime() - self._lost_since
        if lost > _GIVE_UP_SECONDS and not self._patient:
            raise fault
        return min(_LONGEST_WAIT, max(_SHORTEST_WAIT, lost))

    def back(self) -> None:
        """It answered."""
        if self._lost_since is not None:
            warn(f"going on after {uptime() - self._lost_since:.0f} s")
            self._lost_since = None
