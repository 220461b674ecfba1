"""UTC ticks of ten minutes: when images on hidden notes are claimed, and when what became of them is committed.

An image may end sooner or later as it likes, and would tell of the notes by that. So nothing that a team could see
moves in between, in whichever home the queue is: neither its own submission nor, by the turn that became free, another.
"""

from sandscore.base import clock

_OPEN_SECONDS = 20.0
"""For as long what is done at a tick may be begun, and never for more than a sixth of the time between two."""


def seconds_to_tick() -> float:
    """Until the next one."""
    return clock.TICK_SECONDS - clock.seconds_since_tick(clock.utc_now())


def at_tick() -> bool:
    """Whether one has just been."""
    return clock.seconds_since_tick(clock.utc_now()) < min(_OPEN_SECONDS, clock.TICK_SECONDS / 6)


class Lookahead:
    """How many images on hidden notes a job claims at a tick: about as many as it is done with by the next."""

    FEWEST, MOST = 2, 64

    def __init__(self) -> None:
        self._most, self.room = self.FEWEST, 0
        self._seen = 0

    def look(self, waiting: int) -> int:
        """How many may be claimed now, where so many are still to be run: none between two ticks."""
        if not at_tick():
            return 0
        now = clock.utc_now()
        tick = round((now.timestamp() - clock.seconds_since_tick(now)) / clock.TICK_SECONDS)
        if tick != self._seen:
            self._seen = tick
            self._begin(waiting)
        return self.room

    def _begin(self, waiting: int) -> None:
        if waiting:
            self._most = max(self.FEWEST, self._most - waiting)
        elif not self.room:  # all that it might claim was claimed, and is done
            self._most = min(self.MOST, 2 * self._most)
        self.room = max(0, self._most - waiting)
