"""Apptainer as an engine, by the words it is given, and a stand-in that refuses what its manual does not list."""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from containers.standins.apptainer_standin import FLAGS, VALUES
from containers.test_bubblewrap import RUNNER, inside, nothing_left
from containers.test_leftovers import SOURCES
from containers.test_podman_attack import FIRED

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.conformance.engine_suite import CHECKS, EngineBench
from sandscore.containers.engines.apptainer import apptainer_words
from sandscore.containers.engines.apptainer.apptainer_row import ApptainerEngine, ApptainerRow, apptainer_program
from sandscore.containers.engines.bubblewrap import bubblewrap_row
from sandscore.containers.engines.bubblewrap.container_words import BatchNotes, memory_folders
from sandscore.containers.engines.bubblewrap.image_roots import ImageRoots, UnpackedImage
from sandscore.containers.engines.engine_registry import chosen_engine, connected
from sandscore.containers.hostile.firing_range import attack
from sandscore.containers.images.image_parts import StartConfig
from sandscore.containers.kernel_limits import limits_in_force
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import preset
from sandscore.records.run_record import MIB, RunFault, RunLimits

IMAGE = UnpackedImage("sha256:0", 1, {"/data": "/data"}, StartConfig(env=("A=b,c:d",), command=("/start", "--x")))


def words(limits: RunLimits | None = None, image: UnpackedImage = IMAGE, *, unpacked: bool = True) -> list[str]:
    limits = limits or preset("strict")
    folders = memory_folders(image, limits, BatchNotes(b"[]", 1000))
    return apptainer_words.apptainer_words(image, limits, folders, unpacked=unpacked)


def test_the_words_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """As apptainer-exec(1) describes them."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    told = " ".join(words())
    assert told == (
        "exec --containall --cleanenv --no-eval --no-umask --pid --ipc --uts --hostname sandbox --net --network none "
        "--dns 127.0.0.1 --no-mount sys,tmp,hostfs,cwd,bind-paths --no-privs --security seccomp:/tmp/seccomp.json "
        "--security uid:20001 --security gid:20001 --bind /tmp/scratch0:/data --home /tmp/scratch1:/tmp "
        "--bind /tmp/memory:/dev/shm --bind /tmp/input:/input:ro --bind /tmp/output:/output --cwd / "
        "/tmp/root /start --x"
    )
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "--userns" in words()
    assert "uid:" not in " ".join(words())
    sif = words(unpacked=False)
    assert (sif[0], sif[-1], "--cwd" in sif) == ("run", "/tmp/root", False)


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("unpacked", [True, False])
def test_every_option_is_documented(monkeypatch: pytest.MonkeyPatch, user: int, unpacked: bool) -> None:
    monkeypatch.setattr("os.geteuid", lambda: user)
    given = words(preset("strict").model_copy(update={"gpus": "all"}), unpacked=unpacked)
    options = [word.removeprefix("--") for word in given[: given.index("/tmp/root")] if word.startswith("--")]
    assert "nv" in options
    assert set(options) <= {*FLAGS.split(), *VALUES.split()}


def test_variables_are_on_no_argument_list() -> None:
    told = apptainer_words.apptainer_environment(IMAGE)
    assert told["APPTAINERENV_A"] == "b,c:d"
    assert "APPTAINERENV_HOME" not in told, "which Apptainer does not allow: --home says it"
    assert "b,c:d" not in " ".join(words())


def test_a_volume_that_cannot_be_said() -> None:
    with pytest.raises(RunFault, match="a VOLUME '/a:b' that Apptainer cannot mount"):
        words(image=UnpackedImage("sha256:0", 1, {"/a:b": "/a:b"}, IMAGE.config))


@pytest.mark.parametrize(("gpus", "said"), [(1, "all graphics processors or none"), ("all", "there is none here")])
def test_graphics_processors_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch, gpus: Any, said: str) -> None:
    monkeypatch.setattr(apptainer_words, "_GRAPHICS", Path("/nonexistent"))
    with pytest.raises(OrganiserFault, match=said):
        apptainer_words.require_graphics(preset("strict").model_copy(update={"gpus": gpus}))


def test_a_sif_is_named_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "x.sif").write_bytes(b"SIF")
    engine = ApptainerEngine("apptainer", ImageRoots(tmp_path / "images"))
    found = engine.find_image(str(tmp_path / "x.sif"), RunLimits())
    assert (found.id, found.size_bytes) == (f"sha256:{hashlib.sha256(b'SIF').hexdigest()}", 3)
    with pytest.raises(RunFault, match="3 bytes, more than the 2 allowed"):
        engine.find_image(str(tmp_path / "x.sif"), RunLimits.model_construct(image_bytes=2))
    with pytest.raises(RunFault, match="the image cannot be read: No such file"):
        engine.find_image(str(tmp_path / "y.sif"), RunLimits())


def test_a_machine_without_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not ApptainerRow().is_ready()
    assert [finding.level for finding in ApptainerRow().requirements()] == ["fault"]
    with pytest.raises(OrganiserFault, match="there is no apptainer here"):
        chosen_engine("apptainer")
    with pytest.raises(InfrastructureFault, match="there is no apptainer here"):
        apptainer_program()


@pytest.fixture
def bench(apptainer: Path, unpacked_images: Path) -> Iterator[EngineBench]:
    with connected("apptainer") as engine:
        made = EngineBench(engine)
        yield made
        made.close()


@pytest.mark.engine
@pytest.mark.parametrize("check", CHECKS)
def test_the_stand_in_keeps_its_promises(bench: EngineBench, check: str) -> None:
    CHECKS[check](bench)


@pytest.mark.engine
def test_the_doctor_looks_at_it(apptainer: Path, unpacked_images: Path) -> None:
    found = {finding.name: finding for finding in ApptainerRow().examine()}
    assert {finding.level for finding in found.values()} == {"ok"}, found
    assert found["engine"].found == "apptainer 1.3.0"
    assert found["memory in force"].found == f"{2048 * MIB} bytes in the container's cgroup"


def test_the_stand_in_refuses_what_is_not_documented(apptainer: Path) -> None:
    done = subprocess.run([apptainer, "exec", "--made-up", "/", "x"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (255, "FATAL:   unknown flag: --made-up\n")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("left_out", "said"), [("--security", "system calls are not filtered"), ("--dns", None)], ids=["filter", "nothing"]
)
def test_a_word_that_is_forgotten(
    bench: EngineBench, monkeypatch: pytest.MonkeyPatch, left_out: str, said: str | None
) -> None:
    """Without the profile the kernel tells of no filter, and nothing is run."""
    whole = apptainer_words.apptainer_words

    def forgetful(*given: Any, **named: Any) -> list[str]:
        told = whole(*given, **named)
        at = told.index(left_out)
        return [*told[:at], *told[at + 2 :]]

    monkeypatch.setattr("sandscore.containers.engines.apptainer.apptainer_sandbox.apptainer_words", forgetful)
    with bench.running("sleep 20") as box:
        if said is None:
            assert limits_in_force(box) is not None
        else:
            with pytest.raises(OrganiserFault, match=said):
                limits_in_force(box)


@pytest.mark.engine
def test_what_it_says_when_it_fails(bench: EngineBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sandscore.containers.engines.apptainer.apptainer_sandbox.apptainer_words",
        lambda *_given, **_named: ["exec", "--made-up", "x"],
    )
    said = "apptainer could not make the container: FATAL: unknown flag: --made-up"
    with pytest.raises(RunFault, match=said), bench.running("true"):
        pass


@pytest.mark.engine
def test_a_sif_is_handed_over_as_it_is(bench: EngineBench, tmp_path: Path) -> None:
    """The stand-in says what it found at the place it was given, and runs none."""
    (tmp_path / "x.sif").write_text("SIF_MAGIC\n")
    found = bench.engine.find_image(str(tmp_path / "x.sif"), RunLimits())
    said = "FATAL: a file that begins with SIF_MAGIC"
    with (
        pytest.raises(RunFault, match=said),
        bench.engine.sandbox(found, preset("strict"), bench.marks, "none", {}, LogWatch(1000)),
    ):
        pass


@pytest.mark.engine
def test_the_hostile_set_by_the_stand_in(apptainer: Path, unpacked_images: Path, small: RunLimits) -> None:
    """Nothing is known by it of Apptainer's own walls; outcomes, limits and what is left behind are ours.

    The same cases as on Podman: SANDSCORE_SOAK fires all."""
    assert apptainer.exists()
    verdicts = attack(small, engine="apptainer", cases=FIRED)
    assert len(verdicts) == len(FIRED)
    assert [(verdict.case.name, *verdict.complaints) for verdict in verdicts if verdict.complaints] == []


@pytest.mark.engine
@pytest.mark.parametrize("seconds", [0.02, 0.15, 0.6])
def test_killed_at_any_moment(apptainer: Path, unpacked_images: Path, bench: EngineBench, seconds: float) -> None:
    image = bench.image("sleep 100")
    words = [sys.executable, "-c", RUNNER.replace("bubblewrap", "apptainer"), image.reference, "batch"]
    environment, before = os.environ | {"PYTHONPATH": SOURCES}, inside(unpacked_images)
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(seconds)
        process.kill()
    nothing_left(unpacked_images, process.pid, before)


@pytest.mark.usefixtures("apptainer")
def test_no_limits_are_a_refusal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none() -> None:
        raise OrganiserFault("limits would not be in force (memory)")

    monkeypatch.setattr(bubblewrap_row, "control_root", none)
    with pytest.raises(OrganiserFault, match="limits would not be in force") as told:
        ApptainerEngine(apptainer_program(), ImageRoots(tmp_path)).require_limits()
    assert told.value.exit_code == 78
