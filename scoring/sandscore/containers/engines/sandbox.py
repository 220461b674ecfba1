"""A started container of a submission: watched, asked how it is, its end explained. Every engine has its own."""

import time
from abc import ABC, abstractmethod

from msgspec import Struct

from sandscore.containers.answers import RefusedAnswer
from sandscore.containers.log_watch import LogWatch
from sandscore.records.run_record import Outcome, RunFault, RunLimits

_SETTLING_SECONDS = 1.0
"""How long a container that just died may still be reported as running."""
_ENDING_SECONDS = 10.0


class State(Struct, frozen=True):
    """What the engine says of a container."""

    running: bool
    out_of_memory: bool
    exit_code: int | None


class Usage(Struct, frozen=True):
    """What a container has used so far; None where the engine does not say."""

    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None

    def __or__(self, later: "Usage") -> "Usage":
        """The later figures, with the earlier ones where those are silent; the higher peak."""
        peaks = [u.peak_memory_bytes for u in (self, later) if u.peak_memory_bytes]
        return Usage(later.cpu_seconds or self.cpu_seconds, max(peaks, default=None))


class Sandbox(ABC):
    """What an engine must be able to do with a container of its own, and what a run makes of that.

    The words of an outcome are the same on every engine.
    """

    def __init__(self, limits: RunLimits, log: LogWatch) -> None:
        self.limits, self.log = limits, log
        self.usage = Usage()
        self.start_seconds = 0.0
        self.exit_code: int | None = None

    @abstractmethod
    def start(self) -> None:
        """Run the program; from then on its output goes to the log, past whose limit it is killed."""

    @abstractmethod
    def state(self) -> State:
        """How it is now; notes the exit code."""

    @abstractmethod
    def measure(self) -> None:
        """Note what it has used, where that can still be told; raises nothing."""

    @abstractmethod
    def kill(self) -> None:
        """End every process in it; raises nothing, and does nothing where it has ended."""

    @abstractmethod
    def ended_by_itself(self) -> bool:
        """Whether nobody but the program had a hand in its end: neither the engine, nor what stopped the engine."""

    def process(self) -> int | None:
        """The number of its first process among the host's own; None where an engine cannot tell."""
        return None

    def end(self) -> State:
        """Kill the container and tell its last state, the only one that knows of memory kills inside it."""
        self.measure()
        own_end = self.exit_code
        self.kill()
        deadline = time.monotonic() + _ENDING_SECONDS
        while (state := self.state()).running and time.monotonic() < deadline:
            time.sleep(0.02)
        self.exit_code = own_end
        return state

    def explain(self, fault: RunFault) -> RunFault:
        """The deeper reason of a fault, where the container has died of something."""
        deadline = time.monotonic() + _SETTLING_SECONDS
        unexplained = fault.outcome in (Outcome.CRASHED, Outcome.INVALID_OUTPUT) and not isinstance(
            fault, RefusedAnswer
        )
        while (state := self.state()).running and unexplained and time.monotonic() < deadline:
            time.sleep(0.05)
        return self._excess(self.end()) or self.verdict(state) or fault

    def verdict(self, state: State) -> RunFault | None:
        """What a state says about the run; None while all is well."""
        if (excess := self._excess(state)) is not None:
            return excess
        if state.running:
            return None
        own = self.ended_by_itself()
        if (excess := self._excess(self.state())) is not None:  # an engine may have heard of a memory kill meanwhile
            return excess
        if not own:
            return RunFault(Outcome.INFRASTRUCTURE, "the engine ended the container")
        return RunFault(Outcome.CRASHED, f"the container ended by itself with exit code {state.exit_code}")

    def _excess(self, state: State) -> RunFault | None:
        """A memory kill of any process inside counts, whatever the exit code says."""
        if self.log.flooded:
            return RunFault(
                Outcome.INVALID_OUTPUT, f"more than {self.limits.log_bytes:,} bytes were written to the log"
            )
        if state.out_of_memory:
            return RunFault(
                Outcome.OUT_OF_MEMORY,
                f"more memory was asked for than the {self.limits.memory_bytes:,} bytes allowed",
            )
        return None

    def require_well(self) -> None:
        """Raises what is wrong with the container, were it only that it has ended."""
        if (fault := self.verdict(self.state())) is not None:
            raise fault

    def require_moderate(self) -> None:
        """End the container; raises where it has taken too much."""
        if (fault := self._excess(self.end())) is not None:
            raise fault
