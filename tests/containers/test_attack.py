"""Every hostile case against the real engine: contained, its outcome named, nothing left behind.

And the other way round: each protection is taken away, one at a time, and the set fails in the cases that name it.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_reasons import expected_reasons, without_numbers

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.containers.engines import engine_protocol
from sandscore.containers.engines.docker import container_limits
from sandscore.containers.hostile.firing_range import FiringRange, _require_answer, attack, firing_range
from sandscore.containers.hostile.hostile_set import CASES, Case, choose
from sandscore.containers.hostile.protections import OUTSIDE
from sandscore.containers.run_context import preset
from sandscore.records.run_record import MIB, RunLimits

Arguments = dict[str, Any]
DOCS = Path(__file__).resolve().parents[2] / "docs"
INSPECTED = tuple(case for case in CASES if case.inspected)


@pytest.fixture(scope="session")
def firing(small: RunLimits) -> Iterator[FiringRange]:
    with firing_range(small) as ready:
        yield ready


@pytest.mark.engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contained(firing: FiringRange, case: Case) -> None:
    verdict = firing.fire(case)
    assert verdict.complaints == ()
    assert without_numbers(verdict.reason) in expected_reasons(case.name)


def without_filter_of(*calls: str) -> str:
    profile = json.loads(engine_protocol.seccomp_profile())
    profile["syscalls"].append({"names": list(calls), "action": "SCMP_ACT_ALLOW"})
    return f"seccomp={json.dumps(profile)}"


def scratch(arguments: Arguments, old: str, new: str) -> Arguments:
    assert all(old in options for options in arguments["tmpfs"].values())
    return {"tmpfs": {place: options.replace(old, new) for place, options in arguments["tmpfs"].items()}}


def mounted(arguments: Arguments, source: object, target: str) -> Arguments:
    return {"volumes": {**arguments["volumes"], str(source): {"bind": target, "mode": "rw"}}}


OURS = f"seccomp={engine_protocol.seccomp_profile()}"
PRIVILEGED = "no-new-privileges:true"
OPENED: dict[str, tuple[Callable[[Arguments], Arguments], dict[str, tuple[str, ...]]]] = {
    "user": (lambda _: {"user": "0:0"}, {"root-user": ("a process runs as user 0", "it is 0:0")}),
    "another user": (lambda _: {"user": "20002:20001"}, {"root-user": ("a process runs as user 20002", "it is 20002")}),
    "a group of the host's": (
        lambda _: {"group_add": ["999"]},
        {"root-user": ("a process is in the groups 999", "it is in the groups 20001 999")},
    ),
    "read-only root": (
        lambda _: {"read_only": False},
        {"writable-root": ("/ is mounted for writing", "wrote into a folder of the image")},
    ),
    "name space of processes": (
        lambda _: {"pid_mode": "host"},
        {"host-processes": ("it shares the processes", "the secret is in another's command line")},
    ),
    "name space of shared memory": (
        lambda _: {"ipc_mode": "host"},
        {"host-ipc": ("it shares the memory between processes", "the secret is in /dev/shm"), "scratch-size": ()},
    ),
    "name space of the network": (
        lambda _: {"network_mode": "host", "hostname": None},
        {
            "host-network": ("it shares the network", "reached 127.0.0.1", "127.0.0.1 connected to the host"),
            "reaches-internet": (),
            "reaches-metadata": (),
        },
    ),
    "name space of users": (
        lambda _: {"security_opt": [PRIVILEGED, without_filter_of("unshare")]},
        {"user-namespaces": ("made one",)},
    ),
    "egress": (
        lambda _: {"network_mode": "bridge"},
        {
            "reaches-internet": ("it has a route to everywhere", "there is a way to 192.0.2.1"),
            "reaches-metadata": ("it has a route to 169.254.169.254", "there is a way to 169.254.169.254"),
        },
    ),
    "capabilities": (
        lambda _: {"cap_drop": []},
        {"capabilities": ("CapBnd is 00000000a80425fb", "CapBnd is 00000000a80425fb")},
    ),
    "one capability": (
        lambda _: {"cap_add": ["SYS_PTRACE"]},
        {"capabilities": ("CapBnd is 0000000000080000", "CapBnd is 0000000000080000")},
    ),
    "no new privileges": (
        lambda _: {"security_opt": [OURS]},
        {"new-privileges": ("NoNewPrivs is 0", "may gain some")},
    ),
    "filter of system calls": (
        lambda _: {"security_opt": [PRIVILEGED, "seccomp=unconfined"]},
        {"system-calls": ("Seccomp is 0", "there is no filter", "may call ptrace"), "user-namespaces": ("made one",)},
    ),
    "our filter of system calls": (
        lambda _: {"security_opt": [PRIVILEGED]},
        {"system-calls": ("may call ptrace",)},
    ),
    "size of scratch space": (
        lambda a: scratch(a, f"size={8 * MIB},", ""),
        {"scratch-size": ("/tmp has room for", "bytes into /tmp", "bytes into /data")},
    ),
    "number of files in scratch space": (
        lambda a: scratch(a, "nr_inodes=50000,", ""),
        {"scratch-size": ("files",)},
    ),
    "programs in scratch space": (
        lambda a: scratch(a, "noexec", "exec"),
        {"own-programs": ("programs in /tmp may be run", "ran one from /tmp", "ran one from /data")},
    ),
    "memory": (
        lambda _: {"mem_limit": 512 * MIB, "memswap_limit": 512 * MIB},
        {"memory-limit": ("its cgroup has the limit 536870912", "it is 536870912")},
    ),
    "swap": (
        lambda _: {"memswap_limit": 128 * MIB},
        {"memory-limit": ("memory and swap may be 134217728",)},
    ),
    "processes": (
        lambda _: {"pids_limit": -1},
        {"process-limit": ("its cgroup has the limit max", "made 80 processes")},
    ),
    "CPU": (
        lambda _: {"nano_cpus": 0},
        {"cpu-limit": ("its cgroup has the quota -1", "it is -1")},
    ),
    "open files": (
        lambda _: {"ulimits": []},
        {"file-limit": ("a process may open", "it is")},
    ),
    "a folder of the host": (
        lambda a: mounted(a, DOCS, "/opt/odd/place"),
        {"host-folders": ("docs of the host", "/opt/odd/place is mounted")},
    ),
    "a folder of the host's memory": (
        lambda a: mounted(a, "/dev/shm", "/srv"),
        {"host-folders": ("/srv is / of the host (tmpfs)",)},
    ),
    "the engine's socket": (
        lambda a: mounted(a, "/var/run/docker.sock", "/opt/odd/name"),
        {"engine-socket": ("a socket of the host is at /opt/odd/name", "/opt/odd/name is there"), "host-folders": ()},
    ),
    "the folder of the engine's socket": (
        lambda a: mounted(a, "/var/run", "/mnt"),
        {
            "engine-socket": ("there is a socket of the host under /mnt", "/mnt/docker.sock is there"),
            "host-folders": ("/mnt is /",),
        },
    ),
    "environment": (
        lambda a: {"environment": {**a["environment"], "SYNAPSE_AUTH_TOKEN": "x"}},
        {"environment": ("a process is given the variable SYNAPSE_AUTH_TOKEN", "it is given SYNAPSE_AUTH_TOKEN")},
    ),
}
"""What is taken away, and the cases that must fail of it, with words from outside and from within; those without words
may fail of it too, as the host's own network and memory have it."""


@pytest.mark.engine
@pytest.mark.parametrize("protection", OPENED)
def test_a_protection_that_is_taken_away_is_named(
    firing: FiringRange, monkeypatch: pytest.MonkeyPatch, protection: str
) -> None:
    change, expected = OPENED[protection]
    told = fired_with(firing, monkeypatch, change)
    required = {case for case, words in expected.items() if words}
    assert required <= set(told) <= set(expected), told
    for case in required:
        assert [word for word in expected[case] if word not in told[case]] == [], told[case]


def fired_with(
    firing: FiringRange, monkeypatch: pytest.MonkeyPatch, change: Callable[[Arguments], Arguments]
) -> dict[str, str]:
    """The complaints of all inspected cases that have some."""

    def opened(*given: Any) -> Arguments:
        arguments = contained(*given)
        return arguments | change(arguments)

    contained = container_limits.container_arguments
    monkeypatch.setattr("sandscore.containers.engines.docker.docker_sandbox.container_arguments", opened)
    monkeypatch.setattr(firing, "inspected", None)
    verdicts = [firing.fire(case) for case in INSPECTED]
    return {v.case.name: "; ".join(v.complaints) for v in verdicts if v.complaints}


def test_every_protection_is_taken_away_once() -> None:
    """And what a case finds only where everything is open is shown below."""
    named = {case for _, expected in OPENED.values() for case, words in expected.items() if words}
    assert named | {"writes-outside"} == {case.name for case in INSPECTED}
    assert set(OUTSIDE) <= named, "what the host is asked is noticed from there"


@pytest.mark.engine
def test_the_hunts_find_what_is_open(firing: FiringRange, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it at once, and what no single opening lets through; the look at the limits before each run would."""
    monkeypatch.setattr("sandscore.containers.annotator_starts.limits_in_force", lambda _: None)

    def opened(_: Arguments) -> Arguments:
        return {
            "network_mode": "bridge",
            "read_only": False,
            "security_opt": ["seccomp=unconfined"],
            "user": "0:0",
            "cap_drop": [],
            "tmpfs": {"/tmp": "exec", "/data": ""},
            "mem_limit": 256 * MIB,
            "memswap_limit": 256 * MIB,
            "environment": {"SECRET": "sandscore-canary"},
        }

    told = fired_with(firing, monkeypatch, opened)
    assert "wrote to /etc" in told["writes-outside"]
    assert "made a device" in told["writes-outside"]
    fired = {name: " ".join(firing.fire(*choose([name])).complaints) for name in OPEN_CASES}
    assert {name: words in fired[name] for name, words in OPEN_CASES.items()} == dict.fromkeys(OPEN_CASES, True), fired


OPEN_CASES = {
    "reaches-targets": "connected to the host",
    "gold-hunt": "the secret is in the environment",
    "memory-bomb": "had 134217728 bytes",
    "child-memory": "had 134217728 bytes",
}


@pytest.mark.engine
def test_own_network_cuts_off_the_host(small: RunLimits) -> None:
    """The fallback where name spaces may not be entered: no host, no neighbour."""
    names = ("harmless", "reaches-targets", "host-network", "host-folders", "environment")
    assert [v.complaints for v in attack(small, "own network", choose(names))] == [()] * len(names)


@pytest.mark.engine
def test_the_user_of_the_image_is_allowed_where_the_organiser_says_so(small: RunLimits) -> None:
    """Under ``compat`` the two rights are what was promised, and no complaint."""
    compat = preset("compat").model_copy(update={"memory_bytes": 64 * MIB, "processes": 64})
    names = ("root-user", "capabilities", "new-privileges", "writable-root")
    assert [v.complaints for v in attack(compat, cases=choose(names))] == [()] * len(names)


@pytest.mark.engine
@pytest.mark.slow
def test_contained_on_a_busy_machine(firing: FiringRange, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight programs want the two processors for themselves; nobody is called by another's name for it."""
    spinning = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(8)]
    try:
        monkeypatch.setattr(firing, "inspected", None)
        names = ("root-user", "fork-bomb", "memory-bomb", "crash-midway", "reaches-targets")
        assert [firing.fire(case).complaints for case in choose(names)] == [()] * len(names)
    finally:
        for one in spinning:
            one.kill()
            one.wait()


def test_a_target_that_does_not_exist_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandscore.containers.hostile.firing_range._READY_SECONDS", 0)
    with pytest.raises(InfrastructureFault, match=r"127\.0\.0\.1:9 cannot be reached from this host itself"):
        _require_answer("127.0.0.1:9")


def test_an_attack_nobody_knows() -> None:
    with pytest.raises(UsageFault, match="'rain'; there are harmless, root-user"):
        choose(["rain"])


def test_every_case_has_its_script_and_every_script_its_case() -> None:
    from sandscore.containers.hostile.hostile_images import _SCRIPTS

    scripts = {path.name for kind in ("note", "batch") for path in (_SCRIPTS / kind).iterdir()}
    assert scripts - {"protections"} == {case.name for case in CASES if not case.inspected}
    assert len(CASES) > 50
    inside = (_SCRIPTS / "batch" / "protections").read_text(encoding="utf-8")
    fill = {"scratch-size", "own-programs"}
    assert {case.name for case in INSPECTED if case.name not in inside} - fill == set()


def test_bombs_have_one_outcome() -> None:
    assert [case.expected for case in choose(["fork-bomb", "memory-bomb"])] == [("timed_out",), ("out_of_memory",)]
