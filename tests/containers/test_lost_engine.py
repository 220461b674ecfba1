"""The engine goes away in the middle of a run: our fault, said so, and nobody hangs."""

import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.engines.engine_protocol import OWNER, labels
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.hostile.hostile_images import HostileImages

REAL = "/var/run/docker.sock"


@contextmanager
def go_between(path: Path) -> Iterator[threading.Event]:
    """A socket that leads to the real engine, until the event is set."""
    gone = threading.Event()
    open_ends: list[socket.socket] = []

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(REAL)
                open_ends.extend((near, far))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()

    def vanish(listener: socket.socket) -> None:
        gone.wait()
        path.unlink()
        for end in (listener, *open_ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    threads = [threading.Thread(target=work, args=(listener,), daemon=True) for work in (accept, vanish)]
    for thread in threads:
        thread.start()
    try:
        yield gone
    finally:
        gone.set()
        for thread in threads:
            thread.join(10)


@pytest.mark.engine
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_lost(client: "DockerClient", images: "HostileImages", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [SentNote("a", "a", "text")]
    annotator = Annotator("image", images.image("dripped-answer"))
    ours = {"label": f"{OWNER}={labels('x', 0)[OWNER]}"}
    before = {box.id for box in client.containers.list(all=True, sparse=True, filters=ours)}
    with go_between(tmp_path / "engine.sock") as gone:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
        threading.Timer(2.0, gone.set).start()
        begun = time.monotonic()
        done = run(RunJob(find_task("date"), annotator, notes, "0" * 64, RunLimits(note_seconds=4)))
    assert done.record.outcome is Outcome.INFRASTRUCTURE
    assert "the engine failed while" in str(done.record.reason)
    assert time.monotonic() - begun < 30
    left = [box for box in client.containers.list(all=True, sparse=True, filters=ours) if box.id not in before]
    gc.collect()  # the engine's client leaves sockets that could not be connected to chance
    assert len(left) == 1, "nobody could be asked to remove it; its label says whose it was"
    left[0].remove(force=True)
