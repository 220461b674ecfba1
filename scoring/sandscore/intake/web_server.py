"""The server process: uvicorn, with deadlines for whoever sends half a request, and no word of tokens anywhere."""

import asyncio
import logging
import resource
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.intake.live_events import TeamEvents
from sandscore.intake.live_queue import QueueSide
from sandscore.intake.login_throttle import LOOPBACK, networks
from sandscore.intake.team_erasure import replay_erasures
from sandscore.intake.web_application import application
from sandscore.queue.queue_layout import owner_only
from sandscore.queue.workspace import open_workspace

HEAD_SECONDS, IDLE_SECONDS, STOP_SECONDS = 20.0, 15, 10
MOST_HEAD_BYTES, MOST_CONNECTIONS = 16 << 10, 4000
_FILES = 8192


class PunctualProtocol(H11Protocol):
    """A connection whose next request must have come in whole within some seconds, however many bytes of it come."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before and self._timer is not None:
            self._timer.cancel()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._leave)

    def _leave(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


class PromptServer(uvicorn.Server):
    """A server that, told to stop, ends the streams of open pages first: nobody else would, and it waits for all."""

    def __init__(self, config: uvicorn.Config, events: TeamEvents) -> None:
        super().__init__(config)
        self._events = events

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._events.close()
        await super().shutdown(sockets)


def serve(root: Path, listen: str, public_url: str | None, proxies: Sequence[str]) -> None:
    """Until it is told to stop."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES:
        wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    with owner_only():
        server = server_of(root, listen, public_url, proxies)
        try:
            server.run()
        except SystemExit:
            raise InfrastructureFault(f"the server cannot listen on {one_line(listen)}") from None


def server_of(root: Path, listen: str, public_url: str | None, proxies: Sequence[str]) -> uvicorn.Server:
    """Ready to run; what is wrong with the queue or the options is said now."""
    host, port = _address(listen)
    secure, trusted = _is_https(public_url), networks([*LOOPBACK, *proxies])
    QueueSide(root).close()
    if forgotten := replay_erasures(open_workspace(root)):
        warn(f"{forgotten} teams that were erased had come back with a backup, and are erased again")
    door = application(root, trusted, secure=secure)
    return PromptServer(
        uvicorn.Config(
            door,
            host,
            port,
            http=PunctualProtocol,
            ws="none",
            lifespan="on",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            log_config=None,
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=MOST_HEAD_BYTES,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        ),
        door.events,
    )


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UsageFault(f"--listen {one_line(listen)}: written HOST:PORT, as 127.0.0.1:8000")
    return host.strip("[]"), int(port)


def _is_https(public_url: str | None) -> bool:
    if public_url is None:
        return False
    said = urlsplit(public_url)
    if said.scheme not in ("http", "https") or not said.hostname or said.path.strip("/"):
        raise UsageFault(f"--public-url {one_line(public_url)}: written https://HOST, without a path")
    return said.scheme == "https"
