"""Memory kills of a group that somebody else removes at once, as an engine does; and what an engine says too late."""

import secrets
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sandscore.containers.engines.control_groups import ControlGroup, control_root
from sandscore.containers.engines.docker.docker_sandbox import ended_by_itself, told_of_end
from sandscore.containers.engines.engine_protocol import labels
from sandscore.containers.engines.memory_kills import MemoryKills, memory_group
from sandscore.containers.run_context import preset
from sandscore.records.run_record import MIB

ENDED = 1795082400.0
"""2026-11-19T10:00:00Z"""
LIMITS = preset("strict").model_copy(update={"memory_bytes": 16 * MIB})


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    made = control_root().group(labels("memory-kills", 600), secrets.token_hex(4))
    made.limit(LIMITS)
    yield made
    made.remove()


def run_in(group: ControlGroup, command: str) -> None:
    """To its end."""
    begun = subprocess.Popen(["sh", "-c", f"read go; {command}"], stdin=subprocess.PIPE)
    group.add(begun.pid)
    begun.communicate(b"go\n", timeout=60)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("command", "killed"), [("exec tail /dev/zero", True), ("tail /dev/zero; true", True), ("true", False)]
)
@pytest.mark.parametrize("asked_before", [True, False])
def test_a_group_that_went_at_once(group: ControlGroup, command: str, *, killed: bool, asked_before: bool) -> None:
    if control_root().version == 2:
        with pytest.raises(OSError, match="memory"):
            MemoryKills(group.folder("memory"))
        return
    for _ in range(5):
        kills = MemoryKills(group.folder("memory"))
        assert not kills.seen
        run_in(group, command)
        if asked_before:
            assert (kills.seen, group.killed_for_memory) == (killed, killed)
        group.remove()
        assert [kills.seen, kills.seen] == [killed, killed]
        kills.close()
        for place in control_root().places:
            (place / group.name).mkdir()
        group.limit(LIMITS)


@pytest.mark.engine
def test_a_kill_before_anybody_listened(group: ControlGroup) -> None:
    run_in(group, "tail /dev/zero; true")
    assert group.killed_for_memory
    if control_root().version == 1:
        kills = MemoryKills(group.folder("memory"))
        assert kills.seen
        kills.close()


@pytest.mark.engine
def test_a_group_is_known_by_its_name(group: ControlGroup) -> None:
    """A process that has ended is shown in the root group, which is nobody's."""
    waiting = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    group.add(waiting.pid)
    found = group.folder("memory") if control_root().version == 1 else None
    assert memory_group(waiting.pid, group.name) == found
    assert memory_group(waiting.pid, "another") is None
    waiting.communicate()
    assert memory_group(waiting.pid, group.name) is None


@pytest.mark.parametrize(
    ("told", "own"),
    [({"die"}, True), ({"die", "oom"}, True), ({"die", "kill"}, False), ({"kill"}, False), (set(), False)],
)
def test_whose_doing_an_end_was(told: set[str], *, own: bool) -> None:
    assert ended_by_itself(told) is own


@pytest.mark.parametrize(
    ("now", "until"),
    [(ENDED + 0.1, ENDED + 0.3), (ENDED + 2, ENDED + 2), (ENDED + 60, ENDED + 3), (ENDED - 60, ENDED + 0.3)],
)
def test_a_busy_engine_may_write_down_an_end_late(monkeypatch: pytest.MonkeyPatch, now: float, until: float) -> None:
    """But who killed a container did so until shortly after its end."""
    monkeypatch.setattr("time.time", lambda: now)
    moments = [("die", 1.9), ("oom", 1.95), ("kill", 0.29 if now > ENDED + 30 else 0.31)]
    asked: list[float] = []

    def events(until: str, **_: Any) -> list[dict[str, Any]]:
        asked.append(float(until))
        return [{"Action": name, "timeNano": int((ENDED + later) * 1e9)} for name, later in moments]

    container: Any = SimpleNamespace(
        id="1",
        attrs={"State": {"FinishedAt": "2026-11-19T10:00:00Z"}},
        client=SimpleNamespace(api=SimpleNamespace(events=events)),
    )
    assert told_of_end(container) == ({"die", "oom", "kill"} if now > ENDED + 30 else {"die", "oom"})
    assert asked == [pytest.approx(until, abs=1e-6)]
