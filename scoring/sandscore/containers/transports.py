"""Ways to a server: over an address, or from inside a container's own network, which nothing else can enter."""

import ctypes
import os
import socket
import ssl
import sys
import weakref
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from sandscore.base.errors import UsageFault

BASE_PATH = "/api/v1"
PORT = 8080
_NEW_NETWORK = 0x40000000


class Door(Protocol):
    """``enter`` is called once in every thread that is going to ``connect``."""

    @property
    def host(self) -> str: ...

    @property
    def base(self) -> str: ...

    def enter(self) -> None: ...

    def connect(self, seconds: float) -> socket.socket: ...


class AddressDoor(Struct, frozen=True):
    """A server at an address that this process can reach."""

    address: str
    port: int
    base: str = BASE_PATH
    secure: bool = False

    @property
    def host(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"

    def enter(self) -> None:
        """Nothing to enter."""

    def connect(self, seconds: float) -> socket.socket:
        return self.secured(socket.create_connection((self.address, self.port), timeout=seconds))

    def secured(self, plain: socket.socket) -> socket.socket:
        """The connection, inside TLS where that is due."""
        if not self.secure:
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=self.address)


class NamespaceDoor(Struct, frozen=True, weakref=True):
    """The loopback inside a network namespace; threads that enter it never come back.

    The descriptor is closed when the last of them lets go of the door: closed sooner, its number might lead a
    thread that starts late into another container.
    """

    descriptor: int
    port: int = PORT
    base: str = BASE_PATH

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __post_init__(self) -> None:
        weakref.finalize(self, os.close, self.descriptor)

    def enter(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(self.descriptor, _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "entering the container's network")

    def connect(self, seconds: float) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)


def url_door(url: str) -> AddressDoor:
    """The door to a server somebody runs; the NLP Sandbox base path where the URL has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or not plain:
        raise UsageFault(f"'{url}' is not a server's address; write http://host:port or http://host:port{BASE_PATH}")
    secure = parts.scheme == "https"
    return AddressDoor(parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/") or BASE_PATH, secure)


def may_enter_namespaces() -> bool:
    """Whether this process may enter the network of a container of an engine on this machine."""
    if sys.platform != "linux" or os.environ.get("DOCKER_HOST", "unix://").partition(":")[0] != "unix":
        return False
    effective = next(
        (line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line[:7] == "CapEff:"),
        "0",
    )
    return bool(int(effective, 16) >> 21 & 1)


def open_namespace(path: str) -> int | None:
    """A descriptor of a container's network namespace; None where it is not one we can enter, or our own."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    if os.fstat(descriptor).st_ino == os.stat("/proc/self/ns/net").st_ino:  # noqa: PTH116 (a magic link)
        os.close(descriptor)
        return None
    return descriptor
