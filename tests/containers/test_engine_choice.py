"""Which engine runs an image, on machines that have none, one or several; and limits that an engine does not keep."""

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandscore import api
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.containers import host_checks, kernel_limits
from sandscore.containers.engines import engine_registry
from sandscore.containers.engines.docker import docker_engine
from sandscore.containers.engines.engine_registry import ENGINES, EngineRow, chosen_engine
from sandscore.containers.process_view import ProcessView
from sandscore.records.run_record import LimitsInForce, Outcome, RunFault, RunLimits

ROOT = Path(__file__).resolve().parents[2]


class Machine:
    """The table of engines of a machine: of each whether it is ``ready``, could be ``started``, or is not there."""

    def __init__(self, **rows: str) -> None:
        self.names = tuple(rows)
        self._rows: dict[str, Any] = {name: self._row(name, state) for name, state in rows.items()}

    @staticmethod
    def _row(called: str, state: str) -> type[EngineRow]:
        class Row(EngineRow):
            name = called
            description = state

            def absent(self) -> str | None:
                return "there is none" if state == "absent" else None

            def is_ready(self) -> bool:
                return state == "ready"

            def requirements(self) -> Any:
                return iter([host_checks.Finding("package", "fault" if state == "broken" else "ok", "x")])

            def examine(self) -> Any:
                yield host_checks.Finding("limits", "ok", "all")

        return Row

    def find(self, name: str) -> Any:
        return self._rows[name]

    def __iter__(self) -> Any:
        return iter(self._rows.values())


@pytest.mark.parametrize(
    ("machine", "asked", "taken"),
    [
        pytest.param({"docker": "ready", "podman": "ready"}, None, "docker", id="the usual one of several"),
        pytest.param(
            {"docker": "absent", "podman": "ready", "bubblewrap": "absent"}, None, "podman", id="the only one"
        ),
        pytest.param({"docker": "started", "podman": "ready"}, None, "podman", id="the only one that runs"),
        pytest.param({"docker": "absent", "podman": "absent"}, None, "docker", id="none, which its row explains"),
        pytest.param({"docker": "ready", "podman": "started"}, "podman", "podman", id="the one that is asked for"),
    ],
)
def test_the_engine_that_runs(
    monkeypatch: pytest.MonkeyPatch, machine: dict[str, str], asked: str | None, taken: str
) -> None:
    monkeypatch.setattr(engine_registry, "ENGINES", Machine(**machine))
    assert chosen_engine(asked).name == taken


def test_an_engine_that_is_not_there_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_registry, "ENGINES", Machine(docker="ready", podman="absent"))
    with pytest.raises(OrganiserFault, match=r"^the engine 'podman' was asked for, and there is none$") as told:
        chosen_engine("podman")
    assert told.value.exit_code == 78


def test_several_and_none_of_them_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_registry, "ENGINES", Machine(docker="absent", podman="ready", bubblewrap="ready"))
    with pytest.raises(OrganiserFault, match="there are podman, bubblewrap: say which with --engine") as told:
        chosen_engine()
    assert told.value.exit_code == 78


def test_the_doctor_blames_only_the_engine_that_would_run(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(docker="ready", podman="broken", bubblewrap="absent")
    monkeypatch.setattr(engine_registry, "ENGINES", machine)
    monkeypatch.setattr(host_checks, "ENGINES", machine)
    told = [(f.engine, f.name, f.level) for f in host_checks.examine() if f.engine]
    assert told == [
        *(("docker", "package", "ok"), ("docker", "limits", "ok")),
        *(("podman", "package", "note"), ("podman", "limits", "ok")),
        ("bubblewrap", "engine", "note"),
    ]
    assert [(f.engine, f.level) for f in host_checks.examine("podman") if f.name == "package"] == [("podman", "fault")]
    assert [(f.engine, f.level) for f in host_checks.examine("bubblewrap") if f.engine] == [("bubblewrap", "fault")]


def test_docker_by_its_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine without a daemon's program only a socket tells; what the environment names is there to be asked."""
    address = docker_engine.EngineAddress(f"unix://{tmp_path}/no.sock")
    monkeypatch.setattr(docker_engine, "engine_address", lambda: address)
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.delenv("DOCKER_CONTEXT", raising=False)
    row = ENGINES.find("docker")()
    assert not row.is_ready()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert (
        row.absent()
        == f"there is none on this machine: no socket at {tmp_path}/no.sock (Debian: apt-get install docker.io)"
    )
    with pytest.raises(OrganiserFault, match="the engine 'docker' was asked for, and there is none on this machine"):
        api.run("date", image="x", notes=ROOT / "gold" / "example" / "notes.json", engine="docker")
    monkeypatch.setenv("DOCKER_HOST", "tcp://elsewhere:1")
    assert (row.absent(), row.is_ready()) == (None, True)


def test_the_challenge_names_the_engine(tmp_path: Path) -> None:
    """By hand: no row is called so, which is known before anything is looked for."""
    challenge = tmp_path / "challenge.toml"
    challenge.write_text('challenge = "c"\n[images]\nengine = "podmann"\n', encoding="utf-8")
    notes = ROOT / "gold" / "example" / "notes.json"
    plan = api.RunPlan(task="date", kind="image", reference="x", notes=notes, challenge=challenge)
    with pytest.raises(UsageFault, match="unknown engine 'podmann'"):
        api.run_to_folder(plan, tmp_path / "run")


ASKED = RunLimits(memory_bytes=64 << 20, cpus=0.5, processes=64, open_files=512)
KEPT = LimitsInForce(
    memory_bytes=64 << 20,
    swap_bytes=0,
    cpus=0.5,
    processes=64,
    open_files=512,
    capabilities="0" * 16,
    no_new_privileges=True,
    system_calls_filtered=True,
)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"swap_bytes": None}, None),
        ({"memory_bytes": -1}, "memory is unbounded instead of 67,108,864 bytes"),
        ({"memory_bytes": 65 << 20}, "memory is 68,157,440 instead of 67,108,864 bytes"),
        ({"swap_bytes": 64 << 20}, "swap is 67,108,864 instead of none"),
        ({"cpus": -1.0}, "CPU is unbounded instead of 0.5"),
        ({"cpus": 1.5}, "CPU is 1.5 instead of 0.5"),
        ({"processes": -1}, "processes are unbounded instead of 64"),
        ({"open_files": 1 << 20}, "open files are 1,048,576 instead of 512"),
        ({"capabilities": "00000000a80425fb"}, "capabilities are 00000000a80425fb"),
        ({"no_new_privileges": False}, "programs may gain rights"),
        ({"system_calls_filtered": False}, "system calls are not filtered"),
    ],
)
def test_a_limit_that_is_not_kept_is_a_refusal(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], said: str | None
) -> None:
    found = KEPT.model_copy(update=changed)
    monkeypatch.setattr(kernel_limits, "told_of", lambda process: found)
    box: Any = SimpleNamespace(process=lambda: 1, limits=ASKED)
    if said is None:
        assert kernel_limits.limits_in_force(box) == found
        return
    with pytest.raises(OrganiserFault, match=f"^the engine took limits that it does not keep: {said}; see docs"):
        kernel_limits.limits_in_force(box)


def test_a_process_on_its_way_out_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1 of control groups shows it in the root group, which has no limits: nobody's fault."""
    unbounded = KEPT.model_copy(update={"memory_bytes": -1, "swap_bytes": (1 << 63) - 4096})
    monkeypatch.setattr(kernel_limits, "told_of", lambda process: unbounded)
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        box: Any = SimpleNamespace(process=lambda: ended.pid, limits=ASKED)
        assert kernel_limits.limits_in_force(box) is None


def test_memory_is_kept_in_whole_pages() -> None:
    """By hand: 100,000,000 bytes are 24,414 pages of 4,096 and a bit, and the kernel keeps 99,999,744."""
    asked = ASKED.model_copy(update={"memory_bytes": 100_000_000})
    assert list(kernel_limits.not_in_force(asked, KEPT.model_copy(update={"memory_bytes": 99_999_744}))) == []


def test_a_container_that_has_ended_or_cannot_be_seen() -> None:
    def gone() -> int:
        raise RunFault(Outcome.CRASHED, "it ended")

    for process in (lambda: None, gone, lambda: 1 << 22):
        assert kernel_limits.limits_in_force(SimpleNamespace(process=process, limits=ASKED)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"cpu.max": "50000 100000"}, 0.5, id="version 2"),
        pytest.param({"cpu.max": "max 100000"}, -1.0, id="version 2, unbounded"),
        pytest.param({"cpu.cfs_quota_us": "150000", "cpu.cfs_period_us": "100000"}, 1.5, id="version 1"),
        pytest.param({"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, -1.0, id="version 1, unbounded"),
        pytest.param({}, None, id="not to be seen"),
    ],
)
def test_processors_of_a_control_group(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: float | None
) -> None:
    def limit(_self: ProcessView, controller: str, *names: str) -> str | None:
        return next((files[name] for name in names if name in files), None)

    monkeypatch.setattr(ProcessView, "limit", limit)
    assert kernel_limits.cpus_of(ProcessView(os.getpid())) == expected
