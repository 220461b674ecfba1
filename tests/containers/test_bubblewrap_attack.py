"""Every hostile case against bubblewrap: contained, its outcome named as on Docker, nothing left behind.

And the other way round: each protection is taken away, one at a time, and the set fails in the cases that name it.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandscore.containers.engines.bubblewrap import bubblewrap_sandbox, container_words, sandbox_launcher
from sandscore.containers.engines.control_groups import ControlGroup
from sandscore.containers.engines.engine_protocol import seccomp_profile
from sandscore.containers.hostile.firing_range import FiringRange, firing_range
from sandscore.containers.hostile.hostile_set import CASES, Case, choose
from sandscore.containers.hostile.protections import OUTSIDE
from sandscore.records.run_record import MIB, RunLimits

LIBRARIES = Path("/usr/lib")
LAUNCHER = Path(sandbox_launcher.__file__).read_text(encoding="utf-8")
INSPECTED = tuple(case for case in CASES if case.inspected)
Patch = pytest.MonkeyPatch


@pytest.fixture(scope="session")
def range_of_bubblewrap(small: RunLimits, unpacked_images: Path) -> Iterator[FiringRange]:
    with firing_range(small, engine="bubblewrap") as ready:
        yield ready


@pytest.mark.engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contained(range_of_bubblewrap: FiringRange, case: Case) -> None:
    assert range_of_bubblewrap.fire(case).complaints == ()


def words(change: Callable[[list[str]], list[str]]) -> Callable[[Patch, Path], None]:
    """Other words for bubblewrap."""

    def opened(patch: Patch, _folder: Path) -> None:
        before = vars(bubblewrap_sandbox)["container_words"]
        patch.setattr(bubblewrap_sandbox, "container_words", lambda *given: change(before(*given)))

    return opened


def more(*given: str) -> Callable[[Patch, Path], None]:
    return words(lambda found: [*found, *given])


def swapped(old: str, *new: str) -> Callable[[Patch, Path], None]:
    """One run of words for another."""

    def change(found: list[str]) -> list[str]:
        joined = "\0".join(found)
        assert joined.count(old.replace(" ", "\0")) == 1, old
        return joined.replace(old.replace(" ", "\0"), "\0".join(new)).split("\0")

    return words(change)


def launched(*changes: tuple[str, str]) -> Callable[[Patch, Path], None]:
    """By another launcher."""

    def opened(patch: Patch, folder: Path) -> None:
        text = LAUNCHER
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (folder / "launcher.py").write_text(text, encoding="utf-8")
        patch.setattr(sandbox_launcher, "__file__", str(folder / "launcher.py"))

    return opened


def scratch(old: str, new: str) -> Callable[[Patch, Path], None]:
    """Folders in memory that are made otherwise."""

    def opened(patch: Patch, _folder: Path) -> None:
        before = vars(bubblewrap_sandbox)["memory_folders"]

        def made(*given: Any) -> Any:
            from msgspec.structs import replace

            found = before(*given)
            assert any(old in folder.options for folder in found)
            return [replace(folder, options=folder.options.replace(old, new)) for folder in found]

        patch.setattr(bubblewrap_sandbox, "memory_folders", made)

    return opened


def programs(patch: Patch, _folder: Path) -> None:
    from msgspec.structs import replace

    before = vars(bubblewrap_sandbox)["memory_folders"]
    patch.setattr(
        bubblewrap_sandbox,
        "memory_folders",
        lambda *given: [replace(folder, programs=True) for folder in before(*given)],
    )


def user(identity: tuple[int, int]) -> Callable[[Patch, Path], None]:
    def opened(patch: Patch, _folder: Path) -> None:
        for module in (bubblewrap_sandbox, container_words):
            patch.setattr(module, "owner", lambda _: identity)

    return opened


def filtered(*calls: str) -> Callable[[Patch, Path], None]:
    """With calls that are let through."""

    def opened(patch: Patch, _folder: Path) -> None:
        profile = json.loads(seccomp_profile())
        profile["syscalls"].append({"names": list(calls), "action": "SCMP_ACT_ALLOW"})
        patch.setattr(
            "sandscore.containers.engines.bubblewrap.bubblewrap_row.seccomp_profile", lambda: json.dumps(profile)
        )

    return opened


def limited(controller: str, version_1: tuple[str, str], version_2: tuple[str, str]) -> Callable[[Patch, Path], None]:
    """A control group that is written to once more."""

    def opened(patch: Patch, _folder: Path) -> None:
        before = ControlGroup.limit

        def limit(group: ControlGroup, limits: RunLimits) -> None:
            before(group, limits)
            folder = group.folder(controller)
            name, value = version_1 if (folder / version_1[0]).exists() else version_2
            (folder / name).write_text(value, encoding="ascii")

        patch.setattr(ControlGroup, "limit", limit)

    return opened


def both(*changes: Callable[[Patch, Path], None]) -> Callable[[Patch, Path], None]:
    def opened(patch: Patch, folder: Path) -> None:
        for change in changes:
            change(patch, folder)

    return opened


APART = ("--unshare-user", "--unshare-uts", "--unshare-cgroup")
WAY_OUT = """os.setgroups([])
        libc.unshare(0x40000000)
        os.system("ip link set lo up && ip address add 10.9.9.9/32 dev lo && ip route add default dev lo")
"""
UNFILTERED = """at = told["arguments"].index("--seccomp")
    del told["arguments"][at : at + 2]
    os.execve("""
Opening = tuple[Callable[[Patch, Path], None], dict[str, tuple[str, ...]]]
OPENED: dict[str, Opening] = {
    "user": (user((0, 0)), {"root-user": ("a process runs as user 0", "it is 0:0"), "new-privileges": ()}),
    "another user": (user((20002, 20001)), {"root-user": ("a process runs as user 20002", "it is 20002")}),
    "a group of the host's": (
        launched(("os.setgroups([])", "os.setgroups([999])")),
        {"root-user": ("a process is in the groups 999", "it is in the groups 20001 65534")},
    ),
    "read-only root": (
        swapped("--ro-bind /tmp/root /", "--bind", "/tmp/root", "/"),
        {"writable-root": ("/ is mounted for writing", "wrote into a folder of the image")},
    ),
    "name space of processes": (
        both(
            swapped("--unshare-all", *APART, "--unshare-net", "--unshare-ipc"),
            swapped("--proc /proc", "--ro-bind", "/proc", "/proc"),
            launched(("libc.unshare(_NEW_PROCESSES)", "0")),
        ),
        {
            "host-processes": ("it shares the processes", "the secret is in another's command line"),
            "host-folders": (),
        },
    ),
    "name space of shared memory": (
        both(
            swapped("--unshare-all", *APART, "--unshare-net", "--unshare-pid"),
            swapped("--bind /tmp/memory /dev/shm", "--bind", "/dev/shm", "/dev/shm"),
        ),
        {"host-ipc": ("it shares the memory between processes", "the secret is in /dev/shm"), "scratch-size": ()},
    ),
    "name space of the network": (
        more("--share-net"),
        {
            "host-network": ("it shares the network", "reached 127.0.0.1", "127.0.0.1 connected to the host"),
            "reaches-internet": (),
            "reaches-metadata": (),
        },
    ),
    "name space of users": (filtered("unshare"), {"user-namespaces": ("made one",), "system-calls": ()}),
    "egress": (
        both(more("--share-net"), launched(("os.setgroups([])\n", WAY_OUT))),
        {
            "reaches-internet": ("it has a route to everywhere", "there is a way to 192.0.2.1"),
            "reaches-metadata": ("it has a route to 169.254.169.254", "there is a way to 169.254.169.254"),
        },
    ),
    "capabilities": (
        swapped("--cap-drop ALL", "--cap-add", "ALL"),
        {"capabilities": ("CapBnd is 000001ffffffffff", "CapBnd is 000001ffffffffff")},
    ),
    "one capability": (
        swapped("--cap-drop ALL", "--cap-add", "CAP_SYS_PTRACE"),
        {"capabilities": ("CapBnd is 0000000000080000", "CapBnd is 0000000000080000")},
    ),
    "filter of system calls": (
        launched(("os.execve(", UNFILTERED)),
        {"system-calls": ("Seccomp is 0", "there is no filter", "may call ptrace"), "user-namespaces": ("made one",)},
    ),
    "our filter of system calls": (filtered("ptrace", "keyctl"), {"system-calls": ("may call ptrace",)}),
    "size of scratch space": (
        scratch(f"size={8 * MIB},", ""),
        {"scratch-size": ("/tmp has room for", "bytes into /tmp", "bytes into /data")},
    ),
    "number of files in scratch space": (scratch("nr_inodes=50000,", ""), {"scratch-size": ("files",)}),
    "programs in scratch space": (
        programs,
        {"own-programs": ("programs in /tmp may be run", "ran one from /tmp", "ran one from /data")},
    ),
    "memory": (
        limited("memory", ("memory.memsw.limit_in_bytes", f"{512 * MIB}"), ("memory.max", f"{512 * MIB}")),
        {"memory-limit": ("may be 536870912",)},
    ),
    "processes": (
        limited("pids", ("pids.max", "max"), ("pids.max", "max")),
        {"process-limit": ("its cgroup has the limit max", "made 80 processes")},
    ),
    "CPU": (
        limited("cpu", ("cpu.cfs_quota_us", "-1"), ("cpu.max", "max")),
        {"cpu-limit": ("its cgroup has the quota -1", "it is -1")},
    ),
    "open files": (
        launched(('told["files"])', "2000)")),
        {"file-limit": ("a process may open 2000", "it is 2000")},
    ),
    "a folder of the host": (
        more("--ro-bind", str(LIBRARIES), "/open"),
        {"host-folders": ("lib of the host", "/open is mounted")},
    ),
    "a folder of the host's memory": (
        more("--ro-bind", "/dev/shm", "/open"),
        {"host-folders": ("/open is / of the host (tmpfs)",)},
    ),
    "the engine's socket": (
        more("--ro-bind", "/var/run/docker.sock", "/before/ignores-sigterm"),
        {
            "engine-socket": ("a socket of the host is at /before/ignores-sigterm", "/before/ignores-sigterm is there"),
            "host-folders": (),
        },
    ),
    "the folder of the engine's socket": (
        more("--ro-bind", "/run", "/open"),
        {
            "engine-socket": ("there is a socket of the host under /open", "/open/docker.sock is there"),
            "host-folders": ("/open is /",),
        },
    ),
    "environment": (
        more("--setenv", "SYNAPSE_AUTH_TOKEN", "x"),
        {"environment": ("a process is given the variable SYNAPSE_AUTH_TOKEN", "it is given SYNAPSE_AUTH_TOKEN")},
    ),
}
"""What is taken away, and the cases that must fail of it, with words from outside and from within; those without words
may fail of it too."""
NEVER_TAKEN_AWAY = {"new-privileges": "bubblewrap gives them up whatever it is told", "writes-outside": "shown below"}


@pytest.mark.engine
@pytest.mark.parametrize("protection", OPENED)
def test_a_protection_that_is_taken_away_is_named(
    range_of_bubblewrap: FiringRange, monkeypatch: Patch, tmp_path: Path, protection: str
) -> None:
    change, expected = OPENED[protection]
    change(monkeypatch, tmp_path)
    told = fired(range_of_bubblewrap, monkeypatch)
    required = {case for case, words in expected.items() if words}
    assert required <= set(told) <= set(expected), told
    for case in required:
        assert [word for word in expected[case] if word not in told[case]] == [], told[case]


def fired(firing: FiringRange, monkeypatch: Patch) -> dict[str, str]:
    """The complaints of all inspected cases that have some."""
    monkeypatch.setattr(firing, "inspected", None)
    verdicts = [firing.fire(case) for case in INSPECTED]
    return {v.case.name: "; ".join(v.complaints) for v in verdicts if v.complaints}


def test_every_protection_is_taken_away_once() -> None:
    named = {case for _, expected in OPENED.values() for case, words in expected.items() if words}
    assert named | set(NEVER_TAKEN_AWAY) == {case.name for case in INSPECTED}
    assert set(OUTSIDE) - named == {"new-privileges"}


@pytest.mark.engine
def test_the_hunts_find_what_is_open(range_of_bubblewrap: FiringRange, monkeypatch: Patch, tmp_path: Path) -> None:
    """All of it at once, and what no single opening lets through; the look at the limits before each run would."""
    monkeypatch.setattr("sandscore.containers.annotator_starts.limits_in_force", lambda _: None)
    both(
        user((0, 0)),
        swapped("--ro-bind /tmp/root /", "--bind", "/tmp/root", "/"),
        more("--share-net", "--setenv", "SECRET", "sandscore-canary"),
        launched(("os.execve(", UNFILTERED)),
        limited("memory", ("memory.memsw.limit_in_bytes", f"{256 * MIB}"), ("memory.max", f"{256 * MIB}")),
        limited("memory", ("memory.limit_in_bytes", f"{256 * MIB}"), ("memory.max", f"{256 * MIB}")),
    )(monkeypatch, tmp_path)
    told = fired(range_of_bubblewrap, monkeypatch)
    assert "wrote to /etc" in told["writes-outside"]
    found = {name: " ".join(range_of_bubblewrap.fire(*choose([name])).complaints) for name in OPEN_CASES}
    assert {name: words in found[name] for name, words in OPEN_CASES.items()} == dict.fromkeys(OPEN_CASES, True), found


OPEN_CASES = {
    "reaches-targets": "connected to the host",
    "gold-hunt": "the secret is in the environment",
    "memory-bomb": "had 134217728 bytes",
    "child-memory": "had 134217728 bytes",
}
