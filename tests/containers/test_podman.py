"""Podman beside Docker: the same images give the same bytes, a killed run leaves nothing, and what it is asked for."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.base.process_identity import own_name
from sandscore.containers.annotation_run import RunJob, predictions, run
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.engines.engine_protocol import OWNER, RUN
from sandscore.containers.engines.engine_registry import ENGINES, connected
from sandscore.containers.engines.podman import podman_engine, podman_sandbox, podman_service
from sandscore.containers.engines.podman.podman_engine import PodmanEngine, not_limited
from sandscore.containers.engines.podman.podman_sandbox import nanoseconds, specification
from sandscore.containers.hostile.hostile_images import HostileImages, hostile_images
from sandscore.containers.participant_template import example
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.records.run_record import EngineFacts, ImageFacts, Outcome, RunFault, RunLimits
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from docker import DockerClient

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "submissions").glob("*/submission.json"))
RUNNER = """
import sys
from sandscore.records.run_record import RunLimits
from sandscore.containers.sent_notes import SentNote
from sandscore.base.process_identity import own_name
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.run_context import Annotator
from sandscore.task_table.task import find_task
image, protocol = sys.argv[1:]
notes = [SentNote("a", "a", "text")]
print("begun", flush=True)
job = RunJob(find_task("date"), Annotator("image", image, protocol), notes, "0" * 64, RunLimits(), engine="podman")
run(job)
"""


@pytest.fixture(scope="module")
def podman() -> Iterator[PodmanEngine]:
    with connected("podman") as engine:
        assert isinstance(engine, PodmanEngine)
        yield engine


@pytest.fixture(scope="module")
def attacks(podman: PodmanEngine) -> Iterator[HostileImages]:
    with hostile_images(podman, f"sandscore-killed-{os.getpid()}") as built:
        yield built


@pytest.fixture
def examples(client: "DockerClient", python_image: object, podman: PodmanEngine) -> Iterator[dict[str, str]]:
    """Built on Docker and handed to Podman as they are: by id the same images."""
    built = {}
    for manifest in MANIFESTS:
        name = f"sandscore-test-{os.getpid()}-both-{manifest.parent.name}"
        task = find_task(json.loads(manifest.read_text(encoding="utf-8"))["task"])
        files = example(manifest.parent.name, task)
        built[manifest.parent.name] = build_image(client, name, files, {"BASE": "sandscore-base:bookworm"})
    names = [f"sandscore-test-{os.getpid()}-both-{name}" for name in built]
    with subprocess.Popen(["docker", "save", *names], stdout=subprocess.PIPE) as saved:
        assert saved.stdout is not None
        podman.load_image(iter(partial(saved.stdout.read, 1 << 20), b""))
    assert saved.returncode == 0
    yield built
    for name in names:
        podman.remove_image(name)
        client.images.remove(name, force=True)


@pytest.mark.engine
def test_the_same_image_gives_the_same_bytes(examples: dict[str, str]) -> None:
    notes, digest = read_notes(ROOT / "gold" / "example" / "notes.json")
    for manifest in MANIFESTS:
        task = find_task(json.loads(manifest.read_text(encoding="utf-8"))["task"])
        said = {}
        for engine in ("docker", "podman"):
            image = Annotator("image", examples[manifest.parent.name])
            done = run(RunJob(task, image, notes, digest, RunLimits(), engine=engine))
            assert done.record.outcome is Outcome.FINISHED, (engine, done.record.reason)
            assert done.record.engine is not None
            assert done.record.engine.name == engine
            assert done.record.image is not None
            assert done.answers is not None
            said[engine] = (
                done.record.image.id,
                done.record.kernel_limits,
                b"".join(predictions(task, notes, done.answers)),
            )
        assert said["docker"] == said["podman"], manifest.parent.name


def left(podman: PodmanEngine, pid: int) -> tuple[list[str], list[str]]:
    """Containers and volumes that a process has made."""
    chosen: Any = {"filters": {"label": RUN}}
    containers = podman.client.containers.list(all=True, sparse=True, **chosen)
    volumes = podman.client.volumes.list(**chosen)
    mine = f"/{pid}@"
    return (
        [one.id for one in containers if mine in one.attrs["Labels"].get(OWNER, "")],
        [one.name for one in volumes if mine in (one.attrs.get("Labels") or {}).get(OWNER, "")],
    )


def traces(pid: int, things: list[str]) -> list[str]:
    """Processes, mounts, control groups and folders that bear the name of any of these."""
    found = [str(path) for path in Path(tempfile.gettempdir()).glob("sandscore-podman-*/owner") if _is_of(path, pid)]
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    for thing in things:
        found += [line for line in mounts.splitlines() if thing in line]
        found += [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/libpod_parent/*{thing}*")]
        found += [command for command in _commands() if thing in command]
    return found


def _is_of(path: Path, pid: int) -> bool:
    try:
        return f"/{pid}@" in path.read_text(encoding="utf-8")
    except OSError:
        return False


def _commands() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*"):
        try:
            yield (path / "cmdline").read_text(encoding="utf-8") + (path / "cgroup").read_text(encoding="utf-8")
        except OSError:
            continue


@pytest.mark.engine
@pytest.mark.parametrize(("attack", "protocol"), [("harmless", "service"), ("never-ends", "batch")])
def test_killed_at_any_moment_it_leaves_nothing(
    podman: PodmanEngine, attacks: HostileImages, attack: str, protocol: str
) -> None:
    """Right at the beginning, as soon as anything of it is there, and in the middle of it; what it leaves is removed by
    the next start."""
    image, seen = attacks.image(attack), []
    for moment in ("at once", "made", "running"):
        runner = subprocess.Popen([sys.executable, "-c", RUNNER, image, protocol], stdout=subprocess.PIPE)
        assert runner.stdout is not None
        assert runner.stdout.readline() == b"begun\n"
        deadline = time.monotonic() + 60
        while moment != "at once" and runner.poll() is None and time.monotonic() < deadline:
            containers, volumes = left(podman, runner.pid)
            if volumes and (moment == "made" or any(_running(podman, one) for one in containers)):
                break
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        runner.stdout.close()
        time.sleep(0.3)  # what was asked of the service before is done, or not
        containers, volumes = left(podman, runner.pid)
        seen.append(bool(containers or volumes))
        deadline = time.monotonic() + 30
        while (podman.remove_leftovers() or left(podman, runner.pid) != ([], [])) and time.monotonic() < deadline:
            pass
        assert left(podman, runner.pid) == ([], [])
        assert traces(runner.pid, [*containers, *volumes]) == [], moment
    assert any(seen), "nothing was ever left, so nothing was shown"


def _running(podman: PodmanEngine, container: str) -> bool:
    found = podman.client.containers.list(filters={"id": container}, sparse=True)
    return any(one.attrs["State"] == "running" for one in found)


def specified(**changed: Any) -> dict[str, Any]:
    image = ImageFacts(reference="x", id="sha256:1", size_bytes=1)
    limits = RunLimits(memory_bytes=64 << 20, cpus=0.5, processes=7, open_files=99).model_copy(update=changed)
    return specification(image, limits, {RUN: "r"}, "none", {"v": {"bind": "/tmp", "mode": "rw,noexec"}})


def test_what_is_asked_of_podman_by_hand() -> None:
    """After podman-run(1) and the Swagger pages of libpod 4.0: each limit, in bytes, microseconds, names."""
    spec = specified()
    assert spec["resource_limits"] == {
        "memory": {"limit": 67108864, "swap": 67108864},
        "cpu": {"quota": 50_000, "period": 100_000},
        "pids": {"limit": 7},
    }
    assert {one["type"]: (one["soft"], one["hard"]) for one in spec["r_limits"] if one["type"] != "NPROC"} == {
        "NOFILE": (99, 99), "CORE": (0, 0), "MSGQUEUE": (0, 0),
    }  # fmt: skip
    assert spec["netns"] == {"nsmode": "none"}
    assert (spec["cap_drop"], spec["cap_add"], spec["no_new_privileges"]) == (["ALL"], [], True)
    assert (spec["read_only_filesystem"], spec["image_volume_mode"], spec["user"]) == (True, "ignore", "20001:20001")
    assert spec["volumes"] == [{"Name": "v", "Dest": "/tmp", "Options": ["rw", "noexec"]}]
    assert Path(spec["seccomp_profile_path"]).is_file()
    assert "user" not in specified(user=None)


def test_processes_of_a_user_are_bounded_where_they_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unprivileged service may not raise its own bound: 500 stay 500, and no bound is 32,768."""
    for most, told in ((500, 500), (-1, 32_768), (1 << 20, 32_768)):
        monkeypatch.setattr("resource.getrlimit", lambda _, most=most: (most, most))
        assert {one["type"]: one["hard"] for one in podman_sandbox.resource_limits(99)}["NPROC"] == told


def test_graphics_processors_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """As NVIDIA's toolkit calls them: nvidia.com/gpu=all, or by number from 0."""
    monkeypatch.setattr(Path, "is_dir", lambda _: False)
    with pytest.raises(OrganiserFault, match="Podman knows no graphics processors to hand on"):
        specified(gpus=1)
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    monkeypatch.setattr(Path, "iterdir", lambda _: iter([Path("nvidia.yaml")]))
    assert specified(gpus="all")["devices"] == [{"path": "nvidia.com/gpu=all"}]
    assert specified(gpus=2)["devices"] == [{"path": "nvidia.com/gpu=0"}, {"path": "nvidia.com/gpu=1"}]


KEEPS = {"MemoryLimit": True, "SwapLimit": True, "PidsLimit": True, "CpuCfsQuota": True, "CgroupDriver": "cgroupfs"}


@pytest.mark.parametrize(
    ("host", "info", "missing"),
    [
        ({"security": {"rootless": False}, "cgroupVersion": "v1"}, KEEPS, []),
        ({"security": {"rootless": False}, "cgroupVersion": "v1"}, KEEPS | {"SwapLimit": False}, ["SwapLimit"]),
        ({"security": {"rootless": True}, "cgroupVersion": "v1"}, KEEPS, ["cgroup v1 without root"]),
        (
            {"security": {"rootless": True}, "cgroupVersion": "v2", "cgroupControllers": ["memory", "pids"]},
            KEEPS,
            ["cpu"],
        ),
        (
            {"security": {"rootless": True}, "cgroupVersion": "v2", "cgroupControllers": ["cpu", "memory", "pids"]},
            KEEPS,
            [],
        ),
    ],
)
def test_limits_that_podman_would_not_keep(host: dict[str, Any], info: dict[str, Any], missing: list[str]) -> None:
    """Without root Podman keeps what is delegated to it, which is nothing with cgroup v1 (podman-run(1), --memory)."""
    assert not_limited({"host": host}, None, lambda: info) == missing


SHOWN_1 = (
    "memory/memory.limit_in_bytes",
    "memory/memory.memsw.limit_in_bytes",
    "pids/cgroup.procs",
    "cpu/cpu.cfs_quota_us",
)
SHOWN_2 = ("a/memory.max", "a/memory.swap.max", "a/pids.max", "a/cpu.max")


@pytest.mark.parametrize("files", [SHOWN_1, SHOWN_2], ids=("version 1", "version 2"))
def test_podman_is_asked_again_where_the_kernel_does_not_show_a_limit(files: tuple[str, ...], tmp_path: Path) -> None:
    """The files of cgroup-v1/memory.txt, sched-bwc.txt and cgroup-v2.rst; each of them is needed."""
    host, lacking = {"cgroupManager": "cgroupfs"}, KEEPS | {"SwapLimit": False}
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    assert not_limited({"host": host}, tmp_path, lambda: pytest.fail("asked")) == []
    assert not_limited({"host": {"cgroupManager": "none"}}, tmp_path, lambda: lacking) == ["SwapLimit"]
    assert not_limited({"host": host}, None, lambda: lacking) == ["SwapLimit"]
    for file in files:
        (tmp_path / file).unlink()
        assert not_limited({"host": host}, tmp_path, lambda: lacking) == ["SwapLimit"], file
        (tmp_path / file).touch()


def test_without_root_it_is_refused_where_limits_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PodmanEngine(None)
    told = {"host": {"security": {"rootless": True}, "cgroupVersion": "v1"}, "version": {"Version": "4.3.1"}}
    monkeypatch.setattr(PodmanEngine, "about", lambda _: told)
    monkeypatch.setattr("sandscore.containers.engines.podman.podman_engine.told_facts", lambda _: KEEPS)
    monkeypatch.setenv("CONTAINER_HOST", "unix:///of/somebody")  # whose service is asked
    assert engine.facts() == EngineFacts(name="podman", version="4.3.1", cgroups="1", rootless=True)
    with pytest.raises(OrganiserFault, match=r"does not keep limits \(cgroup v1 without root\)") as refused:
        engine.require_limits()
    assert refused.value.exit_code == 78
    with pytest.raises(OrganiserFault, match="runs batch programs only"):
        engine.own_network({})


def processes_of(word: str) -> Iterator[tuple[int, str]]:
    """Those with the word in their environment, and their programs' names."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word.encode() in (path / "environ").read_bytes():
                yield int(path.name), (path / "comm").read_text(encoding="utf-8").strip()


@pytest.mark.engine
def test_an_account_without_root_to_which_nothing_was_handed_down(podman: PodmanEngine) -> None:
    """Podman itself, run by somebody of no rights but to read: refused before anything runs, on either version."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        words = ["setpriv", "--reuid=20077", "--regid=20077", "--clear-groups"]
        words += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", sys.executable, "-m", "sandscore"]
        for place in (name, f"{name}/home", f"{name}/run"):
            Path(place).mkdir(exist_ok=True)
            os.chown(place, 20077, 20077)
        told = ["run", "date", "--engine", "podman", "--image", "x", "-o", f"{name}/home/run"]
        environment = {"PATH": os.environ["PATH"], "HOME": f"{name}/home", "XDG_RUNTIME_DIR": f"{name}/run"}
        done = subprocess.run(
            [*words, *told, "--notes", str(ROOT / "gold" / "example" / "notes.json")],
            env=environment | {"PYTHONPATH": str(ROOT / "scoring")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 78, done.stderr
        assert ("cgroup v1 without root" if podman.facts().cgroups == "1" else "memory") in done.stderr
        assert not Path(name, "home", "run", "run.json").exists()
        kept = dict(processes_of(name))
        for number in kept:
            os.kill(number, signal.SIGKILL)
        assert set(kept.values()) <= {"catatonit"}, "what Podman itself keeps for every account"


@pytest.mark.engine
def test_what_is_known_without_asking_is_what_podman_says(podman: PodmanEngine) -> None:
    assert podman.facts() == podman.asked_facts()
    podman.require_limits()


def test_podman_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONTAINER_HOST", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    row = ENGINES.find("podman")()
    why = "there is no program podman on this machine (Debian: apt-get install podman runc catatonit)"
    assert row.absent() == why
    with pytest.raises(OrganiserFault) as refused:
        connected("podman")
    assert str(refused.value) == f"the engine 'podman' was asked for, and {why}"
    monkeypatch.setenv("CONTAINER_HOST", "tcp://elsewhere:1")
    assert row.absent() is None
    with pytest.raises(InfrastructureFault, match="only a Podman of this machine is used"), row.connect():
        pass
    monkeypatch.setenv("CONTAINER_HOST", f"unix://{tmp_path}/none")
    with pytest.raises(InfrastructureFault, match="no Podman answers at"), row.connect():
        pass


def test_a_service_that_does_not_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And leaves no folder; one whose owner was killed is removed by the next."""
    program = tmp_path / "podman"
    program.write_text("#!/bin/sh\necho no storage >&2\nexit 125\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.delenv("CONTAINER_HOST", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    scratch = Path(tempfile.mkdtemp(dir="/tmp"))  # a socket's path has 107 letters at most
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with (
        pytest.raises(InfrastructureFault, match="podman system service does not start: no storage"),
        connected("podman"),
    ):
        pass
    assert list(scratch.iterdir()) == []
    for name, owner in (
        ("dead", own_name().rpartition("@")[0] + "@1"),
        ("live", own_name()),
    ):
        (scratch / f"sandscore-podman-{name}").mkdir()
        (scratch / f"sandscore-podman-{name}" / "owner").write_text(owner, encoding="utf-8")
    assert podman_service.remove_folders() == 1
    assert [path.name for path in scratch.iterdir()] == ["sandscore-podman-live"]
    shutil.rmtree(scratch)


def test_the_moment_of_an_end() -> None:
    """By hand: 2026-11-19T09:00:06Z is 1,795,078,806 s after 1970 (date -d); Python keeps microseconds."""
    assert abs(nanoseconds("2026-11-19T09:00:06.666638939Z") - 1_795_078_806_666_638_000) < 1000
    assert abs(nanoseconds("0001-01-01T00:00:00Z") - time.time_ns()) < 10**9


@pytest.mark.parametrize(("lost", "told"), [(0, "built"), (1, "built"), (5, "built"), (6, None)])
def test_another_image_that_goes_meanwhile_is_no_fault(lost: int, told: str | None) -> None:
    """What Podman 4.3 said of a build while another process removed images of its own."""
    said = 'building: reading image "c373": locating image with ID "c373": image not known'
    answers = [RunFault(Outcome.INFRASTRUCTURE, said)] * lost

    def build() -> str:
        if answers:
            raise answers.pop()
        return "built"

    if told is None:
        with pytest.raises(RunFault, match="image not known"):
            podman_engine._undisturbed(build)
    else:
        assert podman_engine._undisturbed(build) == told


def test_a_fault_of_its_own_is_one_at_once() -> None:
    answers = [RunFault(Outcome.IMAGE_MISSING, "'x' is not on this engine"), RunFault(Outcome.CRASHED, "never asked")]

    def ask() -> str:
        raise answers.pop(0)

    with pytest.raises(RunFault, match="is not on this engine"):
        podman_engine._undisturbed(ask)
    assert len(answers) == 1
