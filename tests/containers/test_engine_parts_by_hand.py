"""Parts of the engines Podman, bubblewrap and Apptainer that need none of them, and what they ask for, by hand."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.engines.apptainer import apptainer_sandbox
from sandscore.containers.engines.apptainer.apptainer_sandbox import ApptainerSandbox
from sandscore.containers.engines.bubblewrap import sandbox_launcher
from sandscore.containers.engines.bubblewrap.bubblewrap_sandbox import Special
from sandscore.containers.engines.bubblewrap.image_builder import _Building
from sandscore.containers.engines.bubblewrap.image_roots import _folder
from sandscore.containers.engines.podman import podman_engine
from sandscore.containers.engines.podman.podman_engine import PodmanFolderMaker, not_limited
from sandscore.containers.engines.sandbox import State
from sandscore.containers.process_view import ProcessView
from sandscore.containers.transports import NamespaceDoor
from sandscore.records.run_record import Outcome, RunFault

MEBIBYTE = 1_048_576


# Podman


def test_the_holder_of_two_folders_gets_eight_mebibytes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podman_engine, "holder", lambda _: "h")
    monkeypatch.setattr(podman_engine, "created", lambda _, spec: SimpleNamespace(spec=spec))
    made = PodmanFolderMaker(None, {"owner": "o"}).holder("i", "o").spec
    assert made["resource_limits"]["memory"] == {"limit": 8 * MEBIBYTE, "swap": 8 * MEBIBYTE}
    assert (made["image"], made["read_only_filesystem"], made["no_new_privileges"]) == ("h", True, True)
    assert (made["netns"], made["cap_drop"], made["user"]) == ({"nsmode": "none"}, ["ALL"], "65534:65534")
    assert [volume["Options"][0] for volume in made["volumes"]] == ["rw", "ro"]
    assert (made["stop_signal"], made["labels"]) == (9, {"owner": "o"})


@pytest.mark.parametrize(
    ("version", "controllers", "missing"),
    [
        ("v1", ["memory", "cpu", "pids"], ["cgroup v1 without root"]),
        ("v2", ["memory", "cpu", "pids"], []),
        ("v2", ["memory"], ["cpu", "pids"]),
    ],
)
def test_what_podman_keeps_without_root(version: str, controllers: list[str], missing: list[str]) -> None:
    host = {"security": {"rootless": True}, "cgroupVersion": version, "cgroupControllers": controllers}
    assert sorted(not_limited({"host": host}, None, lambda: pytest.fail("asked"))) == missing


# bubblewrap


def test_mounts_are_asked_for_in_the_kernels_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """MS_NOSUID is 2, MS_NODEV 4 and MS_NOEXEC 8, as in what statvfs(3) says of a mount."""
    asked: list[Any] = []

    def mount(*given: Any) -> int:
        asked.append(given)
        return 0

    monkeypatch.setattr(sandbox_launcher, "libc", SimpleNamespace(mount=mount))
    sandbox_launcher.in_memory(b"/p", "size=1")
    sandbox_launcher.in_memory(b"/p", "size=1", programs=True)
    without = os.ST_NOSUID | os.ST_NODEV
    assert [given[3] for given in asked] == [without | os.ST_NOEXEC, without]
    assert asked[0][:3] == (b"tmpfs", b"/p", b"tmpfs")


def test_what_the_launcher_makes_lies_below_its_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = os.fsencode(tmp_path)
    monkeypatch.setattr(sandbox_launcher, "_BASE", base)
    assert sandbox_launcher.made("a") == base + b"/a"
    assert sandbox_launcher.written("b", b"content") == base + b"/b"
    assert (tmp_path / "a").is_dir()
    assert (tmp_path / "b").read_bytes() == b"content"


def test_folders_of_an_image_are_made_where_they_are_not(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "file").touch()
    assert _folder(tmp_path, "/there/new/./newer") == "/there/new/newer"
    assert _folder(tmp_path, "link/new") == "/there/new"
    assert (tmp_path / "there" / "new" / "newer").is_dir()
    for place in ("/file", "/file/new"):
        with pytest.raises(RunFault, match="has a file in the place of a folder"):
            _folder(tmp_path, place)


def test_a_launcher_is_told_nothing_special() -> None:
    assert Special() == Special(user=None, environment={}, texts={}, processes=False)


def test_a_step_of_a_build_that_fails_says_why(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho it   broke >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    building = _Building(None, str(program), tmp_path, {})  # type: ignore[arg-type]
    with pytest.raises(InfrastructureFault, match=r"^the image cannot be built: it broke$"):
        building.follow('RUN ["/bin/true"]')
    with pytest.raises(InfrastructureFault, match="is built by bubblewrap, which is not here"):
        _Building(None, "", tmp_path, {}).follow('RUN ["/bin/true"]')  # type: ignore[arg-type]


# Apptainer


def apptainer(ended: int | None, processes: list[int], said: str = "") -> Any:
    """What Apptainer's end is, which processes there are after a look or two, of which 7 is the first, and its log."""
    looks = iter([[], processes])
    box: Any = object.__new__(ApptainerSandbox)
    box._first, box._killed = None, False
    box._process = SimpleNamespace(poll=lambda: ended, returncode=ended)
    box._group = SimpleNamespace(processes=lambda: next(looks, processes), killed_for_memory=False)
    box._is_first = lambda process: process == 7
    box._last_words = lambda: "last words"
    box.log = SimpleNamespace(settle=lambda: None, tail=SimpleNamespace(lstrip=said.encode().lstrip))
    return box


def test_the_first_process_of_a_container_is_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    running = apptainer(None, [5, 7])
    running._await_first()
    assert (running._first, running.state()) == (7, State(True, False, None))
    for ended, said in ((0, ""), (1, "FATAL: x"), (255, "not FATAL")):
        gone = apptainer(ended, [], said)
        gone._await_first()
        assert gone._first is None
        assert gone.state() == State(False, False, ended)
    for out_of_time in (255, None):
        monkeypatch.setattr(apptainer_sandbox, "_PATIENCE", 0.01)
        with pytest.raises(RunFault, match="apptainer could not make the container: last words") as fault:
            apptainer(out_of_time, [], " FATAL: no")._await_first()
        assert fault.value.outcome is Outcome.INFRASTRUCTURE


def test_what_was_never_started_is_not_running() -> None:
    box: Any = object.__new__(ApptainerSandbox)
    box._process = None
    assert box.state() == State(False, False, None)


# Any engine


def test_processes_of_a_control_group(monkeypatch: pytest.MonkeyPatch) -> None:
    for listed, numbers in (("7\n12", ["7", "12"]), (None, ["3"]), ("", ["3"])):
        monkeypatch.setattr(ProcessView, "limit", lambda *_, listed=listed: listed)
        assert [view._folder.name for view in ProcessView(3).together] == numbers


def test_a_door_is_let_go_of_with_its_last_holder() -> None:
    """Its descriptor is closed when nobody refers to it any more."""
    read, write = os.pipe()
    door = NamespaceDoor(read)
    os.close(write)
    assert os.fstat(door.descriptor)
    del door
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read)
