"""The worker itself on a Synapse queue, from an empty folder to boards, over the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore
from submission_queue.synapse_homes import QUICK
from submission_queue.synapse_standin import LOST, LOST_503, TOKEN, Fault, Queue, synapse

from sandscore.base.bundled_content import example_gold, submissions

pytestmark = pytest.mark.usefixtures("near_children")

GOOD = (submissions() / "date-good" / "predictions.json").read_bytes()
WEAK = (submissions() / "date-weak" / "predictions.json").read_bytes()
TROUBLE = [
    Fault("PUT", "/status$", LOST, after=1),
    Fault("PUT", "/status$", LOST_503, after=4),
    Fault("GET", "/status$", 429, times=2, after=1),
    Fault("GET", "bundle/all", 503, after=2),
    Fault("POST", "/message$", LOST, after=1),
    Fault("POST", "async/start$", LOST, after=2),
    Fault("GET", "^/storage/file", LOST),
    Fault("POST", "fileHandle/batch", 503),
    Fault("POST", "/entity$", LOST),
]


def worked(queue: Queue, folder: Path, *more: str) -> Ran:
    """``queue init`` if need be, and a worker that ends when nothing is left."""
    if not folder.exists():
        made = sandscore("queue", "init", folder, "--challenge", example_gold() / "challenge.toml")
        assert made.code == 0, made.err
        (folder / "synapse.json").write_text(json.dumps(QUICK | {"retry_seconds": 5}), encoding="utf-8")
    where = ["--synapse", queue.id, "--synapse-config", queue.config(), "--state", folder]
    return sandscore("queue", "work", "--once", "--format", "json", *where, *more)


def rows(queue: Queue) -> list[str]:
    """Submissions in the board's table."""
    (table,) = queue.world.tables.values()
    (column,) = (key for key, one in queue.world.columns.items() if one["name"] == "submissionid")
    return sorted(values[column] for _, values in table["rows"].values())


def messages(queue: Queue) -> list[tuple[str, str]]:
    return sorted((message["recipients"][0], message["subject"]) for message in queue.world.messages)


@pytest.mark.parametrize("faults", [[], TROUBLE], ids=["in peace", "in trouble"])
def test_a_queue_drains_and_is_published(tmp_path: Path, faults: list[Fault]) -> None:
    external: dict[str, Any] = {"concreteType": "org.sagebionetworks.repo.model.file.ExternalFileHandle"}
    with synapse(tmp_path / "synapse") as queue:
        good, weak = queue.submit_file(GOOD, team="3001"), queue.submit_file(WEAK)
        broken, outside = queue.submit_file(b"{"), queue.submit_file(b"x", **external, externalURL="file:///etc/passwd")
        queue.standin.faults = [Fault(one.method, one.path, one.kind, one.times, one.after) for one in faults]
        ran = worked(queue, tmp_path / "state")
        assert ran.code == 0, ran.err
        assert [fault for fault in queue.standin.faults if fault.times] == []
        assert {key: queue.status(key) for key in (good, weak, broken, outside)} == {
            good: "SCORED",
            weak: "SCORED",
            broken: "INVALID",
            outside: "INVALID",
        }
        assert queue.annotations(good)["instance_strict_f1"] > queue.annotations(weak)["instance_strict_f1"]
        assert rows(queue) == sorted([good, weak])
        assert len(messages(queue)) == len(set(messages(queue)))
        assert len(messages(queue)) == 4, "an end for each"
        before = len(queue.world.status_history)
        again = worked(queue, tmp_path / "state")
        assert (again.code, again.out) == (0, "")
        assert len(queue.world.status_history) == before, "a second worker changed something"
        assert TOKEN not in ran.out + ran.err + again.out + again.err
        assert queue.world.unknown == []
