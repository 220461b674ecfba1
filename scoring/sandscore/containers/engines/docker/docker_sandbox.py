"""A submission's container on a Docker engine: made, started, measured, and always removed."""

import datetime
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.engines.docker.docker_engine import asking, started
from sandscore.containers.engines.memory_kills import MemoryKills, memory_group
from sandscore.containers.engines.sandbox import Sandbox, State, Usage
from sandscore.containers.log_watch import LogWatch
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from docker.models.containers import Container

_LATE_SECONDS = 0.3
"""How long after a container's end the engine may still be writing down what it had to do with it."""
_BUSY_SECONDS = 3.0
"""How long after it a busy engine may be writing down the end itself."""


def told_of_end(container: "Container") -> set[str]:
    """What the engine saw happen to a container that has ended: ``die``, ``kill``, ``oom``.

    An engine that stops, or finds a container that an engine before it left running, kills what is on it: exit code
    137, as if the participant's program had done it. What an engine remembers ends with it.
    """
    ended = _ended_at(container.attrs["State"])
    latest = ended + _LATE_SECONDS
    when = {"since": "0", "until": f"{max(latest, min(time.time(), ended + _BUSY_SECONDS)):.9f}"}
    chosen = {"container": container.id, "event": ["die", "kill", "oom"]}
    with asking("telling how the container ended"):
        events = list(container.client.api.events(**when, filters=chosen, decode=True))
    return {str(one["Action"]) for one in events if one["Action"] != "kill" or one["timeNano"] <= latest * 1e9}


def ended_by_itself(told: Collection[str]) -> bool:
    """Whether the engine saw the container die and had no hand in it."""
    return "die" in told and "kill" not in told


def _ended_at(state: Mapping[str, Any]) -> float:
    moment = datetime.datetime.fromisoformat(state["FinishedAt"])
    return moment.timestamp() if moment.year > 1 else time.time()


class Attached:
    """The output of a container, which must be attached to before it is started to miss nothing."""

    def __init__(self, container: Any) -> None:
        self._stream = container.attach(stream=True, logs=True)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        """Wake a reader and give the connection back; the stream's own close leaves the latter to chance."""
        self._stream.close()
        self._stream._response.close()


class DockerSandbox(Sandbox):
    """A container of the engine."""

    def __init__(self, container: "Container", limits: RunLimits, log: LogWatch) -> None:
        super().__init__(limits, log)
        self.container = container
        self._kills: MemoryKills | None = None
        self._killed_at_end = False

    def start(self) -> None:
        begun = time.monotonic()
        with asking("starting the container", theirs="the image cannot be started"):
            started(self.container, attach=self._attach)
        self.start_seconds = time.monotonic() - begun
        if self._kills is None:
            self.hear_of_kills()

    def _attach(self) -> None:
        with asking("attaching to the container"):
            stream = Attached(self.container)
        self.log.follow(stream, self.limits.log_bytes, self.kill)

    def hear_of_kills(self) -> None:
        """From the kernel; not where the container cannot be seen from here: then the engine's own word has to do."""
        self._reload()
        with suppress(OSError):
            if (group := memory_group(self.container.attrs["State"]["Pid"], self.container.id)) is not None:
                self._kills = MemoryKills(group)

    def state(self) -> State:
        self._reload()
        now: dict[str, Any] = self.container.attrs["State"]
        running = bool(now["Running"]) and now.get("Status") != "created"
        self.exit_code = None if running else now["ExitCode"]
        heard = self._killed_at_end or (self._kills is not None and self._kills.seen)
        return State(running, heard or bool(now["OOMKilled"]), self.exit_code)

    def _reload(self) -> None:
        with asking("telling the container's state"):
            self.container.reload()

    def attributes(self) -> dict[str, Any]:
        """All the engine knows of the running container; raises what ended it."""
        self.require_well()
        known: dict[str, Any] = self.container.attrs
        return known

    def process(self) -> int | None:
        """Only where it is a process of this very machine, in the cgroup that bears the container's name."""
        number: int = self.attributes()["State"]["Pid"]
        with suppress(OSError):
            if self.container.id in (Path("/proc") / str(number) / "cgroup").read_text(encoding="ascii"):
                return number
        return None

    def measure(self) -> None:
        """Note what the container has used; once it is dead nobody can say any more."""
        with suppress(RunFault), asking("measuring the container"):
            self.usage |= _usage(self.container.client.api.stats(self.container.id, stream=False, one_shot=True))

    def kill(self) -> None:
        with suppress(RunFault), asking("killing the container"):
            self.container.kill()

    def ended_by_itself(self) -> bool:
        told = told_of_end(self.container)
        self._killed_at_end |= "oom" in told
        return ended_by_itself(told)

    def close(self) -> None:
        """Nothing more is heard of it."""
        if self._kills is not None:
            self._kills.close()
        self.log.close()


@contextmanager
def sandbox(
    client: Any,
    image: ImageFacts,
    limits: RunLimits,
    marks: dict[str, str],
    network: str,
    mounts: Mapping[str, Mapping[str, str]],
    log: LogWatch,
) -> Iterator[DockerSandbox]:
    """A container of the image, started; gone afterwards, whatever happens."""
    with asking("making a container", theirs="no container can be made of the image"):
        container = client.containers.create(**container_arguments(image, limits, marks, network, mounts))
    box = DockerSandbox(container, limits, log)
    try:
        _require_covered(container.attrs["Mounts"], mounts)
        box.start()
        yield box
    finally:
        box.kill()
        with suppress(RunFault), asking("removing the container"):  # else found by its label at the next start
            container.remove(force=True, v=True)
        box.close()


def _require_covered(found: list[dict[str, Any]], ours: Collection[str]) -> None:
    """No volume but ours: what an image declares in a way that no memory covers would be on the host's disk."""
    for mount in found:
        if mount["Type"] == "volume" and mount.get("Name") not in ours:
            raise RunFault(
                Outcome.CRASHED, f"the image declares a VOLUME '{mount['Destination']}' that is no plain path"
            )


def _usage(stats: Mapping[str, Any]) -> Usage:
    cpu = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage")
    memory = stats.get("memory_stats", {})
    return Usage(cpu / 1e9 if cpu else None, memory.get("max_usage") or memory.get("usage"))
