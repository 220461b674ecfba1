"""Bubblewrap as an engine: every promise kept, nothing left behind however it ends, and refusals where it cannot."""

import os
import signal
import struct
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

import pytest
from containers.image_archives import docker_files, entry, layer, packed
from containers.test_leftovers import SOURCES

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.base.process_identity import own_name
from sandscore.conformance.engine_suite import CHECKS, EngineBench
from sandscore.containers.engines.bubblewrap.bubblewrap_row import BubblewrapEngine, BubblewrapRow, program
from sandscore.containers.engines.bubblewrap.compiled_seccomp import compiled_filter
from sandscore.containers.engines.bubblewrap.image_roots import ImageRoots
from sandscore.containers.engines.control_groups import ControlRoot, control_root, may_limit
from sandscore.containers.engines.engine_protocol import EXPIRES, OWNER, labels, seccomp_profile
from sandscore.containers.engines.engine_registry import chosen_engine, connected
from sandscore.containers.hostile.hostile_images import HostileImages, hostile_images
from sandscore.containers.run_context import preset
from sandscore.records.run_record import MIB, RunFault, RunLimits


@pytest.fixture
def bench(unpacked_images: Path) -> Iterator[EngineBench]:
    with connected("bubblewrap") as engine:
        made = EngineBench(engine)
        yield made
        made.close()


@pytest.mark.engine
@pytest.mark.parametrize("check", CHECKS)
def test_bubblewrap_keeps_its_promises(bench: EngineBench, check: str) -> None:
    CHECKS[check](bench)


RUNNER = """
import sys
from pathlib import Path
from sandscore.records.run_record import RunLimits
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.run_context import Annotator
from sandscore.task_table.task import find_task
image, protocol = sys.argv[1:]
notes = [SentNote("a", "a", "text")]
print("begun", flush=True)
annotator = Annotator("image", image, protocol)
run(RunJob(find_task("date"), annotator, notes, "0" * 64, RunLimits(note_seconds=60), engine="bubblewrap"))
"""


@pytest.fixture(scope="module")
def hostile(unpacked_images: Path) -> Iterator[HostileImages]:
    with connected("bubblewrap") as engine, hostile_images(engine, f"sandscore-test-{os.getpid()}") as built:
        yield built


def inside(folder: Path) -> set[str]:
    """Processes that have something of a folder mounted."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            if str(folder) in place.read_text(encoding="utf-8", errors="replace"):
                found.add(place.parent.name)
        except OSError:
            continue
    return found


def groups_of(process: int) -> list[str]:
    return [group.name for marks, group in control_root().groups() if f"/{process}@" in marks[OWNER]]


def killed_after(seconds: float, words: list[str]) -> int:
    environment = os.environ | {"PYTHONPATH": SOURCES}
    with subprocess.Popen([sys.executable, "-c", RUNNER, *words], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
    return process.pid


def nothing_left(folder: Path, process: int, before: Set[str] = frozenset()) -> None:
    """Processes go by themselves, with their mounts; groups and folders with the next start. Those that were there
    ``before`` are the containers of other tests."""
    deadline = time.monotonic() + 10
    while inside(folder) - before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert inside(folder) - before == set()
    with connected("bubblewrap") as engine:
        engine.remove_leftovers()
    assert groups_of(process) == []
    assert [path.name for path in folder.iterdir() if path.name.startswith(".new-")] == []
    assert str(folder) not in Path("/proc/self/mountinfo").read_text(encoding="utf-8")


@pytest.mark.engine
@pytest.mark.parametrize("protocol", ["service", "batch"])
@pytest.mark.parametrize("seconds", [0.0, 0.04, 0.08, 0.12, 0.2, 0.6])
def test_killed_at_any_moment(hostile: HostileImages, unpacked_images: Path, protocol: str, seconds: float) -> None:
    attack = {"service": "dripped-answer", "batch": "never-ends"}[protocol]
    before = inside(unpacked_images)
    process = killed_after(seconds, [hostile.image(attack), protocol])
    nothing_left(unpacked_images, process, before)


@pytest.mark.engine
@pytest.mark.parametrize("seconds", [0.01, 0.03, 0.06])
def test_killed_while_it_unpacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """What was begun is removed, and the next run takes the image in whole."""
    monkeypatch.setenv("SANDSCORE_IMAGES", str(tmp_path / "images"))
    (tmp_path / "images").mkdir()
    content = packed(docker_files(layer(*(entry(f"file-{at}", bytes(5000)) for at in range(2000)))))
    (tmp_path / "image.tar").write_bytes(content)
    process = killed_after(seconds, [f"oci-archive:{tmp_path}/image.tar", "batch"])
    nothing_left(tmp_path / "images", process)
    engine = BubblewrapEngine(program())
    engine.load_image(iter([content]))
    assert engine.find_image("x:1", RunLimits()).size_bytes > 10_000_000


@pytest.mark.engine
def test_whoever_lives_keeps_what_it_has(bench: EngineBench) -> None:
    with bench.running("sleep 100") as box:
        assert bench.engine.remove_leftovers() == 0
        box.require_well()


@pytest.mark.engine
def test_without_the_rights_of_root(tmp_path: Path) -> None:
    """In a name space of users in which we are 1000, with no right at all and a group that was handed down: all
    inspected cases, and some that run."""
    program = """
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.hostile.firing_range import attack
from sandscore.containers.hostile.hostile_set import CASES, choose
from sandscore.records.run_record import MIB, RunLimits
import os
assert os.geteuid() == 1000
small = RunLimits(memory_bytes=64 * MIB, processes=64, tmp_bytes=8 * MIB, shared_memory_bytes=MIB)
inspected = tuple(case for case in CASES if case.inspected)
more = choose(["harmless", "memory-bomb", "link-out", "reaches-targets", "gold-hunt"])
for verdict in attack(small, cases=(*inspected, *more), engine="bubblewrap"):
    print(verdict.case.name, *verdict.complaints, sep=": ")
with connected("bubblewrap") as engine:
    assert engine.facts().rootless
"""
    handed = control_root().group(labels("handed", 600), "handed")
    folders = [handed.folder(name) for name in control_root().folders]
    enter = "".join(f"echo $$ > {folder}/cgroup.procs && " for folder in folders)
    words = ["unshare", "--user", "--map-user=1000", "--map-group=1000", sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": SOURCES, "SANDSCORE_IMAGES": str(tmp_path / "images")}
    command = ["/bin/sh", "-c", f'{enter}exec "$@"', "sh", *words]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    finally:
        handed.remove()
    assert done.returncode == 0, done.stderr[-2000:]
    assert [line for line in done.stdout.splitlines() if ":" in line] == []
    assert len(done.stdout.splitlines()) == 26


@pytest.mark.engine
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param(
            {"user": None, "capabilities": ("SETUID", "SETGID")}, "hardening compat needs docker", id="compat"
        ),
        pytest.param({"gpus": 1}, "hands on no graphics processors", id="graphics processors"),
    ],
)
def test_what_it_cannot_do_is_refused(bench: EngineBench, changed: dict[str, Any], words: str) -> None:
    limits = preset("strict").model_copy(update=changed)
    with pytest.raises(OrganiserFault, match=words) as told, bench.running("true", limits):
        pass
    assert told.value.exit_code == 78


def test_a_machine_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not BubblewrapRow().is_ready()
    with pytest.raises(OrganiserFault, match="there is no bubblewrap here: apt-get install bubblewrap"):
        chosen_engine("bubblewrap")
    with pytest.raises(InfrastructureFault, match="there is no bubblewrap"):
        program()


def kernel(tmp_path: Path, version: int, *, controllers: str = "cpu memory pids") -> Path:
    """A folder like /proc, and one like /sys/fs/cgroup in which this process is in the group /ours."""
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (proc / "self").mkdir(parents=True)
    lines, own = [], []
    for number, name in enumerate(controllers.split() if version == 1 else [""], 1):
        place = groups / name
        (place / "ours").mkdir(parents=True)
        kind = f"cgroup - cgroup cgroup rw,{name}" if version == 1 else "cgroup2 - cgroup2 cgroup2 rw"
        lines.append(f"{number} 1 0:{number} / {place} rw,relatime {kind.partition(' ')[2]}")
        own.append(f"{number if version == 1 else 0}:{name}:/ours")
    (proc / "self" / "mountinfo").write_text("\n".join(lines))
    (proc / "self" / "cgroup").write_text("\n".join(own))
    if version == 2:
        (groups / "ours" / "cgroup.controllers").write_text(controllers)
        (groups / "ours" / "cgroup.subtree_control").write_text("")
        (groups / "ours" / "cgroup.procs").write_text("4242\n")
        groups.chmod(0o555)
    return proc


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modes hold for us, as they do not for root."""
    monkeypatch.setattr(os, "access", lambda path, _mode: bool(Path(path).stat().st_mode & 0o200))


@pytest.mark.usefixtures("nobody")
def test_a_group_of_version_2_is_handed_down(tmp_path: Path) -> None:
    """By the kernel's own description, admin-guide/cgroup-v2: no process beside groups, then controllers below."""
    proc = kernel(tmp_path, 2)
    assert may_limit(proc)
    ours = tmp_path / "groups" / "ours"
    root = control_root(proc)
    assert root == ControlRoot(2, dict.fromkeys(("memory", "pids", "cpu"), ours))
    assert (ours / "sandscore-harness" / "cgroup.procs").read_text() == "4242"
    assert (ours / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"
    group = root.group({OWNER: own_name(), EXPIRES: "7"}, "t")
    place = ours / group.name
    group.limit(RunLimits(memory_bytes=64 * MIB, cpus=0.5, processes=9))
    read = {file.name: file.read_text() for file in place.iterdir()}
    assert read == {
        "memory.max": "67108864",
        "memory.swap.max": "0",
        "memory.oom.group": "0",
        "cpu.max": "50000 100000",
        "pids.max": "9",
    }
    assert group.shown == {"/sys/fs/cgroup": str(place)}
    before = group.killed_for_memory
    (place / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    (place / "memory.peak").write_text("1000\n")
    (place / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    assert (before, group.killed_for_memory) == (False, True)
    assert (group.usage.cpu_seconds, group.usage.peak_memory_bytes) == (2.5, 1000)
    (proc / "self" / "cgroup").write_text("0::/ours/sandscore-harness")
    (ours / "cgroup.subtree_control").write_text("cpu memory pids")
    assert control_root(proc) == root, "a second run finds what the first has made"


@pytest.mark.usefixtures("nobody")
@pytest.mark.parametrize(
    ("version", "controllers", "words"),
    [
        (2, "cpu pids", r"limits would not be in force \(memory\)"),
        (1, "cpu memory", r"limits would not be in force \(memory, pids, cpu\): this kernel has no control groups"),
    ],
)
def test_no_limits_are_a_refusal(tmp_path: Path, version: int, controllers: str, words: str) -> None:
    with pytest.raises(OrganiserFault, match=words) as told:
        control_root(kernel(tmp_path, version, controllers=controllers))
    assert told.value.exit_code == 78


@pytest.mark.usefixtures("nobody")
def test_groups_that_are_not_ours_to_make(tmp_path: Path) -> None:
    proc = kernel(tmp_path, 1)
    for place in (tmp_path / "groups").iterdir():
        for folder in (place / "ours", place):
            folder.chmod(0o555)
    assert not may_limit(proc)
    with pytest.raises(OrganiserFault, match="is not ours to write; run as root, or hand a group down: systemd-run"):
        control_root(proc)


def test_leftover_groups_go_by_their_name(tmp_path: Path) -> None:
    root = ControlRoot(2, dict.fromkeys(("memory", "pids", "cpu"), tmp_path))
    mine = root.group(labels("r", 60), "a")
    dead = {OWNER: own_name().rpartition("/")[0] + "/1@0", EXPIRES: "9" * 11}
    elsewhere = {OWNER: "another/pid:[1]/1@1", EXPIRES: "1"}
    for marks in (dead, elsewhere):
        root.group(marks, "b")
    assert root.remove_leftovers() == 2
    assert [path.name for path in tmp_path.iterdir()] == [mine.name]


def decided(instructions: bytes, number: int, *arguments: int, machine: int = 0xC000003E) -> int:
    """What the kernel would do with a call: an interpreter of as much of the Berkeley packet filter as is used."""
    data = struct.pack("<iIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    code = list(struct.iter_unpack("<HBBI", instructions))
    at = accumulator = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        match operation:
            case 0x20:
                accumulator = struct.unpack_from("<I", data, value)[0]
            case 0x15 | 0x25 | 0x35 | 0x45:
                met = {
                    0x15: accumulator == value,
                    0x25: accumulator > value,
                    0x35: accumulator >= value,
                    0x45: bool(accumulator & value),
                }[operation]
                at += if_true if met else if_false
            case 0x54:
                accumulator &= value
            case 0x05:
                at += value
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(hex(operation))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers are those of x86_64")
def test_the_filter_decides_by_the_profile() -> None:
    """Numbers of calls on x86_64 as in the kernel's syscall_64.tbl; flags of clone(2), families of socket(2)."""
    code = compiled_filter(seccomp_profile())
    allowed, refused = 0x7FFF0000, 0x00050001
    for number in (0, 1, 9, 56, 59, 231, 257, 319):
        assert decided(code, number) == allowed, number
    for number in (101, 165, 272, 298, 310, 321, 323, 425, 250, 304, 175, 246, 9999):
        assert decided(code, number) == refused, number
    assert decided(code, 435) == 0x00050000 | 38
    assert [decided(code, 41, family) == allowed for family in (1, 2, 10, 16, 17, 38, 40)] == [True] * 4 + [False] * 3
    assert decided(code, 56, 0x10000000) == decided(code, 56, 0x40000000 | 17) == refused
    assert decided(code, 56, 0x003D0F00) == allowed, "a thread"
    assert [decided(code, 135, value) == allowed for value in (0, 8, 0x20000, 0xFFFFFFFF, 4)] == [True] * 4 + [False]
    assert decided(code, 0, machine=0x40000003) != allowed, "32-bit calls have other numbers"
    assert decided(code, 0x40000000) != allowed, "so has x32"


def test_names_of_images(tmp_path: Path) -> None:
    """An image goes with its last name; one that two processes unpack is there once."""
    roots = ImageRoots(tmp_path / "images")
    archive = packed(docker_files(layer(entry("start", b"x"))))
    for _ in range(2):
        roots.load(iter([archive]))
    identity = roots.id_of("x:1")
    assert identity is not None
    roots.name("second", identity, {})
    roots.remove("x:1")
    assert roots.id_of("x:1") is None
    assert roots.id_of(identity) == roots.id_of("second") == identity
    roots.remove("second")
    assert roots.id_of(identity) is None
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == ["names"]


@pytest.mark.parametrize(
    ("entries", "config", "words"),
    [
        pytest.param([("tmp", "/oldroot/etc")], {}, "a link in the place of a folder that every", id="link at /tmp"),
        pytest.param([("proc", "etc")], {}, "a link in the place of a folder that every container", id="link at /proc"),
        pytest.param(
            [], {"Volumes": {"/proc/x": {}}}, "a VOLUME '/proc/x' that is no plain path", id="VOLUME in /proc"
        ),
        pytest.param([], {"Volumes": {"/": {}}}, "a VOLUME '/' that is no plain path", id="VOLUME at the root"),
        pytest.param(
            [], {"Volumes": {"/start": {}}}, "a file in the place of a folder: 'start'", id="VOLUME on a file"
        ),
    ],
)
def test_places_for_mounts_are_folders(
    tmp_path: Path, entries: list[tuple[str, str]], config: dict[str, Any], words: str
) -> None:
    """What is mounted on must not lead elsewhere while bubblewrap sees the host."""
    links = [entry(name, kind=tarfile.SYMTYPE, linkname=target) for name, target in entries]
    archive = packed(docker_files(layer(entry("start", b"x"), *links), config=config))
    roots = ImageRoots(tmp_path / "images")
    with pytest.raises(RunFault, match=words):
        roots.load(iter([archive]))
    assert roots.id_of("x:1") is None


def test_volumes_lie_where_their_links_lead(tmp_path: Path) -> None:
    link = entry("var/run", kind=tarfile.SYMTYPE, linkname="/run")
    archive = packed(docker_files(layer(link), config={"Volumes": {"/var/run/x": {}}, "WorkingDir": "/work"}))
    roots = ImageRoots(tmp_path / "images")
    roots.load(iter([archive]))
    identity = roots.id_of("x:1") or ""
    assert roots.opened(identity).places == {"/var/run/x": "/run/x"}
    assert (roots.root(identity) / "run" / "x").is_dir()
    assert (roots.root(identity) / "work").is_dir()


@pytest.mark.engine
def test_the_doctor_looks_at_it(unpacked_images: Path) -> None:
    found = {finding.name: finding for finding in BubblewrapRow().examine()}
    assert {finding.level for finding in found.values()} == {"ok"}, found
    assert found["rights in force"].found == "no rights, our system call filter"
    assert found["memory in force"].found == f"{2048 * MIB} bytes in the container's cgroup"


@pytest.mark.engine
def test_the_container_has_nothing_of_ours_open(bench: EngineBench) -> None:
    """Standard input, output and error, and what ls itself opens; the first process has one more of its own."""
    assert bench.said("ls /proc/self/fd; cat /proc/1/environ; exit 0").split() == ["0", "1", "2", "3"]
    opened = bench.said("for i in /proc/1/fd/*; do readlink $i; done; exit 0").split()
    assert [name for name in opened if name.partition(":")[0] not in ("pipe", "/dev/null", "anon_inode")] == []
