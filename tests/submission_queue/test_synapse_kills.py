"""Workers killed with -9 in the middle of their work: every submission ends once, told once, in the board once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from submission_queue.standin.routing import Request
from submission_queue.synapse_homes import finals
from submission_queue.synapse_standin import Queue, synapse
from submission_queue.test_synapse_worker import GOOD, messages, rows, worked

CHANGES = ("PUT", "POST")
KILLED_AFTER = (3, 6, 11)
"""Requests that change something, counted from the worker's start: in a claim, in its message, in a commit."""


def killed_worker(queue: Queue, folder: Path, after: int) -> None:
    """A worker in a process of its own that is killed while a request of its waits for an answer."""
    where = ["--synapse", queue.id, "--synapse-config", str(queue.config()), "--state", str(folder)]
    command = [sys.executable, "-c", "from sandscore.cli.main import main; main()", "queue", "work", "--once", *where]
    seen: list[str] = []
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(request: Request) -> None:
        if request.method in CHANGES:
            seen.append(request.path)
        if len(seen) == after:
            os.kill(worker.pid, signal.SIGKILL)

    queue.standin.before = kill
    assert worker.wait(300) == -signal.SIGKILL
    queue.standin.before = None


def test_killed_workers_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    with synapse(tmp_path / "synapse") as queue:
        keys = [queue.submit_file(GOOD) for _ in range(3)]
        assert worked(queue, tmp_path / "state", "--help").code == 0
        for after in KILLED_AFTER:
            killed_worker(queue, tmp_path / "state", after)
        assert worked(queue, tmp_path / "state").code == 0
        assert [queue.status(key) for key in keys] == ["SCORED"] * 3
        assert [finals(queue, key) for key in keys] == [1, 1, 1]
        assert rows(queue) == sorted(keys)
        sent = [pair for pair in messages(queue) if "was scored" in pair[1]]
        assert len(sent) == len(set(sent)) <= 3
