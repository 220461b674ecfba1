"""What the tests of running share: small limits, and images built once for each test process."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from python_images import PythonImages

from sandscore.containers.engines.bubblewrap.compiled_seccomp import compiled_filter
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.engines.engine_protocol import seccomp_profile
from sandscore.containers.hostile.hostile_images import HostileImages, hostile_images
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import MIB, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def client() -> Iterator["DockerClient"]:
    with docker_client() as reached:
        yield reached


@pytest.fixture(scope="session")
def images(client: "DockerClient") -> Iterator[HostileImages]:
    with hostile_images(DockerEngine(client), f"sandscore-test-{os.getpid()}") as built:
        yield built


@pytest.fixture(scope="session")
def python_image(client: "DockerClient") -> Iterator[PythonImages]:
    subprocess.run([ROOT / "tools" / "base_image.sh"], check=True, capture_output=True)
    built = PythonImages(client)
    yield built
    for name in built.names:
        client.images.remove(name, force=True)


@pytest.fixture(scope="session")
def unpacked_images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where bubblewrap keeps images meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("images")
        patch.setenv("SANDSCORE_IMAGES", str(folder))
        yield folder


@pytest.fixture
def apptainer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for it, where a container's own /tmp does not hide it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        standin = Path(__file__).parent / "standins" / "apptainer_standin.py"
        (folder / "apptainer_standin.py").write_bytes(standin.read_bytes())
        (folder / "profile.json").write_text(seccomp_profile(), encoding="utf-8")
        (folder / "filter").write_bytes(compiled_filter(seccomp_profile()))
        program = folder / "apptainer"
        program.write_text(
            f'#!/bin/sh\nexec {Path(sys.executable).resolve()} -I -S {folder}/apptainer_standin.py "$@"\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield program


@pytest.fixture(scope="session")
def small() -> RunLimits:
    """Limits under which hostile things are soon over, on a machine with little to spare."""
    return RunLimits(
        memory_bytes=64 * MIB,
        processes=64,
        tmp_bytes=8 * MIB,
        shared_memory_bytes=MIB,
        output_bytes=2 * MIB,
        log_bytes=MIB,
        reply_bytes=64 << 10,
        ready_seconds=30,
        note_seconds=20,
        total_seconds=60,
    )


@pytest.fixture(scope="session")
def notes() -> list[SentNote]:
    return [
        SentNote("n-1", "n-1", "Seen on 10/26/2020 by Dr. Ngo."),
        SentNote("data/Note/n-2", "n-2", "Nothing here."),
        SentNote("n-3", "n-3", "\u00c4ngstlich \U0001f637 since 01/02/2021 and 03/04/2021."),
    ]
