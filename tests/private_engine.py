"""A Docker engine of a test's own, which may be killed, stopped and started again while others use theirs.

containerd and dockerd as on any host, but with data, state and socket in one folder, and dockerd in a network of its
own, because without a bridge it takes the machine's away. Both are killed by the kernel should the test die; whatever
they mounted is taken away in the end.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

_CONTAINERD = """version = 2
root = "{0}/containerd"
state = "{0}/containerd-state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "{0}/containerd.sock"
"""
_TIED = ("setpriv", "--pdeathsig", "KILL")
_READY_SECONDS = 30.0


class PrivateEngine:
    """Reached at ``host``, a value for DOCKER_HOST."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        (folder / "containerd.toml").write_text(_CONTAINERD.format(folder), encoding="utf-8")
        self._containerd = self._run("containerd", "--config", str(folder / "containerd.toml"))
        self._await(folder / "containerd.sock", "")
        self.start()

    @property
    def host(self) -> str:
        return f"unix://{self._folder}/engine.sock"

    def start(self) -> None:
        """Until it answers."""
        places = {"data-root": "data", "exec-root": "run", "pidfile": "pid", "containerd": "containerd.sock"}
        where = [word for option, name in places.items() for word in (f"--{option}", str(self._folder / name))]
        alone = ("--bridge=none", "--iptables=false", "--ip6tables=false")
        self._dockerd = self._run("unshare", "--net", "dockerd", *where, "--host", self.host, *alone)
        self._await(self._folder / "engine.sock", "GET /_ping HTTP/1.0\r\nHost: engine\r\n\r\n")

    def kill(self) -> None:
        """As a crash: containers go on, nobody looks after them."""
        self._dockerd.kill()
        self._dockerd.wait()

    def stop(self) -> None:
        """As for an upgrade: containers are stopped first."""
        self._dockerd.send_signal(signal.SIGTERM)
        self._dockerd.wait(timeout=_READY_SECONDS)

    def close(self) -> None:
        self.stop()
        self._containerd.terminate()
        self._containerd.wait(timeout=_READY_SECONDS)
        mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
        for place in reversed([place for place in mounts if place.startswith(f"{self._folder}/")]):
            subprocess.run(["umount", "--lazy", place], check=True)
        shutil.rmtree(self._folder)

    def _run(self, *command: str) -> "subprocess.Popen[bytes]":
        with (self._folder / f"{command[0]}.log").open("ab") as log:
            return subprocess.Popen([*_TIED, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _await(self, place: Path, question: str) -> None:
        begun = time.monotonic()
        while not _answers(place, question):
            assert time.monotonic() - begun < _READY_SECONDS, self._last_words()
            time.sleep(0.05)

    def _last_words(self) -> str:
        return "\n".join(
            log.read_text(encoding="utf-8", errors="replace")[-1000:] for log in self._folder.glob("*.log")
        )


def _answers(place: Path, question: str) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.settimeout(5)
            line.connect(os.fspath(place))
            line.sendall(question.encode())
            return not question or b" 200 " in line.recv(64)
        except OSError:
            return False
