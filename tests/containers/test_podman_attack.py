"""Podman under the hostile set: contained, with the outcome and the reason that Docker's runs have.

And the other way round: protections are taken away, several that fail in cases of their own at a time, since each start
costs seconds. SANDSCORE_SOAK fires all cases; without it those that Podman has a hand in, and all inspected ones.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_reasons import expected_reasons, without_numbers

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.podman import podman_sandbox
from sandscore.containers.engines.podman.podman_sandbox import SECCOMP
from sandscore.containers.hostile.firing_range import FiringRange, firing_range
from sandscore.containers.hostile.hostile_set import CASES, Case, choose
from sandscore.records.run_record import MIB, RunLimits

DOCS = Path(__file__).resolve().parents[2] / "docs"
INSPECTED = tuple(case for case in CASES if case.inspected)
ENGINES_OWN = (
    *("fork-bomb", "memory-bomb", "disk-filler", "log-flood", "crash-midway", "reaches-targets", "gold-hunt"),
    *("link-out", "fifo-out", "folder-out", "sparse-out", "full-output", "bad-exit", "child-memory"),
)
"""Limits, ends, walls and what comes out; what is wrong with an answer is found out by us, on any engine alike."""
FIRED = tuple(case for case in CASES if case.inspected or case.name in ENGINES_OWN or os.environ.get("SANDSCORE_SOAK"))


@pytest.fixture(scope="module")
def firing(small: RunLimits) -> Iterator[FiringRange]:
    with firing_range(small, engine="podman") as ready:
        yield ready


@pytest.mark.engine
@pytest.mark.parametrize("case", FIRED, ids=lambda case: case.name)
def test_contained_as_on_docker(firing: FiringRange, case: Case) -> None:
    verdict = firing.fire(case)
    assert verdict.complaints == ()
    assert without_numbers(verdict.reason) in expected_reasons(case.name)


def limits_without(spec: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: limit for name, limit in spec["resource_limits"].items() if name not in names}


def bound(source: object, target: str) -> dict[str, Any]:
    return {"destination": target, "type": "bind", "source": str(source), "options": ["rbind", "rw"]}


def with_unshare(folder: Path) -> str:
    profile = json.loads(SECCOMP.read_text(encoding="utf-8"))
    profile["syscalls"].append({"names": ["unshare"], "action": "SCMP_ACT_ALLOW"})
    (folder / "seccomp.json").write_text(json.dumps(profile), encoding="utf-8")
    return str(folder / "seccomp.json")


def first(spec: dict[str, Any], folder: Path) -> dict[str, Any]:
    memory = {"limit": 512 * MIB, "swap": 512 * MIB}
    return {
        "user": "20002:20001",
        "resource_limits": {"memory": memory},
        "r_limits": podman_sandbox.resource_limits(8192),
        "env": {**spec["env"], "SYNAPSE_AUTH_TOKEN": "x"},
        "mounts": [bound(DOCS, "/opt/odd/place")],
        "no_new_privileges": False,
        "seccomp_profile_path": with_unshare(folder),
    }


def second(spec: dict[str, Any], _folder: Path) -> dict[str, Any]:
    return {
        "user": "0:0",
        "read_only_filesystem": False,
        "pidns": {"nsmode": "host"},
        "init": False,
        "cap_drop": [],
        "cap_add": ["SYS_PTRACE"],
        "resource_limits": spec["resource_limits"] | {"memory": {"limit": 64 * MIB, "swap": 128 * MIB}},
    }


def third(_spec: dict[str, Any], _folder: Path) -> dict[str, Any]:
    return {
        "groups": ["999"],
        "ipcns": {"nsmode": "host"},
        "shm_size": None,
        "netns": {"nsmode": "host"},
        "utsns": {"nsmode": "host"},
        "hostname": "",
        "seccomp_profile_path": "unconfined",
    }


OPENED = {
    "first": (
        first,
        {
            "root-user": "a process runs as user 20002",
            "memory-limit": "its cgroup has the limit 536870912",
            "process-limit": "made 80 processes",
            "cpu-limit": "its cgroup has the quota -1",
            "file-limit": "a process may open 8192 files",
            "environment": "a process is given the variable SYNAPSE_AUTH_TOKEN",
            "host-folders": "docs of the host",
            "new-privileges": "NoNewPrivs is 0",
            "user-namespaces": "made one",
        },
        {"system-calls"},
    ),
    "second": (
        second,
        {
            "root-user": "a process runs as user 0",
            "writable-root": "/ is mounted for writing",
            "host-processes": "it shares the processes",
            "capabilities": "CapBnd is",
            "memory-limit": "memory and swap may be 134217728",
        },
        {"writes-outside", "gold-hunt", "host-folders", "engine-socket", "environment", "file-limit"},
    ),
    "third": (
        third,
        {
            "root-user": "a process is in the groups 999",
            "host-ipc": "it shares the memory between processes",
            "host-network": "it shares the network",
            "reaches-internet": "",
            "reaches-metadata": "",
            "system-calls": "Seccomp is 0",
            "user-namespaces": "made one",
        },
        {"scratch-size", "host-folders"},
    ),
}
"""What is taken away, the cases that must fail of it with words of theirs, and those that may."""


@pytest.mark.engine
@pytest.mark.parametrize("opening", OPENED)
def test_protections_that_are_taken_away_are_named(
    firing: FiringRange, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, opening: str
) -> None:
    change, required, allowed = OPENED[opening]
    contained = podman_sandbox.specification

    def opened(*given: Any) -> dict[str, Any]:
        spec = contained(*given)
        return spec | change(spec, tmp_path)

    monkeypatch.setattr(podman_sandbox, "specification", opened)
    told = complaints_of(firing, monkeypatch)
    assert required.keys() <= told.keys() <= required.keys() | allowed, told
    assert {case: told[case] for case, words in required.items() if words not in told[case]} == {}


@pytest.mark.engine
def test_scratch_space_without_bounds_is_named(firing: FiringRange, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = podman_sandbox.memory_volume

    def unbounded(client: Any, name: str, _size: int, _options: str, marks: dict[str, str]) -> Any:
        return bounded(client, name, 1 << 30, "mode=1777,exec", marks)

    contained = podman_sandbox.specification

    def opened(*given: Any) -> dict[str, Any]:
        spec = contained(*given)
        for one in spec["volumes"]:
            one["Options"] = [option.replace("noexec", "exec") for option in one["Options"]]
        return spec

    monkeypatch.setattr(podman_sandbox, "memory_volume", unbounded)
    monkeypatch.setattr(podman_sandbox, "specification", opened)
    told = complaints_of(firing, monkeypatch)
    assert told.keys() == {"scratch-size", "own-programs"}, told
    assert "/tmp has room for" in told["scratch-size"]
    assert "programs in /tmp may be run" in told["own-programs"]
    assert "ran one from /tmp" in told["own-programs"]


@pytest.mark.engine
def test_a_limit_that_podman_forgets_ends_the_run(firing: FiringRange, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a note is handed over: the kernel was asked."""
    contained = podman_sandbox.specification
    monkeypatch.setattr(
        podman_sandbox,
        "specification",
        lambda *given: (spec := contained(*given)) | {"resource_limits": limits_without(spec, "pids")},
    )
    with pytest.raises(OrganiserFault, match="took limits that it does not keep: processes are"):
        firing.fire(*choose(["never-ends"]))


def complaints_of(firing: FiringRange, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setattr(firing, "inspected", None)
    verdicts = [firing.fire(case) for case in INSPECTED]
    return {verdict.case.name: "; ".join(verdict.complaints) for verdict in verdicts if verdict.complaints}


def test_every_protection_is_taken_away() -> None:
    """Sockets of the host and what is written outside are looked for from within, which Docker's tests show."""
    named = {case for _, required, _ in OPENED.values() for case in required} | {"scratch-size", "own-programs"}
    assert named | {"engine-socket", "writes-outside"} == {case.name for case in INSPECTED}
