"""The engine is killed, stopped and started again while the queue's images run on it: each ends once, nothing is left.

The engine is one of the test's own, so that others keep theirs.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from private_engine import PrivateEngine
from queue_samples import CHALLENGE, RIGHT, hand_in, opened, queue, with_home

from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.engines.docker.docker_sandbox import ended_by_itself, told_of_end
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.engines.engine_protocol import RUN
from sandscore.containers.hostile.hostile_images import hostile_images

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = pytest.mark.engine
LIMITS = f'{CHALLENGE}[limits]\ntime_limit = 60\nmemory = "64m"\n'
NAME = "sandscore-test-restarts"
DRIVE = "from sandscore.cli.main import main; main()"
SLOW = {"note/harmless": "sleep 1\nnothing\n"}
"""A right answer to each of the three notes, after a second."""


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateEngine]:
    """Socket addresses are short: not under pytest's folder."""
    folder, bridge = Path(tempfile.mkdtemp(prefix="engine-")), Path("/sys/class/net/docker0")
    before = bridge.exists()
    made = PrivateEngine(folder / "e")
    monkeypatch.setenv("DOCKER_HOST", made.host)
    yield made
    made.close()
    shutil.rmtree(folder)
    assert bridge.exists() == before, "the machine's own engine keeps its bridge"


@pytest.fixture
def client(private: PrivateEngine) -> Iterator["DockerClient"]:
    with docker_client() as reached:
        yield reached


@pytest.fixture
def slow(client: "DockerClient") -> Iterator[str]:
    """An image by its id."""
    with hostile_images(DockerEngine(client), NAME) as images:
        files = {"Dockerfile": f"FROM {images.image('harmless')}\nCOPY note /note\n", **SLOW}
        build_image(client, f"{NAME}-slow", files, labels={})
        yield str(client.images.get(f"{NAME}-slow").id)


def in_the_middle(client: "DockerClient", image: str) -> None:
    """Until a container of the image has begun to answer."""
    begun = time.monotonic()
    while not client.containers.list(filters={"ancestor": image}, ignore_removed=True):
        assert time.monotonic() - begun < 60, "nothing runs"
        time.sleep(0.05)
    time.sleep(0.7)


def test_every_image_ends_once_although_its_engine_dies(
    tmp_path: Path, private: PrivateEngine, client: "DockerClient", slow: str
) -> None:
    workspace = queue(tmp_path, LIMITS, concurrency=1, most_failures=100, first_wait_seconds=0.5, lease_seconds=5)
    images = [hand_in(workspace, image=slow, team=f"Team {number}") for number in range(3)]
    file = hand_in(workspace, RIGHT)
    command = [sys.executable, "-c", DRIVE, "queue", "work", str(workspace.root), "--once", "--jobs", "2"]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    in_the_middle(client, slow)
    private.kill()
    time.sleep(0.5)
    private.start()
    in_the_middle(client, slow)
    private.stop()
    time.sleep(1.5)
    private.start()
    _, said = worker.communicate(timeout=120)
    assert (worker.returncode, "Traceback" in said, "Fatal" in said) == (0, False, False), said
    networks = client.networks.list(filters={"label": RUN})
    assert [*client.containers.list(all=True), *client.volumes.list(), *networks] == []
    found = with_home(workspace, lambda home: home.submissions())
    scores = {one.id: (str(one.status), one.scores.get("instance_strict")) for one in found}
    assert scores == dict.fromkeys(images, ("SCORED", 0.0)) | {file: ("SCORED", 1.0)}
    with opened(workspace) as database, database.reading() as connection:
        ends = [tuple(row) for row in connection.execute("SELECT submission, outcome FROM attempt")]
    assert sorted(one for one, outcome in ends if outcome == "SCORED") == sorted([*images, file])
    assert {outcome for _, outcome in ends} == {"SCORED", "failed"}, "ours, every time"


def test_who_kills_a_container_is_told_from_its_own_end(client: "DockerClient", slow: str) -> None:
    """Both have exit code 137."""
    own = client.containers.run(slow, ["sh", "-c", "kill -9 $$"], init=True, detach=True, network_mode="none")
    killed = client.containers.run(slow, ["sleep", "60"], init=True, detach=True, network_mode="none")
    killed.kill()
    for container in (own, killed):
        container.wait()
        container.reload()
        assert container.attrs["State"]["ExitCode"] == 137
    assert [ended_by_itself(told_of_end(one)) for one in (own, killed)] == [True, False]
    for container in (own, killed):
        container.remove(force=True, v=True)
