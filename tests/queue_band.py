"""Workers that die by force: at random moments, alone and two at once."""

import random
import signal
import subprocess
from collections.abc import Callable

Process = subprocess.Popen[bytes]


class Band:
    """Keeps as many workers as asked for, and counts those that died by force."""

    def __init__(self, chance: random.Random, start: Callable[[], Process]) -> None:
        self._random, self._start = chance, start
        self._workers: list[Process] = []
        self.kills = self.doubles = 0

    def muster(self, number: int) -> None:
        while len(self._workers) < number:
            self._workers.append(self._start())

    def strike(self) -> None:
        """One or two of those that are alive."""
        died = [worker for worker in self._workers if worker.poll() is not None]
        self.kills += sum(worker.returncode == -signal.SIGKILL for worker in died)
        alive = [worker for worker in self._workers if worker.poll() is None]
        victims = self._random.sample(alive, min(len(alive), self._random.choice([1, 1, 2])))
        self._kill(victims)
        self.doubles += len(victims) > 1
        for worker in died:
            self._workers.remove(worker)

    def end(self) -> None:
        self._kill([*self._workers])

    def _kill(self, victims: list[Process]) -> None:
        for worker in victims:
            worker.kill()
        self.kills += len(victims)
        for worker in victims:
            worker.wait()
            self._workers.remove(worker)
