"""What stands around a container, one part at a time, with stand-ins for the engine; numbers are counted by hand."""

import gzip
import hashlib
import io
import json
import socket
import struct
import tarfile
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests.exceptions
from docker.errors import APIError, BuildError, DockerException, ImageNotFound, NotFound
from struct_values import changeable

from sandscore.base.errors import InfrastructureFault, OrganiserFault, UsageFault
from sandscore.base.whole_files import write_file
from sandscore.containers import annotation_run, host_checks, service_protocol, tiny_program, transports
from sandscore.containers.annotation_run import (
    FinishedRun,
    clear,
    compared,
    latency_of,
    predictions,
    repeated,
    require_pinned,
    shuffled,
    write_run,
)
from sandscore.containers.answers import Answers, parts_in
from sandscore.containers.batch_protocol import answers_in, notes_file, wait_for_end
from sandscore.containers.engines import control_groups
from sandscore.containers.engines.docker import (
    cleanup,
    docker_checks,
    docker_engine,
    firewall,
    image_store,
    tmpfs_image,
)
from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.engines.docker.docker_folders import _check, _content, folders, take_file
from sandscore.containers.engines.engine_protocol import EXPIRES, OWNER, RUN, abandoned, labels
from sandscore.containers.engines.sandbox import Sandbox, State, Usage
from sandscore.containers.http_exchange import BadReply, ConnectionDied, DeadlinePassed, Reply
from sandscore.containers.images import image_parts, layer_entries
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.python_annotator import run_in_python
from sandscore.containers.run_context import Annotator, Facts, Setting, Timing, preset
from sandscore.containers.sent_notes import SentNote, acceptable, read_notes
from sandscore.containers.service_protocol import Clock, Service, annotate_all, read_tool, tool_types
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits, RunRecord
from sandscore.task_table.task import TASKS

DATE = TASKS["date"]
NOTES = [SentNote("x/a", "a", "Seen 10/26/2020."), SentNote("b", "b", "No date.")]
FOUND = {"start": 5, "length": 10, "text": "10/26/2020"}
DIGEST = "sha256:" + "0" * 64


def status(code: int | None) -> APIError:
    response: Any = None if code is None else SimpleNamespace(status_code=code)
    return APIError("said", response=response, explanation=" it \n said ")


# The engine


@pytest.mark.parametrize(
    ("fault", "ours", "theirs"),
    [
        (status(400), Outcome.INFRASTRUCTURE, Outcome.CRASHED),
        (status(499), Outcome.INFRASTRUCTURE, Outcome.CRASHED),
        (status(500), Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
        (status(None), Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
        (DockerException("x"), Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
        (requests.exceptions.ConnectionError(), Outcome.INFRASTRUCTURE, Outcome.INFRASTRUCTURE),
    ],
)
def test_whose_fault_it_is(fault: Exception, ours: Outcome, theirs: Outcome) -> None:
    for told, outcome in ((None, ours), ("the image", theirs)):
        with pytest.raises(RunFault) as caught, docker_engine.asking("starting", told):
            raise fault
        assert caught.value.outcome is outcome
        begun = "the image: " if outcome is Outcome.CRASHED else "the engine failed while starting: "
        assert caught.value.reason.startswith(begun)


def test_what_the_engine_said_fits_one_line() -> None:
    assert docker_engine.explained(status(400)) == "it said"
    assert docker_engine.explained(OSError("x")) == "OSError"
    assert docker_engine.explained(APIError("x", explanation="y" * 400)) == "y" * 300


LOST = "OCI runtime start failed: container process is already dead: unknown"


@pytest.mark.parametrize(
    ("failures", "starts", "succeeds"),
    [
        ([], 1, True),
        ([LOST], 2, True),
        (["cannot start a stopped process: unknown", "x: cannot start an already running container", LOST], 4, True),
        ([LOST] * 4, 4, False),
        (["no such file or directory"], 1, False),
    ],
)
def test_a_start_that_the_runtime_lost_is_tried_again(failures: list[str], starts: int, succeeds: bool) -> None:
    told, attached, asked = list(failures), list[int](), list[int]()

    def start() -> None:
        asked.append(len(attached))
        if told:
            raise APIError("said", response=None, explanation=told.pop(0))

    with nullcontext() if succeeds else pytest.raises(APIError, match="said"):
        docker_engine.started(SimpleNamespace(start=start), attach=lambda: attached.append(1))
    assert asked == list(range(1, starts + 1)), "its output is attached to before every start"


@pytest.mark.parametrize(
    ("said", "asked"),
    [([], [{}]), (["unknown parent image ID sha256:1"], [{}, {"nocache": True}]), (["exit code 1"], [{}])],
)
def test_a_build_whose_shared_layer_was_removed_is_made_without_the_cache(
    said: list[str], asked: list[dict[str, bool]]
) -> None:
    told, seen = list(said), list[dict[str, bool]]()

    def build(**given: Any) -> tuple[Any, list[Any]]:
        seen.append({key: value for key, value in given.items() if key == "nocache"})
        if told:
            raise BuildError(told.pop(0), [])
        return SimpleNamespace(id="sha256:2"), []

    client: Any = SimpleNamespace(images=SimpleNamespace(build=build))
    if said == ["exit code 1"]:
        with pytest.raises(InfrastructureFault, match="x cannot be built: exit code 1"):
            image_store.build_image(client, "x", {"Dockerfile": "FROM scratch"})
    else:
        assert image_store.build_image(client, "x", {"Dockerfile": "FROM scratch"}) == "sha256:2"
    assert seen == asked


def test_limits_that_an_engine_ignores() -> None:
    whole = dict.fromkeys(docker_engine.ENFORCED, True)
    docker_engine.require_limits(whole | {"CgroupDriver": "systemd"})
    lame = whole | {docker_engine.ENFORCED[0]: False, "CgroupDriver": "none"}
    assert docker_engine.unenforced(lame) == [docker_engine.ENFORCED[0], "CgroupDriver"]
    with pytest.raises(OrganiserFault, match="ignores limits"):
        docker_engine.require_limits(lame)


def test_a_socket_nobody_listens_on_or_that_is_not_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    docker_engine._require_listening("tcp://elsewhere:2375")
    with pytest.raises(InfrastructureFault, match=f"no Docker engine answers at unix://{tmp_path}/s; start one"):
        docker_engine._require_listening(f"unix://{tmp_path}/s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{tmp_path}/s")
        server.listen()
        docker_engine._require_listening(f"unix://{tmp_path}/s")

    class Refused(socket.socket):
        def connect(self, _address: Any) -> None:
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sandscore.containers.engines.docker.docker_engine.socket.socket", Refused)
    with pytest.raises(InfrastructureFault, match=f"permission denied on the socket {tmp_path}/s: .* join the group"):
        docker_engine._require_listening(f"unix://{tmp_path}/s")


def test_the_engine_that_the_docker_command_would_take(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the order of the docker command: DOCKER_HOST, DOCKER_CONTEXT, the context in use; then sockets that are there.

    A context is kept as the command keeps it: ``contexts/meta/<SHA-256 of its name>/meta.json``.
    """
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / ".docker"))
    for name in ("mine", "other"):
        folder = tmp_path / ".docker" / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
        folder.mkdir(parents=True)
        meta = {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": f"unix:///run/{name}.sock"}}}
        (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (tmp_path / ".docker" / "config.json").write_text('{"currentContext": "mine"}', encoding="utf-8")
    told = [docker_engine.engine_address().url]
    monkeypatch.setenv("DOCKER_CONTEXT", "other")
    told.append(docker_engine.engine_address().url)
    monkeypatch.setenv("DOCKER_HOST", "tcp://elsewhere:2375")
    told.append(docker_engine.engine_address().url)
    assert told == ["unix:///run/mine.sock", "unix:///run/other.sock", "tcp://elsewhere:2375"]
    monkeypatch.delenv("DOCKER_HOST")
    monkeypatch.setenv("DOCKER_CONTEXT", "none")
    with pytest.raises(InfrastructureFault, match="context"):
        docker_engine.engine_address()
    monkeypatch.delenv("DOCKER_CONTEXT")
    (tmp_path / ".docker" / "config.json").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with socket.socket(socket.AF_UNIX) as rootless:
        rootless.bind(str(tmp_path / "docker.sock"))
        usual = Path("/var/run/docker.sock")
        expected = usual if usual.is_socket() else tmp_path / "docker.sock"
        assert docker_engine.engine_address().url == f"unix://{expected}"
        monkeypatch.setattr(docker_engine, "USUAL_SOCKET", tmp_path / "none.sock")
        assert docker_engine.engine_address().url == f"unix://{tmp_path}/docker.sock"


def test_the_smallest_program() -> None:
    """An ELF header has 64 bytes and a segment's 56; the code follows at once. Field by field after the ELF manual."""
    for architecture, machine, code in (("amd64", 62, 9), ("arm64", 183, 28), ("riscv", 62, 9)):
        made = tiny_program.waiting_program(architecture)
        assert len(made) == 120 + code
        assert made[:16] == b"\x7fELF\x02\x01\x01" + bytes(9)
        header = struct.unpack("<HHIQQQIHHHHHH", made[16:64])
        assert header == (2, machine, 1, 0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0)
        segment = struct.unpack("<IIQQQQQQ", made[64:120])
        assert segment == (1, 5, 0, 0x400000, 0x400000, len(made), len(made), 0x1000)
    with tarfile.open(fileobj=io.BytesIO(tmpfs_image._tar(b"abc"))) as archive:
        (entry,) = archive.getmembers()
        assert (entry.name, entry.size, entry.mode) == ("hold", 3, 0o555)


def test_the_smallest_image_is_made_once() -> None:
    made: list[Any] = []

    def inspect(name: str) -> None:
        if not made:
            raise ImageNotFound("x")

    api = SimpleNamespace(inspect_image=inspect, import_image_from_data=lambda *given, **how: made.append(how))
    client: Any = SimpleNamespace(api=api, version=lambda: {"Arch": "arm64"})
    assert tmpfs_image.holder_image(client) == tmpfs_image.holder_image(client) == "sandscore-holder:1"
    assert made == [{"repository": "sandscore-holder", "tag": "1", "changes": ['CMD ["/hold"]']}]


class Images:
    """An engine's images: what is there, what was pulled and removed."""

    def __init__(self, *here: str, **facts: Any) -> None:
        self.here, self.facts = set(here), {"Id": "sha256:1", "Size": 5} | facts
        self.pulled: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self.fault: Exception | None = None

    @property
    def api(self) -> Any:
        return self

    def inspect_image(self, name: str) -> dict[str, Any]:
        if self.fault and not isinstance(self.fault, NotFound):
            raise self.fault
        if name not in self.here:
            raise ImageNotFound("x")
        return self.facts

    def pull(self, name: str, tag: str) -> None:
        if self.fault:
            raise self.fault
        self.pulled.append((name, tag))
        self.here |= {f"{name}:{tag}", f"{name}@{tag}", name}

    def remove_image(self, name: str, force: bool) -> None:
        assert force
        self.removed.append(name)


def found(images: Images, name: str, **limits: Any) -> ImageFacts:
    client: Any = images
    return image_store.find_image(client, name, RunLimits(**limits))


@pytest.mark.parametrize(
    ("name", "pulled"),
    [
        ("a", ("a", "latest")),
        ("a:1", ("a", "1")),
        ("r.example:80/a", ("r.example:80/a", "latest")),
        ("r.example:80/a:1", ("r.example:80/a", "1")),
        (f"a@{DIGEST}", ("a", DIGEST)),
    ],
)
def test_images_that_are_pulled(name: str, pulled: tuple[str, str]) -> None:
    images = Images()
    assert found(images, name).size_bytes == 5
    assert images.pulled == [pulled]
    here = Images(name)
    found(here, name)
    assert here.pulled == []


def test_images_that_are_too_large_or_not_there() -> None:
    for here, removed in (((), ["a"]), (("a",), [])):
        images = Images(*here)
        with pytest.raises(RunFault, match="the image has 5 bytes, more than the 4 allowed"):
            found(images, "a", image_bytes=4)
        assert images.removed == removed
        assert found(images, "a", image_bytes=5).size_bytes == 5
    with pytest.raises(RunFault, match="no image with the id"):
        found(Images(), DIGEST)
    for fault, outcome in (
        (NotFound("x"), Outcome.IMAGE_MISSING), (status(404), Outcome.IMAGE_MISSING),
        (status(500), Outcome.INFRASTRUCTURE), (status(None), Outcome.INFRASTRUCTURE),
    ):  # fmt: skip
        images = Images()
        images.fault = fault
        with pytest.raises(RunFault) as caught:
            found(images, "a")
        assert caught.value.outcome is outcome


def test_facts_of_images() -> None:
    digests = ["b@sha256:b", "a@sha256:a"]
    facts = found(Images("a@x", RepoDigests=digests, Config={"Volumes": {"/z": {}, "/y": {}}}), "a@x")
    assert (facts.reference, facts.id, facts.digest, facts.volumes) == ("a@x", "sha256:1", "sha256:a", ("/y", "/z"))
    assert found(Images("c", RepoDigests=digests), "c").digest == "sha256:b"
    assert found(Images("c", RepoDigests=None, Size=None, Config=None), "c").size_bytes == 0
    assert found(Images("c"), "c").digest is None
    with pytest.raises(RunFault, match="made for windows, not for linux"):
        found(Images("c", Os="windows"), "c")


def test_what_an_image_is_built_from() -> None:
    packed = image_store._context({"Dockerfile": "FROM x", "run": b"#!/bin/sh", "hold": b"\x7fELF"})
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert [(entry.name, entry.size, entry.mode) for entry in archive] == [
            ("Dockerfile", 6, 0o644), ("run", 9, 0o755), ("hold", 4, 0o755),
        ]  # fmt: skip


# Limits in force


def kernel_says(folder: Path, **said: str) -> list[tuple[str, str]]:
    usual = {"Seccomp": "2", "NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16} | said
    (folder / "status").write_text("".join(f"{key}:\t{value}\n" for key, value in usual.items()), encoding="ascii")
    (folder / "cgroup").write_text("0::/nowhere\n", encoding="ascii")
    return [(finding.name, finding.level) for finding in docker_checks._kernel_says(folder, 7)]


def test_what_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernel_says(tmp_path) == [("rights in force", "ok"), ("memory in force", "note")]
    assert kernel_says(tmp_path, CapEff="1")[0] == ("rights in force", "fault")
    for limit, level in (("7", "ok"), ("8", "fault")):
        monkeypatch.setattr(docker_checks, "_memory_limit", lambda _, limit=limit: limit)
        assert kernel_says(tmp_path)[1] == ("memory in force", level)
    (gone,) = docker_checks._kernel_says(tmp_path / "gone", 7)
    assert (gone.name, gone.level) == ("limits in force", "note")


def test_room_for_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, level in ((5 << 30, "note"), ((5 << 30) + 1, "ok")):
        monkeypatch.setattr("shutil.disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        finding = docker_checks._room({"DockerRootDir": str(tmp_path)})
        assert (finding.level, finding.found) == (level, "5 GB free for images")
        assert (finding.advice is None) is (level == "ok")
    assert docker_checks._room({"DockerRootDir": str(tmp_path / "gone")}).level == "note"


def test_an_engine_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    info = dict.fromkeys(docker_engine.ENFORCED, True) | {"ServerVersion": "9"}
    monkeypatch.setattr(docker_checks, "remove_leftovers", lambda _: 3)
    monkeypatch.setattr(docker_checks, "_in_force", lambda _: iter(()))
    monkeypatch.setattr("sys.platform", "linux")
    for lame, inside, levels in ((False, True, ["ok", "ok", "ok"]), (True, False, ["ok", "fault", "note"])):
        monkeypatch.setattr(docker_checks, "may_enter_namespaces", lambda inside=inside: inside)
        client = SimpleNamespace(info=lambda lame=lame: info | ({docker_engine.ENFORCED[0]: False} if lame else {}))
        findings = list(docker_checks.examine_engine(client))
        assert [finding.level for finding in findings[:3]] == levels
        assert [finding.advice is None for finding in findings[:3]] == [level == "ok" for level in levels]
        assert (findings[0].found, findings[-1].found) == ("Docker 9, cgroup v1", "3 removed")


def test_a_container_is_given_nothing_more() -> None:
    image = ImageFacts(reference="r", id="sha256:1", size_bytes=1, volumes=("/data", "//tmp/../x/"))
    limits = RunLimits(memory_bytes=7 << 20, cpus=1.5, processes=9, open_files=20, tmp_bytes=4096, tmp_files=5)
    given = container_arguments(image, limits, {"k": "v"}, "none", {"v": {"bind": "/data", "mode": "ro"}})
    assert (given["init"], given["read_only"], given["cap_drop"], given["cap_add"]) == (True, True, ["ALL"], [])
    assert given["mem_limit"] == given["memswap_limit"] == 7 << 20
    assert (given["nano_cpus"], given["pids_limit"], given["user"]) == (1_500_000_000, 9, "20001:20001")
    options = "rw,noexec,nosuid,nodev,size=4096,nr_inodes=5,mode=1777"
    assert given["tmpfs"] == {"/tmp": options, "/x": options}
    assert [(one["Name"], one["Soft"], one["Hard"]) for one in given["ulimits"]] == [
        ("nofile", 20, 20), ("core", 0, 0), ("msgqueue", 0, 0),
    ]  # fmt: skip
    loose = container_arguments(image, preset("compat"), {}, "none", {})
    assert "user" not in loose
    assert loose["cap_add"] == ["SETUID", "SETGID"]
    able = container_arguments(image, RunLimits(tmp_executable=True), {}, "none", {})
    assert able["tmpfs"]["/tmp"].startswith("rw,exec,")
    assert preset("strict") == RunLimits()


# A sandbox, whatever its engine


class Told(Sandbox):
    """Says one state after another, the last one for ever, and what was asked of it."""

    def __init__(self, *states: State, exit_code: int | None = None, by_itself: bool = True) -> None:
        super().__init__(RunLimits(), LogWatch(10))
        self.states, self.by_itself, self.asked = list(states), by_itself, list[str]()
        self.exit_code = exit_code

    def start(self) -> None:
        raise AssertionError

    def state(self) -> State:
        self.asked.append("state")
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def measure(self) -> None:
        self.asked.append("measure")

    def kill(self) -> None:
        self.asked.append("kill")
        self.exit_code = 137

    def ended_by_itself(self) -> bool:
        return self.by_itself


GOING, GONE, KILLED = State(True, False, None), State(False, False, 3), State(False, True, 137)


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only sleeping moves."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def sleep(seconds: float) -> None:
        now[0] += seconds
        assert now[0] < 1000, "waited for ever"

    monkeypatch.setattr("time.sleep", sleep)
    return now


def test_the_end_is_waited_for_ten_seconds_at_most(passing: list[float]) -> None:
    short = Told(GOING, GOING, GONE, exit_code=5)
    assert short.end() == GONE
    assert short.asked == ["measure", "kill", "state", "state", "state"]
    assert short.exit_code == 5, "what killing it says is not the program's"
    assert passing[0] == pytest.approx(100.04)
    assert Told(GOING).end() == GOING
    assert passing[0] == pytest.approx(110.04, abs=0.021)


def test_a_fault_is_explained_by_what_the_container_died_of(passing: list[float]) -> None:
    fault = RunFault(Outcome.CRASHED, "no answer")
    crashed = Told(GOING, GOING, GONE).explain(fault)
    assert (crashed.outcome, str(crashed)) == (Outcome.CRASHED, "the container ended by itself with exit code 3")
    assert passing[0] == pytest.approx(100.1)
    assert Told(GOING, KILLED).explain(fault).outcome is Outcome.OUT_OF_MEMORY
    assert Told(GONE, by_itself=False).explain(fault).outcome is Outcome.INFRASTRUCTURE


def test_a_memory_kill_that_the_engine_tells_of_late_is_one() -> None:
    for by_itself in (True, False):
        late = Told(KILLED, by_itself=by_itself).verdict(GONE)
        assert late is not None
        assert late.outcome is Outcome.OUT_OF_MEMORY


def test_what_runs_on_keeps_its_fault_after_a_second(passing: list[float]) -> None:
    fault = RunFault(Outcome.INVALID_OUTPUT, "not JSON")
    assert Told(*[GOING] * 100, GONE).explain(fault) is fault
    assert passing[0] == pytest.approx(101.0 + 79 * 0.02, abs=0.1)  # 21 states while it settles, 79 while it ends


def test_a_timeout_needs_no_explanation(passing: list[float]) -> None:
    fault = RunFault(Outcome.TIMED_OUT, "too long")
    late = Told(GOING, GONE)
    assert late.explain(fault) is fault
    assert passing[0] == 100.0
    assert late.asked == ["state", "measure", "kill", "state"]


def test_the_last_figures_that_were_told_and_the_higher_peak_stay() -> None:
    assert Usage(1.0, 50) | Usage(2.0, 20) == Usage(2.0, 50)
    assert Usage(1.0, None) | Usage(None, 7) == Usage(1.0, 7)
    assert Usage() | Usage() == Usage(None, None)
    assert (Facts().retried, Facts().log_bytes, Facts().exit_code) == (0, 0, None)


# Leftovers


def test_whose_maker_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    from sandscore.containers.engines import engine_protocol

    fates = {"alive": True, "dead": False}
    monkeypatch.setattr(engine_protocol, "fate", fates.get)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    assert not abandoned({OWNER: "alive", EXPIRES: "1"})
    assert abandoned({OWNER: "dead", EXPIRES: "9999"})
    assert [abandoned({OWNER: "far", EXPIRES: at}) for at in ("999", "1000", "1001", "x")] == [True, False, False, True]
    assert abandoned({})
    marks = labels("r", 60)
    assert marks[RUN] == "r"
    assert int(marks[EXPIRES]) == 1000 + 60 + 600  # ten minutes more than the run may take


def test_leftovers_go_in_several_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleanup, "_PAUSE_SECONDS", 0)
    tries: list[int] = []

    def thing(name: str, *faults: Exception) -> Any:
        waiting = list(faults)

        def remove() -> None:
            tries.append(1)
            if waiting:
                raise waiting.pop(0)
            left.remove(one)

        one = SimpleNamespace(attrs={"Labels": {OWNER: name}}, remove=remove)
        return one

    monkeypatch.setattr(cleanup, "abandoned", lambda marks: marks[OWNER] == "dead")
    left = [thing("dead"), thing("alive"), thing("dead", status(409), NotFound("x"))]
    monkeypatch.setattr(cleanup, "_labelled", lambda _: list(left))
    client: Any = None
    assert cleanup.remove_leftovers(client) == 2
    assert len(left) == 1
    left.append(thing("dead", *[status(409)] * 99))
    tries.clear()
    assert cleanup.remove_leftovers(client) == 0
    assert len(tries) == 20
    nested = SimpleNamespace(attrs={"Config": {"Labels": {"a": "b"}}})
    assert (cleanup._marks(nested), cleanup._marks(SimpleNamespace(attrs={}))) == ({"a": "b"}, {})


def test_abandoned_images_go(monkeypatch: pytest.MonkeyPatch) -> None:
    removed: list[str] = []

    def remove(name: str, force: bool) -> None:
        assert force
        removed.append(name)
        if name == "dead":
            raise status(409)

    images = [{"Id": name, "Labels": {OWNER: name}} for name in ("dead", "alive", "dead too")]
    monkeypatch.setattr(cleanup, "abandoned", lambda marks: marks[OWNER].startswith("dead"))
    client: Any = SimpleNamespace(
        api=SimpleNamespace(images=lambda filters: images), images=SimpleNamespace(remove=remove)
    )
    cleanup.remove_abandoned_images(client)
    assert removed == ["dead", "dead too"]


def test_one_rule_of_the_packet_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def run(words: list[str], **_: Any) -> Any:
        asked.append(words)
        return SimpleNamespace(returncode=len(asked) - 1)

    monkeypatch.setattr("subprocess.run", run)
    monkeypatch.setattr("shutil.which", lambda _: "/sbin/iptables")
    assert firewall.cut_off("b")
    assert not firewall.take_back("b")
    assert [words[:6] for words in asked] == [["iptables", "-w", action, "INPUT", "-i", "b"] for action in ("-I", "-D")]
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert not firewall.cut_off("b")
    assert len(asked) == 2


# Folders of a batch submission


@pytest.mark.parametrize(
    ("bit", "kind"),
    [(31, "a folder"), (27, "a symbolic link"), (26, "a device"), (25, "a FIFO"), (24, "a socket")],
)
def test_what_is_no_regular_file(bit: int, kind: str) -> None:
    """The bits are those of Go's ``fs.FileMode``."""
    with pytest.raises(RunFault, match=f"^/o is {kind}, not a regular file$"):
        _check("/o", {"mode": 1 << bit | 0o644, "size": 1}, 10)


def test_no_byte_beyond_the_limit() -> None:
    _check("/o", {"mode": 0o644, "size": 10}, 10)
    with pytest.raises(RunFault, match="/o has 11 bytes, more than the 10 allowed"):
        _check("/o", {"mode": 0o644, "size": 11}, 10)


def packed(content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("o")
        entry.size, entry.type = len(content), kind
        archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_one_file_comes_out() -> None:
    assert _content("/o", packed(b"12345"), 5) == b"12345"
    for data, most, why in (
        (packed(b"123456"), 5, "is not a regular file"), (packed(kind=tarfile.SYMTYPE), 5, "is not a regular file"),
        (packed(b"12345")[:515], 5, "could not be taken out"), (b"x" * 600, 5, "could not be taken out"),
    ):  # fmt: skip
        with pytest.raises(RunFault, match=f"^/o {why}$"):
            _content("/o", data, most)
    closed: list[bool] = []

    class Stream:
        def __iter__(self) -> Iterator[bytes]:
            return iter([packed(b"12345")])

        def close(self) -> None:
            closed.append(True)

    holder = SimpleNamespace(get_archive=lambda path: (Stream(), {"mode": 0o644, "size": 5}))
    assert take_file(holder, "/o", 5) == b"12345"
    assert closed == [True]

    def nothing(path: str) -> Any:
        raise NotFound("x")

    with pytest.raises(RunFault, match="there is no /o"):
        take_file(SimpleNamespace(get_archive=nothing), "/o", 5)


def test_two_folders_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from sandscore.containers.engines.docker import docker_folders

    monkeypatch.setattr(docker_folders, "holder_image", lambda _: "h")
    made: list[tuple[str, dict[str, Any]]] = []
    gone: list[str] = []

    def create(name: str, **how: Any) -> Any:
        made.append((name, how))
        return SimpleNamespace(
            name=name, remove=lambda **_: gone.append(name), start=lambda: None,
            put_archive=lambda path, data: made.append((path, {"data": data})),
        )  # fmt: skip

    client: Any = SimpleNamespace(volumes=SimpleNamespace(create=create), containers=SimpleNamespace(create=create))
    for limits, owner in ((RunLimits(), "mode=0700,uid=20001,gid=20001"), (preset("compat"), "mode=0777")):
        made.clear()
        with folders(client, b"12345", 100, limits, {RUN: "r"}) as both:
            assert [mount["mode"] for mount in both.mounts.values()] == ["ro", "rw"]
            assert [mount["bind"] for mount in both.mounts.values()] == ["/input", "/output"]
        inside, outside, holder, handed = made
        assert inside[1]["driver_opts"]["o"] == f"size={5 + (1 << 20)},nr_inodes=16,mode=0755,nosuid,nodev,noexec"
        assert outside[1]["driver_opts"]["o"] == f"size={100 + (1 << 20)},nr_inodes=200,{owner},nosuid,nodev,noexec"
        assert (holder[1]["read_only"], holder[1]["pids_limit"], holder[1]["network_mode"]) == (True, 32, "none")
        assert [mount["mode"] for mount in holder[1]["volumes"].values()] == ["rw", "ro"]
        with tarfile.open(fileobj=io.BytesIO(handed[1]["data"])) as archive:
            (entry,) = archive.getmembers()
            assert (handed[0], entry.name, entry.size, entry.mode) == ("/input", "notes.json", 5, 0o444)
    assert len(gone) == 6


# Runs


def test_images_are_named_by_digest() -> None:
    for pinned in (DIGEST, f"a@{DIGEST}"):
        require_pinned(pinned)
    for moving in ("a", "a:1", f"@{DIGEST}", DIGEST[:-1], f"{DIGEST}0"):
        with pytest.raises(UsageFault, match="may change behind our back"):
            require_pinned(moving)


def test_orders_of_notes() -> None:
    many = [SentNote(str(number), str(number), "") for number in range(9)]
    assert shuffled(many) != many
    assert sorted(shuffled(many), key=lambda note: note.name) == many
    assert shuffled(many) == shuffled(many)
    assert repeated(NOTES, "service") == [NOTES[1], NOTES[1], NOTES[0], NOTES[0]]
    assert repeated(NOTES, "batch") == [NOTES[1], NOTES[0]]


def test_answers_are_compared_whatever_their_order() -> None:
    before = [b'[{"a":1,"b":2},{"a":3}]', b"[]"]
    assert compared(NOTES, before, NOTES[::-1], [b"[]", b'[{"a":3},{"b":2,"a":1}]']).passed
    other = compared(NOTES, before, [*NOTES, NOTES[1]], [before[0], b"[1]", b"[]"])
    assert (other.passed, other.note, other.detail) == (False, "b", "1 of 2 notes were answered differently")
    assert compared(NOTES, before, NOTES, [b"[]", b"[1]"]).note == "x/a"


def test_seconds_that_shares_of_the_notes_took() -> None:
    assert latency_of([]) is None
    alone = latency_of([2.0])
    assert alone is not None
    assert (alone.p50, alone.p99, alone.most) == (2.0, 2.0, 2.0)
    many = latency_of([float(number) for number in range(100, 0, -1)])
    assert many is not None
    assert (many.p50, many.p90, many.p99, many.most) == (51.0, 91.0, 100.0, 100.0)


def test_predictions_as_they_are_written() -> None:
    found = b"".join(predictions(DATE, NOTES, [b"[1]", b"[]"]))
    assert found == (
        b'[\n{"annotationSource":{"resourceSource":{"name":"x/a"}},"textDateAnnotations":[1]},\n'
        b'{"annotationSource":{"resourceSource":{"name":"b"}},"textDateAnnotations":[]}\n]\n'
    )
    assert '"é"'.encode() in b"".join(predictions(DATE, [SentNote("é", "e", "")], [b"[]"]))


def run_record(**more: Any) -> RunRecord:
    usual: dict[str, Any] = {
        "sandscore": "1",
        "task": "date",
        "protocol": "service",
        "kind": "image",
        "isolation": "all",
    }
    usual |= {"limits": RunLimits(), "concurrency": 4, "notes": 2, "notes_sha256": "0", "outcome": Outcome.FINISHED}
    return RunRecord(**usual | more)


def test_the_folder_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []

    def writing(path: Path, content: Any, *, sync: bool = False) -> None:
        synced.append(sync)
        write_file(path, content, sync=sync)

    monkeypatch.setattr(annotation_run, "write_file", writing)
    write_run(tmp_path / "run", DATE, NOTES, FinishedRun(run_record(), [b"[1]", b"[]"], "log"))
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["log.txt", "predictions.json", "run.json"]
    assert (tmp_path / "run" / "log.txt").read_text(encoding="utf-8") == "log"
    refused = FinishedRun(run_record(outcome=Outcome.INVALID_OUTPUT), None, "", b"bad")
    write_run(tmp_path / "run", DATE, NOTES, refused)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["log.txt", "refused.json", "run.json"]
    assert (tmp_path / "run" / "refused.json").read_bytes() == b"bad"
    assert synced == [True] * 6
    clear(tmp_path / "run")
    assert list((tmp_path / "run").iterdir()) == []


def test_a_record_of_what_was_seen() -> None:
    job = annotation_run.RunJob(DATE, Annotator("url", "http://x"), NOTES, "0")
    assert (job.concurrency, job.check_determinism, job.check_robustness, job.pinned) == (4, False, False, False)
    seen = Facts(timings={"date": Timing(0.5, [1.0, 2.0])}, retried=3)
    done = annotation_run._record(job, DATE, seen, None, {}, None)
    assert (done.outcome, done.notes_per_second, done.retried_notes, done.reason) == (Outcome.FINISHED, 4.0, 3, None)
    fault = RunFault(Outcome.CRASHED, "it said: Seen 10/26/2020. No date. and one two three four")
    failed = annotation_run._record(job, DATE, seen, None, {}, fault)
    assert (failed.outcome, failed.notes_per_second) == (Outcome.CRASHED, None)


def test_a_second_start_that_ends_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = []

    def attempt(setting: Any, rounds: Any, facts: Any, progress: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [[answer[note.name] for note in one.notes] for one in rounds]

    monkeypatch.setattr(annotation_run, "attempt", attempt)
    same, other = {"x/a": b"[1]", "b": b"[]"}, {"x/a": b"[2]", "b": b"[]"}

    def checks(second: Any, determinism: bool, robustness: bool = False) -> dict[str, Any]:
        answers[:] = [same, second]
        job = annotation_run.RunJob(
            DATE, Annotator("url", "u"), NOTES, "0", check_determinism=determinism, check_robustness=robustness
        )
        found: dict[tuple[str, str], Any] = {}
        setting: Any = None
        assert annotation_run._annotate(job, setting, Facts(), found, lambda *_: None) == [[b"[1]", b"[]"]]
        return {name: (check.passed, check.note) for (_, name), check in found.items()}

    assert checks(same, True) == {"determinism": (True, None)}
    assert checks(other, True) == {"determinism": (False, "x/a")}
    assert checks(RunFault(Outcome.CRASHED, "x"), True) == {"determinism": (False, None)}
    assert checks(None, False, True) == {"robustness": (True, None)}
    assert checks(None, False) == {}
    with pytest.raises(RunFault):
        checks(RunFault(Outcome.INFRASTRUCTURE, "x"), True)


def test_a_python_function_as_annotator() -> None:
    def annotate(note: SentNote) -> list[dict[str, Any]]:
        return [FOUND] if note.name == "x/a" else []

    done = run_in_python(DATE, NOTES, "0", annotate, RunLimits())
    assert done.answers == [b'[{"start":5,"length":10,"text":"10/26/2020"}]', b"[]"]
    assert (done.record.outcome, done.record.reason, done.record.concurrency) == (Outcome.FINISHED, None, 1)
    assert done.record.latency is not None
    assert done.record.notes_per_second is not None
    bad = run_in_python(DATE, NOTES, "0", lambda _: [FOUND], RunLimits())
    assert (bad.answers, bad.record.outcome, bad.record.latency) == (None, Outcome.INVALID_OUTPUT, None)
    assert bad.record.notes_per_second is None
    assert str(bad.record.reason).startswith("note b: ")


def test_an_engine_or_image_nobody_looked_for() -> None:
    setting = Setting(Annotator("image", "i"), RunLimits(), 1, {})
    for wanted in ("engine", "found"):
        with pytest.raises(RunFault) as caught:
            getattr(setting, wanted)
        assert caught.value.outcome is Outcome.INFRASTRUCTURE


# Answers


def accepted(value: Any, note: SentNote = NOTES[0], **limits: Any) -> bytes:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answers(DATE, RunLimits(**limits)).accepted(note, body)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([], "the answer is not an object with the array textDateAnnotations"),
        ({"textDateAnnotations": {}}, "the answer is not an object with the array textDateAnnotations"),
        (b"{", "the answer is not JSON we accept: line 1, column 2"),
        ({DATE.array: [{}]}, "/textDateAnnotations/0 is not what schemas/date.schema.json asks for"),
        ({DATE.array: [FOUND] * 500 + [{}]}, "/textDateAnnotations/500 is not what schemas/date.schema.json"),
        ({DATE.array: [FOUND | {"start": 7}]}, "ends at 17, past the end of the note, which has 16 characters"),
        (
            {DATE.array: [FOUND, FOUND | {"start": 6}]},
            "/textDateAnnotations/1 has a text that does not stand at 6 to 16",
        ),
    ],
)
def test_answers_that_are_refused(value: Any, why: str) -> None:
    with pytest.raises(RunFault) as caught:
        accepted(value, reply_parts=9999)
    assert f"note x/a: {why}" in caught.value.reason or why in caught.value.reason
    assert "10/26" not in caught.value.reason


def test_parts_of_an_answer_are_limited() -> None:
    assert parts_in(b'{"a": [{}, []]}') == 4
    one = {DATE.array: [FOUND | {"start": 5}]}
    assert json.loads(accepted(one, reply_parts=1)) == [FOUND]
    with pytest.raises(RunFault, match="the answer holds 4 objects and lists, more than 3"):
        accepted({DATE.array: [FOUND, FOUND]}, reply_parts=1)


# The batch protocol


def batch(value: Any, notes: list[SentNote] = NOTES, **limits: Any) -> list[bytes]:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return answers_in(body, notes, Answers(DATE, RunLimits(**limits)))


def entry(name: Any, *annotations: Any) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": name}}, DATE.array: list(annotations)}


def test_a_file_of_answers() -> None:
    found = b'[{"start":5,"length":10,"text":"10/26/2020"}]'
    assert batch([entry("b"), entry("a", FOUND)]) == batch([entry("y/b"), entry("x/a", FOUND)]) == [found, b"[]"]
    assert batch({DATE.array: [FOUND]}, NOTES[:1]) == [found]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([entry("a")], "has no entry for 1 of 2 notes, the first is b"),
        ([entry("a"), entry("x/a")], "/1 is a second entry for x/a"),
        ([entry("b"), entry("z")], "/1 is about a note that was not given"),
        ([entry(7)], "/0 does not name its note"),
        ([{DATE.array: []}], "/0 does not name its note"),
        (b"[", "line 1, column"),
    ],
)
def test_files_that_are_refused(value: Any, why: str) -> None:
    with pytest.raises(RunFault, match=f"predictions.json:? .*{why}"):
        batch(value)


def test_files_out_of_proportion() -> None:
    notes = NOTES[:1]
    # 4 + 16/8 parts a note, ten pieces each; an entry has four parts, and one more for each annotation
    assert batch([entry("a")], notes, reply_parts=4)
    assert batch([entry("a", FOUND, FOUND)], notes, reply_parts=6, reply_parts_per_character=0)
    with pytest.raises(RunFault, match="holds 61 values, more than 60"):
        batch(b"[" + b"," * 60, notes, reply_parts=4)
    with pytest.raises(RunFault, match="/0 is longer than any answer may be"):
        batch([entry("a")], notes, reply_bytes=10, reply_bytes_per_character=0)
    with pytest.raises(RunFault, match="/0 is longer than any answer may be"):
        batch([entry("a", FOUND, FOUND)], notes, reply_parts=5, reply_parts_per_character=0)
    assert json.loads(notes_file(NOTES)) == [note.record() for note in NOTES]


def ended(*states: tuple[bool, int, bool], flooded: bool = False, verdict: Any = None) -> int:
    seen = [SimpleNamespace(running=running, exit_code=code, out_of_memory=memory) for running, code, memory in states]
    box: Any = SimpleNamespace(
        state=lambda: seen.pop(0), log=SimpleNamespace(flooded=flooded), measure=lambda: None, verdict=lambda _: verdict
    )
    return wait_for_end(box, Clock(0.01))


def test_a_container_that_has_ended() -> None:
    assert ended((True, 0, False), (False, 0, False)) == 0
    for bad in ([(False, 1, False)], [(False, 0, True)]):
        with pytest.raises(RunFault, match="ended by itself"):
            ended(*bad)
    with pytest.raises(RunFault, match="why"):
        ended((False, 1, False), verdict=RunFault(Outcome.OUT_OF_MEMORY, "why"))
    with pytest.raises(RunFault, match="ended by itself"):
        ended((True, 0, False), flooded=True)
    with pytest.raises(RunFault, match=r"longer than the 0\.01 s"):
        ended(*[(True, 0, False)] * 9)


# The service protocol


class Said(Service):
    """A service that says what it was told to say."""

    said: list[Any]

    def ask(self, *asked: Any, **_: Any) -> Reply:
        answer = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(200, {}, json.dumps(answer).encode())


def service(*said: Any, seconds: float = 60, **limits: Any) -> Said:
    made = Said(
        transports.AddressDoor("x", 1),
        Answers(DATE, chosen := RunLimits(**limits)),
        chosen,
        Clock(seconds),
        lambda: None,
    )
    made.said = list(said)
    return made


def test_ready_is_who_says_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    one = service(
        ConnectionDied("x"),
        Reply(500, {}, b""),
        DeadlinePassed(),
        BadReply("x"),
        {"status": "warn"},
        {"status": "pass"},
    )
    one.wait_ready()
    assert len(one.said) == 1
    for said, why in (
        ({"status": "fail"}, "did not say 'pass'"), ([], "did not say 'pass'"),
        (Reply(201, {}, b""), "answered with status 201"),
        (Reply(200, {}, b"{"), "did not answer properly"), (DeadlinePassed(), "did not answer in time"),
    ):  # fmt: skip
        with pytest.raises(RunFault, match=f"not ready after 0.05 s: healthCheck {why}") as caught:
            service(said, ready_seconds=0.05).wait_ready()
        assert caught.value.outcome is Outcome.NEVER_READY


def test_a_silence_says_less_than_the_answer_before_it() -> None:
    """The server answers 500 once; whoever is asked last has no time left."""
    with pytest.raises(RunFault, match="healthCheck answered with status 500"):
        service(Reply(500, {}, b""), DeadlinePassed(), ready_seconds=0.05).wait_ready()


def test_what_is_asked_may_not_flood_us() -> None:
    """A health check answers with 1 MiB at the most, the tool's description with a quarter of that."""
    limits: list[int] = []

    class Asked(Said):
        def ask(self, method: str, path: str, seconds: float, most: int, body: bytes | None = None) -> Reply:
            limits.append(most)
            return super().ask()

    one = service({"status": "pass"})
    one.__class__ = Asked
    one.wait_ready()
    read_tool(one)
    assert limits == [1 << 20, 1 << 18]


def test_what_a_tool_says_of_itself() -> None:
    whole = {
        "name": "n" * 501,
        "version": "1",
        "apiVersion": "1",
        "type": "nlpsandbox:date-annotator",
        "odd": "x",
        "url": 7,
    }
    tool, warnings = read_tool(service(whole))
    assert tool == {"name": "n" * 500, "version": "1", "apiVersion": "1", "type": "nlpsandbox:date-annotator"}
    assert warnings == ()
    silent: tuple[Any, ...] = ([], Reply(404, {}, b"{}"), Reply(200, {}, b"{"), ConnectionDied("x"))
    for said in silent:
        assert read_tool(service(said))[0] is None
    assert read_tool(service({"name": "n"}))[1] == tuple(
        f"'tool' gives no {key}" for key in ("version", "apiVersion", "type")
    )
    assert "expected nlpsandbox:date-annotator" in read_tool(service(whole | {"type": "odd"}))[1][0]
    with pytest.raises(RunFault, match="for the task id, not for date"):
        read_tool(service(whole | {"type": "nlpsandbox:identifier-annotator"}))
    assert tool_types(TASKS["person-name"]) == ("nlpsandbox:person-name-annotator",)


def test_answers_that_are_no_answers() -> None:
    problem = {"content-type": "application/problem+json; x"}
    for reply, why in (
        (Reply(302, {}, b""), r"redirects \(status 302\)"),
        (Reply(399, {}, b""), r"redirects \(status 399\)"),
        (Reply(400, {}, b""), "has status 400$"),
        (Reply(201, {}, b""), "has status 201$"),
        (Reply(400, problem, b'{"title": "Bad Request"}'), r"has status 400 \(Bad Request\)"),
        (Reply(400, problem, b'{"title": "John"}'), r"has status 400 \(a problem document\)"),
        (Reply(400, problem, b"[]"), r"\(a problem document\)"),
        (Reply(400, problem, b"{"), "that is not JSON"),
    ):
        with pytest.raises(RunFault, match=why):
            service(reply).annotate(NOTES[0])
    with pytest.raises(RunFault, match=r"no whole answer within the 10\.0016 s"):
        service(DeadlinePassed()).annotate(NOTES[0])
    with pytest.raises(RunFault, match="note x/a: odd"):
        service(BadReply("odd")).annotate(NOTES[0])
    with pytest.raises(RunFault, match="longer than the 0 s allowed"):
        Clock(0).left()
    assert 59 < Clock(60).left() <= 60


def test_all_notes_are_asked_and_answers_are_limited() -> None:
    done: list[tuple[str, bytes]] = []

    def asked(**limits: Any) -> Any:
        one = service({DATE.array: []}, **limits)
        with one.threads(2) as pool:
            return annotate_all(one, pool, NOTES, lambda note, found: done.append((note.name, found)))

    served = asked(output_bytes=4, output_bytes_per_character=0)
    assert (served.annotations, len(served.latencies)) == ([b"[]", b"[]"], 2)
    assert sorted(done) == [("b", b"[]"), ("x/a", b"[]")]
    with pytest.raises(RunFault, match="more than 3 bytes of answers"):
        asked(output_bytes=3, output_bytes_per_character=0)
    assert service_protocol._FIRST_PAUSE < service_protocol._LONGEST_PAUSE


# Notes, logs, ways in


def notes(folder: Path, content: Any) -> list[SentNote]:
    (folder / "notes").write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_notes(folder / "notes")[0]


def test_notes_are_read_strictly(tmp_path: Path) -> None:
    one, two = (
        {"identifier": "a", "text": "t", "note_name": "x/a"},
        {"identifier": "b", "text": "", "patientId": "p", "type": "k"},
    )
    expected = [SentNote("x/a", "a", "t"), SentNote("b", "b", "", "p", "k")]
    assert notes(tmp_path, [one, two]) == expected
    assert notes(tmp_path, f"{json.dumps(one)}\n\n {json.dumps(two)}\n".encode()) == expected
    assert notes(tmp_path, one) == notes(tmp_path, json.dumps(one, indent=1).encode()) == expected[:1]
    assert len(read_notes(tmp_path / "notes")[1]) == 64
    for content, why in (
        ([], "there is no note in it"), ([one, one], 'the note "x/a" is there twice'), (b"[", "line 1"),
        ([two, {"identifier": 7, "text": ""}], "/1/identifier is not as"), ([{"identifier": "a"}], "/0 is not as"),
        (7, "/0 is not as"),
    ):  # fmt: skip
        with pytest.raises(OrganiserFault, match=why):
            notes(tmp_path, content)


def test_identifiers_that_every_annotator_takes() -> None:
    for good in ("abc", "a-b-1", "a" * 60):
        assert acceptable(good, "note") == good
    for bad in ("ab", "a" * 61, "A-b", "a--b", "-ab", "a_b"):
        made = acceptable(bad, "note")
        assert made.startswith("note-")
        assert len(made) == 21
    sent = SentNote("n", "abc", "t").payload()
    assert (sent["identifier"], sent["patientId"], sent["type"], sent["noteType"]) == (
        "abc", "patient-abc", "loinc:LP29684-5", "loinc:LP29684-5",
    )  # fmt: skip
    assert SentNote("n", "a" * 51 + "-bc", "t").payload()["patientId"] == "patient-" + "a" * 51
    assert SentNote("n", "abc", "t", "pat", "k").payload()["patientId"] == "pat"
    assert SentNote("n", "abc", "t", "pat", "k").payload()["type"] == "k"


def test_the_end_of_a_log_is_kept() -> None:
    log = LogWatch(4)
    for piece in (b"12", b"345", b"6" * (1 << 17)):
        log.add(piece)
    assert (log.bytes, log.tail, len(log._tail)) == (5 + (1 << 17), b"6666", 4)
    assert LogWatch(0).tail == b""
    silent = LogWatch(0)
    silent.add(b"1" * (1 << 17))
    assert (silent.tail, len(silent._tail)) == (b"", 0)


@pytest.mark.parametrize(("most", "flooded"), [(9, False), (8, True)])
def test_a_flood_is_stopped_once(most: int, flooded: bool) -> None:
    log, stopped = LogWatch(4), threading.Event()
    stream = iter([b"123", b"456", b"789", b"abc"][:3])
    log.follow(stream, most, stopped.set)
    log.close()
    assert (log.flooded, stopped.is_set(), log.bytes) == (flooded, flooded, 9)


def test_the_network_of_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert transports.open_namespace(str(tmp_path / "gone")) is None
    assert transports.open_namespace("/proc/self/ns/net") is None
    (tmp_path / "other").touch()
    descriptor = transports.open_namespace(str(tmp_path / "other"))
    assert descriptor is not None
    door = transports.NamespaceDoor(descriptor)
    assert (door.host, door.base) == ("127.0.0.1:8080", "/api/v1")
    for answer in (0, -1, 1):
        monkeypatch.setattr("ctypes.CDLL", lambda *_, answer=answer, **__: SimpleNamespace(setns=lambda *_: answer))
        if answer == 0:
            door.enter()
        else:
            with pytest.raises(OSError, match="entering the container's network"):
                door.enter()


@pytest.mark.parametrize(
    ("platform", "host", "rights", "may"),
    [
        ("linux", "unix:///x", "0000000000200000", True),
        ("linux", "unix:///x", "0000000000100000", False),
        ("linux", "unix:///x", "000001ffffdfffff", False),
        ("linux", "tcp://x", "000001ffffffffff", False),
        ("darwin", "unix:///x", "000001ffffffffff", False),
    ],
)
def test_who_may_enter(platform: str, host: str, rights: str, may: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """CAP_SYS_ADMIN is bit 21."""
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv("DOCKER_HOST", host)
    monkeypatch.setattr(Path, "read_text", lambda self: f"Name:\tx\nCapEff:\t{rights}\n")
    assert transports.may_enter_namespaces() is may


# The machine


def test_the_machine_is_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine(fault: bool) -> Any:
        def examine() -> Iterator[Any]:
            if fault:
                raise InfrastructureFault("start one")
            yield host_checks.Finding("engine", "ok", "Docker")

        return lambda: SimpleNamespace(absent=lambda: None, requirements=lambda: iter(()), examine=examine)

    for there in (True, False):
        table = SimpleNamespace(names=("one",), find=lambda _, there=there: engine(not there))
        monkeypatch.setattr(host_checks, "ENGINES", table)
        monkeypatch.setattr(host_checks, "chosen_engine", lambda: SimpleNamespace(name="one"))
        monkeypatch.setattr(host_checks, "find_spec", lambda _, there=there: "spec" if there else None)
        monkeypatch.setattr("shutil.which", lambda _, there=there: "/bin/busybox" if there else None)
        monkeypatch.setattr(Path, "exists", lambda _, there=there: there)
        monkeypatch.setattr("sandscore.base.removable_rooms.compiled", lambda there=there: there)
        levels = {finding.name: finding.level for finding in host_checks.examine()}
        other = "ok" if there else "note"
        assert levels == {
            "python": "ok", "reading": other, "synapse": other, "synapse access": other, "busybox": other,
            "engine": "ok" if there else "fault",
        }  # fmt: skip


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("containers") == {"Clock", "Facts"}


@pytest.mark.parametrize(
    ("field", "number"),
    [(b"0000017\0", 15), (b"  17 \0\0\0", 15), (bytes(8), 0), (b"\x80" + bytes(6) + b"\x09", 9)],
)
def test_numbers_of_a_layer_are_octal_or_binary(field: bytes, number: int) -> None:
    assert layer_entries._number(field) == number


@pytest.mark.parametrize("field", [b"0000018\0", b"0000019\0", b"000001/\0", b"-000001\0", b"\xff" * 8])
def test_what_is_no_number_of_a_layer(field: bytes) -> None:
    with pytest.raises(RunFault):
        layer_entries._number(field)


@pytest.mark.parametrize("content", [b"", b"abc", b"abcd", b"abcde", b"abcdefgh", b"a" * 4000])
def test_a_packed_layer_comes_out_whole_in_small_pieces(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as a piece holds, exactly so much, and more; two that follow one another are one."""
    monkeypatch.setattr(image_parts, "_PIECE", 4)
    packed = gzip.compress(content, mtime=0)
    assert b"".join(image_parts.Unpacker().unpacked(packed)) == content
    assert b"".join(image_parts.Unpacker().unpacked(packed * 2)) == content * 2
    halves = image_parts.Unpacker()
    pieces = [*halves.unpacked(packed[:12]), *halves.unpacked(packed[12:])]
    assert b"".join(pieces) == content
    assert max(map(len, pieces), default=0) <= 4


@pytest.mark.parametrize(
    ("there", "swaps", "limited"), [(True, False, True), (True, True, True), (False, False, False)]
)
def test_swap_is_limited_wherever_the_kernel_counts_it(
    there: bool, swaps: bool, limited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the groups of version 1; without swap, a kernel that does not count it need not limit it."""
    monkeypatch.setattr(control_groups, "_swaps", lambda: swaps)
    folders = {name: tmp_path / name for name in ("memory", "cpu", "pids")}
    for folder in folders.values():
        (folder / "group").mkdir(parents=True)
    counted = folders["memory"] / "group" / "memory.memsw.limit_in_bytes"
    if there:
        counted.touch()
    root = control_groups.ControlRoot(1, folders)
    control_groups.ControlGroup(root, "group").limit(RunLimits(memory_bytes=64 << 20, cpus=0.5, processes=7))
    assert (counted.read_text() if counted.exists() else None) == ("67108864" if limited else None)
    assert (folders["memory"] / "group" / "memory.limit_in_bytes").read_text() == "67108864"
    assert (folders["pids"] / "group" / "pids.max").read_text() == "7"
