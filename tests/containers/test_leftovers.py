"""kill -9 at any moment leaves only what carries our label; the next start removes it, and nothing of a live run."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandscore.containers.engines.docker.cleanup import BRIDGE, remove_leftovers
from sandscore.containers.engines.engine_protocol import EXPIRES, OWNER, RUN, labels

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.hostile.hostile_images import HostileImages

SOURCES = str(Path(__file__).resolve().parents[2] / "scoring")
RUNNER = """
import sys
from sandscore.records.run_record import RunLimits
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.run_context import Annotator
from sandscore.task_table.task import find_task
image, protocol, isolation = sys.argv[1:]
notes = [SentNote("a", "a", "text")]
limits = RunLimits(note_seconds=60)
run(RunJob(find_task("date"), Annotator("image", image, protocol, isolation), notes, "0" * 64, limits))
"""


def of_owner(client: "DockerClient", pid: int) -> list[str]:
    """What a process has made on the engine."""
    chosen = {"filters": {"label": RUN}}
    things = [*client.containers.list(all=True, ignore_removed=True, **chosen), *client.networks.list(**chosen)]
    things += client.volumes.list(**chosen)
    return [thing.name for thing in things if f"/{pid}@" in _labels(thing).get(OWNER, "")]


def ruled_bridges(client: "DockerClient", pid: int) -> list[str]:
    """Bridges of a process's networks from which the host drops what comes."""
    told = subprocess.run(["iptables", "-w", "-S", "INPUT"], capture_output=True, text=True, check=True).stdout
    networks = client.networks.list(filters={"label": RUN})
    bridges = [str(n.attrs["Options"].get(BRIDGE)) for n in networks if f"/{pid}@" in _labels(n)[OWNER]]
    return [bridge for bridge in bridges if f"-i {bridge} " in told]


def _labels(thing: object) -> dict[str, str]:
    attributes = thing.attrs  # type: ignore[attr-defined]
    found: dict[str, str] = attributes.get("Labels") or attributes.get("Config", {}).get("Labels") or {}
    return found


@pytest.mark.engine
@pytest.mark.parametrize(
    ("attack", "protocol", "isolation", "things"),
    [
        pytest.param("dripped-answer", "service", "best", 1, id="while a note is being answered"),
        pytest.param("dripped-answer", "service", "own network", 2, id="with a network of its own"),
        pytest.param("never-ends", "batch", "best", 4, id="while a batch is working"),
    ],
)
def test_killed_without_mercy(
    client: "DockerClient", images: "HostileImages", attack: str, protocol: str, isolation: str, things: int
) -> None:
    words = [sys.executable, "-c", RUNNER, images.image(attack), protocol, isolation]
    environment = os.environ | {"PYTHONPATH": SOURCES}
    with subprocess.Popen(words, env=environment) as process:
        try:
            deadline = time.monotonic() + 30
            while len(of_owner(client, process.pid)) < things and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(of_owner(client, process.pid)) == things
            remove_leftovers(client)
            assert len(of_owner(client, process.pid)) == things, "a live run keeps what it has"
            ruled = ruled_bridges(client, process.pid)
            assert len(ruled) == (isolation == "own network")
        finally:
            process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(of_owner(client, process.pid)) == things
    remove_leftovers(client)
    assert of_owner(client, process.pid) == []
    told = subprocess.run(["iptables", "-w", "-S", "INPUT"], capture_output=True, text=True, check=True).stdout
    assert not [bridge for bridge in ruled if bridge in told]


@pytest.mark.engine
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_asked_to_stop(client: "DockerClient", images: "HostileImages", tmp_path: Path, sent: signal.Signals) -> None:
    """The verb removes its container at once, although a note is still being answered."""
    (tmp_path / "notes.json").write_text('[{"identifier": "a", "text": "x"}]', encoding="utf-8")
    words = ["run", "date", "--image", images.image("dripped-answer"), "--notes", "notes.json", "-o", "r"]
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
        f"sys.path.insert(0, {SOURCES!r}); from sandscore.cli.main import main; main({words!r})"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while not of_owner(client, process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(sent)
        asked = time.monotonic()
        assert process.wait(30) in (130, 143)
    assert time.monotonic() - asked < 9, "nobody waited for the 10 s that the note had"
    assert of_owner(client, process.pid) == []


@pytest.mark.engine
@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        pytest.param({}, False, id="ours, alive"),
        pytest.param({OWNER: "another-boot/1/1@1"}, False, id="of another machine, its time not up"),
        pytest.param({OWNER: "another-boot/1/1@1", EXPIRES: "1"}, True, id="of another machine, its time up"),
        pytest.param({OWNER: "", EXPIRES: "rubbish"}, True, id="labels that make no sense"),
    ],
)
def test_whose_leftovers(client: "DockerClient", changed: dict[str, str], removed: bool) -> None:
    volume = client.volumes.create(labels=labels("leftover-test", 60) | changed)
    try:
        remove_leftovers(client)
        assert (volume.name not in [found.name for found in client.volumes.list()]) == removed
    finally:
        if not removed:
            volume.remove()


def test_a_process_number_used_again_is_not_the_owner() -> None:
    """The owner's mark holds when the process began, so a new process with its number does not keep its things."""
    mine = labels("x", 1)[OWNER]
    assert mine.endswith(f"@{Path('/proc/self/stat').read_text(encoding='utf-8').rpartition(')')[2].split()[19]}")
    assert f"/{os.getpid()}@" in mine
