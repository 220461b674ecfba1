"""A registry of a test's own: serves an image made in memory, well or in the ways that a hostile one would find."""

import gzip
import hashlib
import io
import json
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Page = tuple[int, dict[str, str], bytes]
Script = Callable[["StandinRegistry", BaseHTTPRequestHandler], bool]
"""Answers a request in its own way; False leaves it to the registry."""


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def layer_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


class MadeImage:
    """An image of some layers, each given as it is and as it travels."""

    def __init__(self, *layers: tuple[bytes, bytes], **changed: Any) -> None:
        told = {"diff_ids": [sha256(plain) for plain, _ in layers], "type": "layers"}
        config = {"architecture": "amd64", "os": "linux", "rootfs": told, "config": {"Cmd": ["/start"]}}
        self.config = json.dumps(config).encode()
        self.layers = {sha256(packed): packed for _, packed in layers}
        described = [{"digest": sha256(packed), "size": len(packed)} for _, packed in layers]
        self.document: dict[str, Any] = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
            "config": {"digest": sha256(self.config), "size": len(self.config)},
            "layers": described,
        } | changed

    @property
    def manifest(self) -> bytes:
        return json.dumps(self.document).encode()

    @property
    def digest(self) -> str:
        return sha256(self.manifest)


def usual_image() -> MadeImage:
    plain = layer_of({"start": b"#!/bin/sh\n", "data": bytes(3_000_000)})
    return MadeImage((plain, gzip.compress(plain, mtime=0)))


class StandinRegistry:
    """``asked`` are the paths that were asked for, with what was said of who asks."""

    def __init__(self, image: MadeImage, script: Script | None) -> None:
        self.image, self._script = image, script
        self.asked: list[tuple[str, str | None]] = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                registry.asked.append((self.path, self.headers.get("Authorization")))
                with suppress(OSError):
                    if registry._script is None or not registry._script(registry, self):
                        send(self, *registry.page(self.path))

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.host = f"127.0.0.1:{self.server.server_address[1]}"

    @property
    def reference(self) -> str:
        return f"{self.host}/team/tool@{self.image.digest}"

    def page(self, path: str) -> Page:
        name = path.rpartition("/")[2]
        if path == f"/v2/team/tool/manifests/{self.image.digest}":
            return 200, {"Content-Type": self.image.document["mediaType"]}, self.image.manifest
        found = {sha256(self.image.config): self.image.config, **self.image.layers}.get(name)
        return (404, {}, b"") if found is None else (200, {}, found)


def send(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], body: bytes) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def standin_registry(image: MadeImage | None = None, script: Script | None = None) -> Iterator[StandinRegistry]:
    registry = StandinRegistry(image or usual_image(), script)
    thread = threading.Thread(target=registry.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        registry.server.shutdown()
        registry.server.server_close()


def drips(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.end_headers()
    for _byte in range(10_000):
        handler.wfile.write(b"{")
        time.sleep(0.02)
    return True


def silent(_: StandinRegistry, _handler: BaseHTTPRequestHandler) -> bool:
    time.sleep(30)
    return True


def endless(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    """A layer that does not end, and says so to nobody."""
    if "/blobs/" not in handler.path:
        return False
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 16))


def broken(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    send(handler, 500, {}, b"")
    return True


def other_layer(registry: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    """As long as the one that was asked for, and another."""
    status, headers, body = registry.page(handler.path)
    if handler.path.rpartition("/")[2] not in registry.image.layers:
        return False
    send(handler, status, headers, bytes(len(body)))
    return True


def short_layer(registry: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    status, headers, body = registry.page(handler.path)
    if handler.path.rpartition("/")[2] not in registry.image.layers:
        return False
    send(handler, status, headers, body[:-1])
    return True


def redirecting(where: str) -> Script:
    """Sends for layers elsewhere."""

    def script(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
        if "/blobs/" not in handler.path:
            return False
        send(handler, 307, {"Location": where + handler.path}, b"")
        return True

    return script


def in_circles(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
    send(handler, 302, {"Location": handler.path}, b"")
    return True


def asks_for_a_token(realm: str) -> Script:
    """The token is "good"; who has no right to it is told by the realm."""

    def script(_: StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
        if handler.path.startswith("/token"):
            known = handler.headers.get("Authorization") == "Basic dXM6c2VjcmV0"  # us:secret
            send(handler, 200 if known else 401, {}, b'{"token": "good"}' if known else b"{}")
            return True
        if handler.headers.get("Authorization") != "Bearer good":
            words = f'Bearer realm="{realm}",service="registry",scope="repository:team/tool:pull"'
            send(handler, 401, {"WWW-Authenticate": words}, b"")
            return True
        return False

    return script
