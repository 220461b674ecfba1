"""A Dask cluster of two worker processes and a scheduler, all of which die: no result changes, none is lost."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from dask_cluster import Cluster
from queue_samples import CHALLENGE, HALF, HIDDEN, RIGHT, hand_in, opened, queue, with_home

from sandscore.base import clock
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.hostile.hostile_images import hostile_images
from sandscore.queue.dask import dask_executor as fanout
from sandscore.queue.dask.dask_executor import cut, shards_of
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace
from sandscore.records.run_record import RunLimits, RunRecord

DRIVE = "import sys; from sandscore.cli.main import main; main(sys.argv[1:])"


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One that nobody kills, with images of its own."""
    folder = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SANDSCORE_IMAGES", str(folder / "images"))
        made = Cluster(folder)
        yield made
        made.close()


def test_killing_any_part_of_the_cluster_changes_no_result(tmp_path: Path, doomed: Cluster) -> None:
    workspace = queue(tmp_path, lease_seconds=5.0)
    expected = {hand_in(workspace, RIGHT if n % 2 else HALF, f"Team {n}"): 1.0 if n % 2 else 0.8 for n in range(150)}
    command = [sys.executable, "-c", DRIVE, "queue", "work", str(workspace.root), "--once", "--dask", doomed.address]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    scored = [0]
    strikes: list[Callable[[], None]] = [partial(doomed.kill_worker, number) for number in (0, 1)]
    for strike in [*strikes, doomed.kill_scheduler]:
        scored.append(wait_for_more(workspace.root, scored[-1]))
        strike()
    _, said = driver.communicate(timeout=500)
    assert driver.returncode == 0, said.decode()
    assert scored[-1] < len(expected), "the last strike came before the end"
    found = with_home(workspace, lambda home: home.submissions())
    assert {one.id: one.scores["instance_strict"] for one in found} == expected
    with opened(workspace) as database, database.reading() as connection:
        ends = [row[0] for row in connection.execute("SELECT outcome FROM attempt")]
    assert ends == ["SCORED"] * len(expected), "nobody's fault cost an attempt"


def wait_for_more(root: Path, before: int) -> int:
    """Until more cards have been written than before."""
    begun = time.monotonic()
    while (now := len(list(root.glob("private/attempts/*/*/card.v1.json")))) <= before + 5:
        assert time.monotonic() - begun < 300, "the cluster does not work"
        time.sleep(0.02)
    return now


@pytest.mark.parametrize(
    ("lengths", "most", "shards"),
    [
        pytest.param([3, 3, 3], 9, [(0, 3)], id="all in one"),
        pytest.param([3, 3, 3], 8, [(0, 2), (2, 3)], id="cut where it would be too long"),
        pytest.param([20, 1, 20], 10, [(0, 1), (1, 2), (2, 3)], id="a long note alone"),
        pytest.param([], 10, [(0, 0)], id="no notes"),
    ],
)
def test_shards_are_cut_by_characters(lengths: Sequence[int], most: int, shards: list[tuple[int, int]]) -> None:
    assert cut(lengths, most) == shards


@pytest.mark.engine
def test_an_image_rehearses_in_one_container_before_its_shards(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Practice notes are never cut: all of the rehearsal is one run, and only then there is a shard for each note."""
    monkeypatch.setattr(fanout, "shards_of", partial(shards_of, most=10))
    monkeypatch.setattr(clock, "TICK_SECONDS", 6.0)
    workspace = queue(tmp_path, f'{HIDDEN}[limits]\nmemory = "64m"\n', concurrency=1)
    with (
        docker_client() as client,
        hostile_images(DockerEngine(client), f"sandscore-test-dask-{os.getpid()}") as images,
    ):
        submission_id = hand_in(workspace, image=str(client.images.get(images.image("harmless")).id))
        run_on(cluster, workspace)
    [one] = with_home(workspace, lambda home: home.submissions())
    assert (one.status, one.attempt, one.rehearsed) == ("SCORED", 2, True)
    rehearsal = workspace.rehearsal(submission_id)
    assert RunRecord.model_validate_json((rehearsal / "run.json").read_bytes()).notes == 72 + 4
    assert len(json.loads((rehearsal / "team/predictions.json").read_bytes())) == 76
    [folder] = (workspace.attempts / submission_id).glob("2-*")
    assert RunRecord.model_validate_json((folder / "run.json").read_bytes()).notes == 3
    assert (folder / "early-log.txt").exists()
    assert not (folder / "team/log.txt").exists()


def run_on(cluster: Cluster, workspace: Workspace) -> None:
    """A worker whose hands are the cluster's, until nothing is left."""

    async def work() -> None:
        home = EmbeddedHome(workspace)
        await home.open()
        hands, leave = await fanout.connected(cluster.address, workspace.root)
        await Worker(home, workspace, WorkPlan(once=True), hands).run()
        await leave()
        await home.close()

    asyncio.run(asyncio.wait_for(work(), 300))


@pytest.mark.engine
@pytest.mark.parametrize("engine", ["docker", "podman", "bubblewrap"])
def test_an_image_is_run_in_shards_and_put_together(
    engine: str, tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three notes, a shard each: one container a shard, one set of predictions, one record of all of them."""
    monkeypatch.setattr(fanout, "shards_of", partial(shards_of, most=10))
    rules = f'{CHALLENGE}[images]\nengine = "{engine}"\n[limits]\nmemory = "64m"\n'
    workspace = queue(tmp_path, rules, concurrency=1)
    with connected(engine) as engine_here, hostile_images(engine_here, f"sandscore-test-dask-{os.getpid()}") as images:
        found = engine_here.find_image(images.image("harmless"), RunLimits())
        submission_id = hand_in(workspace, image=found.id)
        run_on(cluster, workspace)
    [one] = with_home(workspace, lambda home: home.submissions())
    assert (one.status, one.reason, one.scores.get("instance_strict")) == ("SCORED", None, 0.0)
    [folder] = (workspace.attempts / submission_id).iterdir()
    assert not list(folder.glob("run-*")), "nothing of the shards is left"
    record = RunRecord.model_validate_json((folder / "run.json").read_bytes())
    assert record.engine is not None
    assert (record.notes, record.engine.name) == (3, engine)
    entries = json.loads((folder / "predictions.json").read_bytes())
    assert [entry["annotationSource"]["resourceSource"]["name"] for entry in entries] == ["n1", "n2", "n3"]
