"""One submission's container: made, watched, asked how it is, and always removed.

Who ended a container: it itself, or an engine that was stopped, killed, or told to by somebody.
"""

import datetime
import time
from typing import TYPE_CHECKING, Any

from sandscore.containers.engines.docker.docker_engine import asking

if TYPE_CHECKING:
    from docker.models.containers import Container
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from msgspec import Struct

from sandscore.containers.answers import RefusedAnswer
from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.log_watch import Attached, LogWatch
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

_LATE_SECONDS = 0.3
"""How long after a container's end the engine may still be writing down what it had to do with it."""


def ended_by_itself(container: "Container") -> bool:
    """Whether the engine saw the container die and had no hand in it.

    An engine that stops, or finds a container that an engine before it left running, kills what is on it: exit code
    137, as if the participant's program had done it. What an engine remembers ends with it.
    """
    when = {"since": "0", "until": f"{_ended_at(container.attrs['State']) + _LATE_SECONDS:.9f}"}
    chosen = {"container": container.id, "event": ["die", "kill"]}
    with asking("telling how the container ended"):
        events = container.client.api.events(**when, filters=chosen, decode=True)
        seen = {str(event["Action"]) for event in events}
    return seen == {"die"}


def _ended_at(state: dict[str, Any]) -> float:
    moment = datetime.datetime.fromisoformat(state["FinishedAt"])
    return moment.timestamp() if moment.year > 1 else time.time()


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


class Sandbox:
    """A started container of a submission."""

    def __init__(self, container: "Container", limits: RunLimits, log: LogWatch) -> None:
        self.container, self.limits, self.log = container, limits, log
        self.usage = Usage()
        self.start_seconds = 0.0
        self.exit_code: int | None = None

    def start(self) -> None:
        begun = time.monotonic()
        with asking("attaching to the container"):
            stream = Attached(self.container)
        self.log.follow(stream, self.limits.log_bytes, self.kill)
        with asking("starting the container", theirs="the image cannot be started"):
            self.container.start()
        self.start_seconds = time.monotonic() - begun

    def state(self) -> State:
        with asking("telling the container's state"):
            self.container.reload()
        now: dict[str, Any] = self.container.attrs["State"]
        running = bool(now["Running"]) and now.get("Status") != "created"
        self.exit_code = None if running else now["ExitCode"]
        return State(running, bool(now["OOMKilled"]), self.exit_code)

    def attributes(self) -> dict[str, Any]:
        """All the engine knows of the running container; raises what ended it."""
        self.require_well()
        known: dict[str, Any] = self.container.attrs
        return known

    def measure(self) -> None:
        """Note what the container has used; once it is dead nobody can say any more."""
        with suppress(RunFault), asking("measuring the container"):
            self.usage |= _usage(self.container.client.api.stats(self.container.id, stream=False, one_shot=True))

    def kill(self) -> None:
        with suppress(RunFault), asking("killing the container"):
            self.container.kill()

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
        if not state.running and not ended_by_itself(self.container):
            return RunFault(Outcome.INFRASTRUCTURE, "the engine ended the container")
        if not state.running:
            return RunFault(Outcome.CRASHED, f"the container ended by itself with exit code {state.exit_code}")
        return None

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


@contextmanager
def sandbox(
    client: Any,
    image: ImageFacts,
    limits: RunLimits,
    marks: dict[str, str],
    network: str,
    mounts: dict[str, dict[str, str]],
    log: LogWatch,
) -> Iterator[Sandbox]:
    """A container of the image, started; gone afterwards, whatever happens."""
    with asking("making a container", theirs="no container can be made of the image"):
        container = client.containers.create(**container_arguments(image, limits, marks, network, mounts))
    box = Sandbox(container, limits, log)
    try:
        _require_covered(container.attrs["Mounts"], mounts)
        box.start()
        yield box
    finally:
        box.kill()
        with suppress(RunFault), asking("removing the container"):  # else found by its label at the next start
            container.remove(force=True, v=True)
        box.log.close()


def _require_covered(found: list[dict[str, Any]], ours: Collection[str]) -> None:
    """No volume but ours: what an image declares in a way that no memory covers would be on the host's disk."""
    for mount in found:
        if mount["Type"] == "volume" and mount.get("Name") not in ours:
            raise RunFault(
                Outcome.CRASHED, f"the image declares a VOLUME '{mount['Destination']}' that is no plain path"
            )


def _usage(stats: dict[str, Any]) -> Usage:
    cpu = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage")
    memory = stats.get("memory_stats", {})
    return Usage(cpu / 1e9 if cpu else None, memory.get("max_usage") or memory.get("usage"))
