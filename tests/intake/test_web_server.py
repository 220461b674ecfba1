"""Hostile and broken connections, and a thousand requests that somebody drew from the API's own document."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from intake.served import BOUNDARY, form, free_port
from queue_samples import RIGHT, annotations, queue
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from sandscore.intake import request_body, web_server
from sandscore.intake.submission_intake import PARTS
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.workspace import Workspace

pytestmark = pytest.mark.slow

CANARY = "gold-canary-7f3a"


class Running:
    """A server in a thread of this process, so that its patience can be made short."""

    def __init__(self, workspace: Workspace, token: str) -> None:
        self.workspace, self.token, self.port = workspace, token, free_port()
        self.server: uvicorn.Server = web_server.server_of(workspace.root, f"127.0.0.1:{self.port}", None, [])
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.02)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)

    def open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def raw(self, content: bytes) -> bytes:
        """All that comes back before the server, or ten seconds, end it."""
        with self.open() as found:
            found.sendall(content)
            return everything(found)

    def head(self, length: int, more: str = "") -> bytes:
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return (
            f"POST /api/v1/submissions?task=date HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {self.token}\r\n"
            f"content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n{more}\r\n"
        ).encode()

    def parts(self) -> list[Path]:
        return [*(self.workspace.private / "intake" / PARTS).iterdir()]


def everything(found: socket.socket) -> bytes:
    content = b""
    try:
        while chunk := found.recv(1 << 16):
            content += chunk
    except (TimeoutError, ConnectionResetError):
        pass
    return content


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    workspace = queue(tmp_path_factory.mktemp("served"))
    registry = TeamRegistry(workspace)
    registry.add("A", None, "test")
    site = workspace.root / "public" / "site"
    site.mkdir(exist_ok=True)
    (site / "index.html").write_text("<!DOCTYPE html><title>board</title>", encoding="utf-8")
    (site / ".hidden").write_text(CANARY, encoding="utf-8")
    (workspace.private / "canary").write_text(CANARY, encoding="utf-8")
    (site / "link").symlink_to(workspace.private)
    (site / "file.txt").symlink_to(workspace.private / "canary")
    found = Running(workspace, registry.issue("A", "Ada", "test"))
    yield found
    found.stop()


def test_a_request_that_is_sent_drop_by_drop_ends(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "HEAD_SECONDS", 0.5)
    with running.open() as found:
        begun = time.monotonic()
        try:
            for letter in b"GET / HTTP/1.1\r\nx: " + b"y" * 200:
                found.sendall(bytes([letter]))
                time.sleep(0.02)
        except OSError:
            pass
        assert everything(found) == b""
        assert time.monotonic() - begun < 4.0, "and it would have taken four seconds and more"


def test_headers_without_end(running: Running) -> None:
    many = running.raw(b"GET / HTTP/1.1\r\n" + b"x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n" * 4000)
    assert many == b"" or many[9:12] == b"400", "refused, if it is not reset while it still sends"
    told = running.raw(b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 40_000)
    assert told.startswith(b"HTTP/1.1 400")


def test_a_body_that_stops_and_one_that_breaks_off(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_body, "SILENT_SECONDS", 0.5)
    body = form(annotations(RIGHT))
    half = running.raw(running.head(len(body)) + body[:-100])
    assert half.startswith(b"HTTP/1.1 408")
    with running.open() as found:
        found.sendall(running.head(len(body)) + body[:-100])
        time.sleep(0.2)
    time.sleep(0.3)
    assert running.parts() == []
    whole = running.raw(running.head(len(body)) + body)
    assert whole.startswith(b"HTTP/1.1 201"), "the team's lock is free again"


def test_one_upload_a_team_at_a_time(running: Running) -> None:
    body = form(annotations(RIGHT))
    with running.open() as first:
        first.sendall(running.head(len(body)) + body[:-100])
        time.sleep(0.3)
        second = running.raw(running.head(len(body)) + body)
        assert second.startswith(b"HTTP/1.1 429")
        assert b'"under_way"' in second
        first.sendall(body[-100:])
        assert everything(first).startswith(b"HTTP/1.1 201")


PATHS = [
    "/../private/canary", "/site/../../private/canary", "/site/%2e%2e/%2e%2e/private/canary", "//private/canary",
    "/site/..%2f..%2fprivate/canary", "/site/..%5c..%5cprivate/canary", "/site/link/canary", "/site/file.txt",
    "/site/.hidden", "/%00", "/site/index.html%00.txt", "/site//////../../private/canary", "/private/canary",
    "/site/index.html/", "/site/link/", "/api/../private/canary", "/team/../private/canary", "/" + "a" * 9000,
    "/site/%c0%ae%c0%ae/private/canary", "/site/%252e%252e/private/canary", "http://evil.example/private/canary",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_the_public_half(running: Running, path: str) -> None:
    told = running.raw(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
    assert told[9:12] in (b"404", b"400"), told[:100]
    assert CANARY.encode() not in told
    assert b"evil" not in told.partition(b"\r\n\r\n")[0]


def test_the_public_half_is_there(running: Running) -> None:
    told = running.raw(b"GET /site HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
    assert b"location: ./site/" in told
    assert b"evil" not in told
    assert b"<title>board" in running.raw(b"GET /site/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")


@pytest.mark.parametrize("name", ["../../canary", "a\r\nset-cookie: x", '"', "\\", "x" * 4000, "é\u202e", "%00"])
def test_a_name_of_a_file_means_nothing(running: Running, name: str) -> None:
    body = form(annotations(RIGHT), name)
    told = running.raw(running.head(len(body)) + body)
    assert told[9:12] in (b"201", b"400"), told[:200]
    assert running.parts() == []
    assert {len(path.name) for path in running.workspace.files.iterdir()} == {64}


def test_two_lengths_are_none(running: Running) -> None:
    """What a proxy and a server could read differently."""
    for more in ("transfer-encoding: chunked\r\n", "content-length: 5\r\n", "content-length: -1\r\n"):
        told = running.raw(running.head(10, more) + b"0\r\n\r\nGET /")
        assert told[9:12] in (b"400", b"411", b"501", b"413") or told == b"", told[:100]


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    unsupported_method,
]


def test_the_document_is_true(running: Running) -> None:
    """Requests drawn from it, right and wrong ones: every answer is one that it names, in the form that it names."""
    with running.open() as found:
        found.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        document = json.loads(everything(found).partition(b"\r\n\r\n")[2])
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=f"http://127.0.0.1:{running.port}")
    operations: list[Any] = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    assert len(operations) == 7
    headers = {"authorization": f"Bearer {running.token}"}
    for operation in operations:
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):
            if (
                mode is schemathesis.GenerationMode.NEGATIVE
                and "{id}" not in operation.path
                and operation.method != "post"
            ):
                continue  # there is nothing in it that could be wrong

            @settings(
                max_examples=8,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def holds(case: Any) -> None:
                case.call_and_validate(headers=headers, checks=CHECKS)

            holds()
