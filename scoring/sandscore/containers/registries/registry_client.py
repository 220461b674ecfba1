"""Questions to a registry, by rules that it cannot loosen.

Only listed hosts are contacted, also where it redirects or sends for a token; what is not on this machine speaks TLS;
one deadline covers everything; nothing is read beyond the size that was announced.
"""

import base64
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlencode, urljoin, urlsplit

import msgspec
from msgspec import Struct

from sandscore.containers.http_exchange import BadReply, ConnectionDied, DeadlinePassed, Request, streamed
from sandscore.containers.registries.registry_list import on_this_machine
from sandscore.containers.transports import AddressDoor

Credentials = Callable[[str], tuple[str, str] | None]
"""The login of the account for a registry, where there is one."""
_MOST_REDIRECTS = 5
_TOKEN_BYTES = 256 << 10
_TOKEN_SECONDS = 45.0
"""Registries give tokens for a minute at least: the specification says so."""
_REDIRECTS = (301, 302, 303, 307, 308)
_CHALLENGE = re.compile(r'(\w+)="([^"\r\n]*)"')


class RegistryFailed(Exception):
    """The registry did not do what it should; says what, and quotes nothing of it."""


class NotThere(Exception):
    """The registry has no such thing, or does not let us have it."""


class RegistryAnswer(Struct, frozen=True):
    """``pieces`` are read once, while the connection is open."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


class RegistryClient:
    """Asks one registry about one repository, until a deadline."""

    def __init__(
        self, host: str, repository: str, allowed: frozenset[str], deadline: float, login: Credentials
    ) -> None:
        self._host, self._repository, self._allowed = host, repository, allowed
        self._deadline, self._login = deadline, login
        self._refused: str | None = None
        """How the registry asks who we are, once it has."""
        self._authorization: str | None = None
        self._renewed = 0.0

    def read(self, path: str, most: int, accept: str) -> bytes:
        """A small thing, whole."""
        with self.opened(path, most, accept) as pieces:
            return b"".join(pieces)

    @contextmanager
    def opened(self, path: str, most: int, accept: str = "*/*") -> Iterator[Iterator[bytes]]:
        """The bytes of ``path`` in this repository: ``manifests/…`` or ``blobs/…``."""
        url = f"{_scheme(self._host)}://{self._host}/v2/{self._repository}/{path}"
        with _told(self._host):
            if self._refused is None:
                with self._asked(url, accept, most) as answer:
                    if answer.status != 401:
                        _require_good(answer.status)
                        yield answer.pieces
                        return
                    self._refused = answer.headers.get("www-authenticate", "")
            if self._authorization is None or time.monotonic() > self._renewed + _TOKEN_SECONDS:
                self._authorization, self._renewed = self._authorized(self._refused), time.monotonic()
            with self._asked(url, accept, most) as answer:
                _require_good(answer.status)
                yield answer.pieces

    def _authorized(self, challenge: str) -> str:
        login = self._login(self._host)
        basic = "Basic " + base64.b64encode(":".join(login).encode()).decode() if login else None
        kind, _, rest = challenge.partition(" ")
        if kind.lower() == "basic" and basic:
            return basic
        if kind.lower() != "bearer":
            raise NotThere
        wanted = dict(_CHALLENGE.findall(rest))
        question = {"service": wanted.get("service", ""), "scope": f"repository:{self._repository}:pull"}
        url = f"{wanted.get('realm', '')}?{urlencode(question)}"
        with self._once(url, "application/json", basic, _TOKEN_BYTES) as answer:
            _require_good(answer.status)
            return f"Bearer {_token(b''.join(answer.pieces))}"

    @contextmanager
    def _asked(self, url: str, accept: str, most: int) -> Iterator[RegistryAnswer]:
        """Past redirects; who we are is told to the registry itself and to nobody else."""
        for _ in range(_MOST_REDIRECTS):
            known = self._authorization if urlsplit(url).netloc == self._host else None
            with self._once(url, accept, known, most) as answer:
                if answer.status not in _REDIRECTS:
                    yield answer
                    return
                url = _joined(url, answer.headers.get("location", ""))
        raise RegistryFailed(f"it redirects more than {_MOST_REDIRECTS} times")

    @contextmanager
    def _once(self, url: str, accept: str, authorization: str | None, most: int) -> Iterator[RegistryAnswer]:
        door, target = self._door(url)
        headers = {"Accept": accept} | ({"Authorization": authorization} if authorization else {})
        with _Watch(self._deadline) as watch:
            request = Request("GET", door.host, target, None, headers)
            with streamed(lambda seconds: watch.connect(door, seconds), request, self._deadline, most) as answer:
                yield RegistryAnswer(*answer)

    def _door(self, url: str) -> tuple[AddressDoor, str]:
        """The way to a URL, if it leads to a listed host in the way that is due to it."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise RegistryFailed("it names an address that is none") from None
        if parts.netloc not in self._allowed:
            raise RegistryFailed("it sends us to a host that [images] registries does not list")
        if parts.scheme != _scheme(parts.netloc) or not parts.hostname:
            raise RegistryFailed("it sends us to an address without TLS")
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        if not target.isascii() or not target.isprintable() or " " in target:
            raise RegistryFailed("it names an address that is none")
        secure = parts.scheme == "https"
        return AddressDoor(parts.hostname, port or (443 if secure else 80), "", secure), target


class _Watch:
    """Hangs up at the deadline, whatever a connection is busy with: a handshake has no clock of its own."""

    def __init__(self, deadline: float) -> None:
        self._timer = threading.Timer(max(0.0, deadline - time.monotonic()), self._hang_up)
        self._timer.daemon = True
        self._connection: socket.socket | None = None
        self._late = False

    def __enter__(self) -> "_Watch":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Hung up by us, an answer looks as if it had come to its end."""
        self._timer.cancel()
        if self._late:
            raise DeadlinePassed

    def connect(self, door: AddressDoor, seconds: float) -> socket.socket:
        self._connection = socket.create_connection((door.address, door.port), timeout=seconds)
        self._connection = door.secured(self._connection)
        return self._connection

    def _hang_up(self) -> None:
        self._late = True
        try:
            if self._connection is not None:
                self._connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


@contextmanager
def _told(host: str) -> Iterator[None]:
    try:
        yield
    except DeadlinePassed:
        raise RegistryFailed("it did not give the image in the time allowed") from None
    except ConnectionDied as fault:
        raise RegistryFailed(f"{host} does not answer ({fault})") from None
    except BadReply as fault:
        raise RegistryFailed(str(fault)) from None


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise RegistryFailed("it names an address that is none") from None


def _scheme(host: str) -> str:
    return "http" if on_this_machine(host) else "https"


def _require_good(status: int) -> None:
    if status in (401, 403, 404):
        raise NotThere
    if status != 200:
        raise RegistryFailed(f"it answered with status {status}")


class _Token(Struct, frozen=True):
    token: str | None = None
    access_token: str | None = None


def _token(body: bytes) -> str:
    try:
        told = msgspec.json.decode(body, type=_Token)
    except (msgspec.MsgspecError, ValueError):
        told = _Token()
    token = told.token or told.access_token or ""
    if not re.fullmatch(r"[!-~]{1,65536}", token):
        raise RegistryFailed("it gave no token")
    return token
