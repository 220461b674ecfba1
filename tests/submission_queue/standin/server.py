"""The HTTP side of the stand-in: tokens, faults asked for by a test, a log of every request."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, unquote, urlsplit

from submission_queue.standin import entities, evaluations, files, messages, tables, wikis  # noqa: F401
from submission_queue.standin.routing import Answer, Refusal, Request, answer
from submission_queue.standin.world import World

LOST, LOST_503 = "answer lost after the change", "503 after the change"


@dataclass
class Fault:
    """What goes wrong with the next ``times`` requests that fit; ``kind`` is LOST, LOST_503 or a status code.
    ``retry_after`` is that header, where an answer has it."""

    method: str
    path: str
    kind: str | int
    times: int = 1
    after: int = 0
    retry_after: str | None = None

    def fits(self, method: str, path: str) -> bool:
        if self.times <= 0 or method != self.method or not re.search(self.path, path):
            return False
        if self.after > 0:
            self.after -= 1
            return False
        self.times -= 1
        return True


@dataclass
class Standin:
    """A running server; ``before`` may be set to a function called with each request before it is answered."""

    world: World
    base: str
    faults: list[Fault] = field(default_factory=list)
    log: list[tuple[str, str, int]] = field(default_factory=list)
    before: Any = None

    def count(self, method: str, path: str, status: int | None = None) -> int:
        """Requests seen so far whose path contains the pattern."""
        return sum(m == method and bool(re.search(path, p)) and status in (None, s) for m, p, s in self.log)

    def fault(self, method: str, path: str) -> Fault | None:
        with self.world.lock:
            return next((fault for fault in self.faults if fault.fits(method, path)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    standin: ClassVar[Standin]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Says nothing: the log is for tests."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def _serve(self) -> None:
        request, standin = self._request(), self.standin
        if standin.before is not None:
            standin.before(request)
        fault = standin.fault(request.method, request.path)
        if fault is not None and isinstance(fault.kind, int):
            body = (
                {}
                if standin.world.unreasoned
                else _error("Please slow down." if fault.kind == 429 else "a fault of the test")
            )
            headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            return self._send(request, Answer(fault.kind, body, headers=headers))
        given = self._within_limits(request)
        if fault is not None and fault.kind == LOST:
            standin.log.append((request.method, request.path, 0))
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return None
        if fault is not None:
            given = Answer(503, _error("service unavailable"))
        return self._send(request, given)

    def _within_limits(self, request: Request) -> Answer:
        limits, user = self.standin.world.limits, request.user
        if limits is None or user is None or request.path.startswith("/storage/"):
            return self._answer(request)
        with self.standin.world.lock:
            limits.at_once[user] = limits.at_once.get(user, 0) + 1
            limits.most_at_once = max(limits.most_at_once, limits.at_once[user])
            said = limits.refusal(user, request.path)
        try:
            return self._answer(request) if said is None else Answer(429, _error(said))
        finally:
            with self.standin.world.lock:
                limits.at_once[user] -= 1

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        headers = {key.lower(): value for key, value in self.headers.items()}
        query, user = dict(parse_qsl(parts.query)), self.standin.world.tokens.get(token)
        return Request(self.command, unquote(parts.path), query, headers, data, None, user, self.standin.base)

    def _answer(self, request: Request) -> Answer:
        world = self.standin.world
        try:
            if not request.path.startswith("/storage/"):
                if request.user is None:
                    raise Refusal(401, "invalid access token")
                _demand_scope(world, request)
                request.body = _json(request.data)
            with world.lock:
                return answer(world, request)
        except Refusal as refusal:
            return Answer(refusal.status, _error(refusal.reason))

    def _send(self, request: Request, given: Answer) -> None:
        data = given.body if isinstance(given.body, bytes) else b"" if given.body is None else _bytes(given.body)
        self.standin.log.append((request.method, request.path, given.status))
        self.send_response(given.status)
        for key, value in (
            {"Content-Type": given.content_type, "Content-Length": str(len(data))} | given.headers
        ).items():
            self.send_header(key, value)
        head = b"".join(getattr(self, "_headers_buffer", [])) + b"\r\n"
        self._headers_buffer: list[bytes] = []
        self.wfile.write(head + data)


READING = r"/round/list$|/entity/child$|/bundle2$|/async/start$"
"""POST that only asks."""


def _demand_scope(world: World, request: Request) -> None:
    """As org.sagebionetworks.repo.web.OAuthScopeInterceptor words it."""
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    held = world.scopes.get(token, ["view", "modify", "download"])
    reads = request.method == "GET" or re.search(READING, request.path)
    wanted = "download" if request.path.endswith("/fileHandle/batch") else "view" if reads else "modify"
    if wanted not in held:
        said = f"insufficient_scope. Request lacks scope(s) required by this service: {wanted}"
        raise Refusal(403, said)


def _json(data: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise Refusal(400, f"invalid JSON: {constant}")

    try:
        return json.loads(data, parse_constant=refuse) if data else None
    except ValueError:
        raise Refusal(400, "invalid JSON") from None


def _bytes(body: Any) -> bytes:
    return json.dumps(body).encode()


def _error(reason: str) -> dict[str, str]:
    return {"concreteType": "org.sagebionetworks.repo.model.ErrorResponse", "reason": reason}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error here."""


@contextmanager
def serving(world: World) -> Iterator[Standin]:
    """The stand-in on a port of its own, until the block ends."""
    standin = Standin(world, "")
    handler = type("Handler", (_Handler,), {"standin": standin})
    server = _Server(("127.0.0.1", 0), handler)
    standin.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
