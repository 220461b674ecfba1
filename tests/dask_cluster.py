"""A Dask cluster of two worker processes and a scheduler, each of which may be killed."""

import socket
import subprocess
import sys
import time
from pathlib import Path


class Cluster:
    """Processes that may be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self._folder = folder
        self.scheduler = self._scheduler()
        self.workers = [self._worker(number) for number in (0, 1)]

    def _scheduler(self) -> "subprocess.Popen[bytes]":
        port = self.address.rpartition(":")[2]
        return self._process("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show")

    def _worker(self, number: int) -> "subprocess.Popen[bytes]":
        space = str(self._folder / f"worker-{number}-{time.monotonic_ns()}")
        resources = ["--resources", "runner=1,scorer=1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._process("dask_worker", self.address, *resources, "--local-directory", space, "--memory-limit", "0")

    def _process(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.{module}", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_worker(self, number: int) -> None:
        end(self.workers[number])
        self.workers[number] = self._worker(number)

    def kill_scheduler(self) -> None:
        end(self.scheduler)
        self.scheduler = self._scheduler()
        for number in (0, 1):
            self.kill_worker(number)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()
