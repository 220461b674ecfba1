"""Images in the queue on a real engine: whose fault it was, a worker killed in the middle, a cancel, nothing left."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from queue_samples import CHALLENGE, hand_in, queue, with_home

from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.hostile.hostile_images import hostile_images
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Submission

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.hostile.hostile_images import HostileImages

pytestmark = pytest.mark.engine
LIMITS = f'{CHALLENGE}[limits]\ntime_limit = 60\nmemory = "64m"\n'
DRIVE = "import sys; from sandscore.cli.main import main; main(sys.argv[1:])"


@pytest.fixture(scope="module")
def client() -> Iterator["DockerClient"]:
    with docker_client() as reached:
        yield reached


@pytest.fixture(scope="module")
def images(client: "DockerClient") -> Iterator["HostileImages"]:
    with hostile_images(DockerEngine(client), f"sandscore-test-queue-{os.getpid()}") as built:
        yield built


def identity(client: "DockerClient", images: "HostileImages", attack: str) -> str:
    return str(client.images.get(images.image(attack)).id)


def containers(client: "DockerClient", image: str) -> list[str]:
    found = client.containers.list(all=True, ignore_removed=True, filters={"ancestor": image})
    return [one.name for one in found]


def work(workspace: Workspace, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", DRIVE, "queue", "work", str(workspace.root), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def until(happens: object, seconds: float = 60) -> None:
    assert callable(happens)
    begun = time.monotonic()
    while not happens():
        assert time.monotonic() - begun < seconds, "it did not happen"
        time.sleep(0.05)


def ended(workspace: Workspace) -> dict[str, Submission]:
    return {one.id: one for one in with_home(workspace, lambda home: home.submissions())}


def test_images_end_as_they_deserve(tmp_path: Path, client: "DockerClient", images: "HostileImages") -> None:
    workspace = queue(tmp_path, LIMITS)
    good = hand_in(workspace, image=identity(client, images, "harmless"))
    wrong = hand_in(workspace, image=identity(client, images, "wrong-text"))
    missing = hand_in(workspace, image="sha256:" + "0" * 64)
    assert work(workspace, "--once", "--jobs", "2").wait(timeout=120) == 0
    found = ended(workspace)
    assert (found[good].status, found[good].scores["instance_strict"]) == ("SCORED", 0.0)
    assert (found[wrong].status, str(found[wrong].reason)[:15]) == ("INVALID", "invalid_output:")
    assert (found[missing].status, str(found[missing].reason)[:14]) == ("INVALID", "image_missing:")
    [run] = (workspace.attempts / good).glob("1-*/run.json")
    assert '"outcome": "finished"' in run.read_text(encoding="utf-8")


def test_a_worker_killed_in_the_middle_leaves_nothing_and_loses_nothing(
    tmp_path: Path, client: "DockerClient", images: "HostileImages"
) -> None:
    workspace = queue(tmp_path, LIMITS, lease_seconds=4)
    slow = identity(client, images, "dripped-answer")
    submission_id = hand_in(workspace, image=slow)
    worker = work(workspace)
    until(lambda: containers(client, slow))
    worker.kill()
    worker.wait()
    again = work(workspace)
    until(lambda: ended(workspace)[submission_id].attempt == 2)
    until(lambda: containers(client, slow))
    assert with_home(workspace, lambda home: home.cancel(submission_id))
    until(lambda: ended(workspace)[submission_id].status.final)
    until(lambda: not containers(client, slow))
    again.terminate()
    assert again.wait(timeout=30) == 0
    assert ended(workspace)[submission_id].reason == "cancelled"


def test_a_stop_hands_a_running_image_back(tmp_path: Path, client: "DockerClient", images: "HostileImages") -> None:
    workspace = queue(tmp_path, LIMITS)
    slow = identity(client, images, "dripped-answer")
    submission_id = hand_in(workspace, image=slow)
    worker = work(workspace, "--grace", "0.2")
    until(lambda: containers(client, slow))
    worker.terminate()
    assert worker.wait(timeout=30) == 0
    one = ended(workspace)[submission_id]
    assert (one.status, one.failures, one.reason) == ("RECEIVED", 0, "the worker was stopped")
    until(lambda: not containers(client, slow))


def test_an_engine_that_is_away_costs_the_team_nothing(
    tmp_path: Path, client: "DockerClient", images: "HostileImages", monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = queue(tmp_path, LIMITS, most_failures=2, first_wait_seconds=0.01)
    submission_id = hand_in(workspace, image=identity(client, images, "harmless"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    assert work(workspace, "--once").wait(timeout=60) == 0
    one = ended(workspace)[submission_id]
    assert (one.status, one.needs_organiser, one.attempt) == ("RECEIVED", True, 2)
    monkeypatch.delenv("DOCKER_HOST")
    assert with_home(workspace, lambda home: home.requeue(submission_id))
    assert work(workspace, "--once").wait(timeout=60) == 0
    one = ended(workspace)[submission_id]
    assert (one.status, one.failures, one.attempt) == ("SCORED", 0, 3)
