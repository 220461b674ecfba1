"""A server of a queue as organisers start it, in a process of its own on loopback."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BOUNDARY = "sandscore-boundary"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Server:
    """One server process; it can be killed and started again on the same port."""

    def __init__(self, root: Path, port: int, options: Sequence[str] = ()) -> None:
        self.root, self.port, self._options = root, port, options
        self.said = root.parent / f"server-{port}.txt"
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        words = ["serve", str(self.root), "--listen", f"127.0.0.1:{self.port}", *self._options]
        with self.said.open("ab") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "sandscore", *words],
                stdout=said,
                stderr=said,
                env=os.environ | {"SANDSCORE_DEBUG": "1"},
            )
        self.await_answer()

    def await_answer(self, seconds: float = 40.0) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            assert self._process.poll() is None, self.said.read_text()
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self.said.read_text())

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, {name.lower(): said for name, said in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def hand_in(self, token: str, content: bytes, key: str | None = None) -> tuple[int, Any]:
        """The status, and the answer's JSON."""
        headers = {"authorization": f"Bearer {token}", "content-type": f"multipart/form-data; boundary={BOUNDARY}"}
        if key is not None:
            headers["idempotency-key"] = key
        status, _, told = self.ask("POST", "/api/v1/submissions?task=date", form(content), headers)
        return status, json.loads(told)

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")


def form(content: bytes, name: str = "p.json") -> bytes:
    head = f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="predictions"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


@contextmanager
def serving(root: Path, *options: str) -> Iterator[Server]:
    server = Server(root, free_port(), options)
    try:
        yield server
    finally:
        server.stop()
