"""One HTTP request on a fresh connection, with nothing left to the good will of the other side.

One deadline covers the whole exchange, however slowly its bytes arrive; heads and bodies have a size after
which we hang up; nothing is followed, unpacked or kept for a second answer.

Bytes from a connection that is not trusted: every wait ends at one deadline, every read has a size.
"""

import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct, field

Connect = Callable[[float], socket.socket]
"""Opens a connection within so many seconds; OSError where nobody answers."""

_PIECE = 64 << 10


class ConnectionDied(Exception):
    """Nobody listened, or the connection broke before any byte of an answer."""


class DeadlinePassed(Exception):
    """The deadline passed before the answer was whole."""


class BadReply(Exception):
    """The answer is not one we accept; says why in words a participant may read."""


def too_long(most: int) -> BadReply:
    return BadReply(f"the answer is longer than the {most} bytes allowed for it")


class Stream:
    """Buffered reading in which every wait ends at the deadline."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self.connection, self.deadline = connection, deadline
        self.buffer = bytearray()
        self.heard = False

    def _remaining(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        return left

    def send(self, data: bytes) -> None:
        """A server may answer and hang up before it has read everything: what it said is read all the same."""
        self.connection.settimeout(self._remaining())
        try:
            self.connection.sendall(data)
        except TimeoutError:
            raise DeadlinePassed from None
        except OSError:
            return

    def more(self) -> bool:
        """Wait for some bytes; False at the end of the stream."""
        self.connection.settimeout(self._remaining())
        try:
            piece = self.connection.recv(_PIECE)
        except TimeoutError:
            raise DeadlinePassed from None
        except OSError as fault:
            if self.heard:
                raise BadReply("the connection broke in the middle of an answer") from None
            raise ConnectionDied(fault.strerror or type(fault).__name__) from None
        if not piece and not self.heard:
            raise ConnectionDied("the connection was closed without an answer")
        self.heard = True
        self.buffer += piece
        return bool(piece)

    def until(self, mark: bytes, most: int) -> bytes:
        """The bytes before a mark, which is taken too."""
        searched = 0
        while (at := self.buffer.find(mark, searched)) < 0:
            searched = max(0, len(self.buffer) - len(mark))
            if len(self.buffer) > most:
                raise BadReply(f"a line or the head of the answer is longer than {most} bytes")
            if not self.more():
                raise BadReply("the connection was closed in the middle of an answer's head")
        return self._take(at, len(mark))

    def exactly(self, size: int) -> bytes:
        while len(self.buffer) < size:
            if not self.more():
                raise BadReply("the connection was closed in the middle of an answer")
        return self._take(size)

    def _take(self, size: int, and_drop: int = 0) -> bytes:
        with memoryview(self.buffer) as whole:
            taken = bytes(whole[:size])
        del self.buffer[: size + and_drop]
        return taken

    def taken(self, most: int) -> bytes:
        """Some of what has come."""
        return self._take(min(most, len(self.buffer)))

    def rest(self, most: int) -> bytes:
        while self.more():
            if len(self.buffer) > most:
                raise too_long(most)
        if len(self.buffer) > most:
            raise too_long(most)
        return bytes(self.buffer)


HEAD_BYTES = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")


class Request(Struct, frozen=True):
    """What is sent; ``target`` is a path on the server."""

    method: str
    host: str
    target: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: {"Accept": "application/json"})

    def encoded(self) -> bytes:
        lines = [
            f"{self.method} {self.target} HTTP/1.1",
            f"Host: {self.host}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
            "Accept-Encoding: identity",
            "Connection: close",
        ]
        if self.body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + (self.body or b"")


class Reply(Struct, frozen=True):
    """Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(connect: Connect, request: Request, seconds: float, most_bytes: int) -> Reply:
    """The answer to a request, within a wall-clock time and a body size."""
    with _asked(connect, request, time.monotonic() + seconds) as (stream, status, headers):
        return Reply(status, headers, _body(stream, status, headers, most_bytes))


@contextmanager
def streamed(
    connect: Connect, request: Request, deadline: float, most_bytes: int
) -> Iterator[tuple[int, Mapping[str, str], Iterator[bytes]]]:
    """Status, headers and a body that is read piece by piece, all before the deadline."""
    with _asked(connect, request, deadline) as (stream, status, headers):
        yield status, headers, _pieces(stream, headers, most_bytes)


@contextmanager
def _asked(connect: Connect, request: Request, deadline: float) -> Iterator[tuple[Stream, int, dict[str, str]]]:
    try:
        connection = connect(max(0.001, deadline - time.monotonic()))
    except TimeoutError:
        raise DeadlinePassed from None
    except OSError as fault:
        raise ConnectionDied(fault.strerror or type(fault).__name__) from None
    with connection:
        stream = Stream(connection, deadline)
        stream.send(request.encoded())
        yield stream, *_head(stream)


def _head(stream: Stream) -> tuple[int, dict[str, str]]:
    """Status and headers of the final answer; interim ones count against the same size and deadline."""
    left = HEAD_BYTES
    while left > 0:
        block = stream.until(b"\r\n\r\n", left)
        left -= len(block) + 4
        first, *lines = block.split(b"\r\n")
        matched = _STATUS.fullmatch(first)
        if matched is None:
            raise BadReply("the answer does not begin with an HTTP status line")
        status = int(matched[1])
        if status >= 200:
            return status, _headers(lines)
    raise BadReply(f"more than {HEAD_BYTES} bytes of interim answers")


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        key = name.lower()
        if not colon or key != key.strip():
            raise BadReply("the answer has a header line without a name")
        if key == "content-length" and headers.get(key, value.strip()) != value.strip():
            raise BadReply("the answer announces two different lengths")
        headers[key] = value.strip()
    return headers


def _pieces(stream: Stream, headers: Mapping[str, str], most: int) -> Iterator[bytes]:
    """As they come; one that is longer than it said, or than is allowed, ends with BadReply."""
    _require_identity(headers)
    if "transfer-encoding" in headers:
        _require_chunked(headers)
        left = most
        while chunk := _chunk_size(stream.until(b"\r\n", 1024)):
            left -= chunk
            if left < 0:
                raise too_long(most)
            yield from _counted(stream, chunk)
            if stream.exactly(2) != b"\r\n":
                raise BadReply("a chunk of the answer is longer than it said")
        return
    size = _announced(headers)
    if size is not None and size > most:
        raise too_long(most)
    if size is not None:
        yield from _counted(stream, size)
        return
    left = most
    while stream.buffer or stream.more():
        piece = stream.taken(_PIECE)
        left -= len(piece)
        if left < 0:
            raise too_long(most)
        yield piece


def _counted(stream: Stream, size: int) -> Iterator[bytes]:
    while size > 0:
        if not stream.buffer and not stream.more():
            raise BadReply("the connection was closed in the middle of an answer")
        piece = stream.taken(size)
        size -= len(piece)
        yield piece


def _require_identity(headers: Mapping[str, str]) -> None:
    if headers.get("content-encoding", "identity").lower() not in ("identity", ""):
        raise BadReply("the answer is compressed, although only the identity encoding was accepted")


def _require_chunked(headers: Mapping[str, str]) -> None:
    if headers["transfer-encoding"].lower() != "chunked":
        raise BadReply("the answer has a transfer encoding other than chunked")


def _announced(headers: Mapping[str, str]) -> int | None:
    if "content-length" not in headers:
        return None
    announced = headers["content-length"]
    if not (announced.isascii() and announced.isdigit()) or len(announced) > 18:
        raise BadReply("the answer announces a length that is not a number")
    return int(announced)


def _body(stream: Stream, status: int, headers: Mapping[str, str], most: int) -> bytes:
    _require_identity(headers)
    if status in (204, 304):
        return b""
    if "transfer-encoding" in headers:
        _require_chunked(headers)
        return _chunks(stream, most)
    size = _announced(headers)
    if size is None:
        return stream.rest(most)
    if size > most:
        raise too_long(most)
    return stream.exactly(size)


def _chunks(stream: Stream, most: int) -> bytes:
    body = bytearray()
    while size := _chunk_size(stream.until(b"\r\n", 1024)):
        if len(body) + size > most:
            raise too_long(most)
        body += stream.exactly(size)
        if stream.exactly(2) != b"\r\n":
            raise BadReply("a chunk of the answer is longer than it said")
    return bytes(body)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", digits):
        raise BadReply("a chunk of the answer has no size")
    return int(digits, 16)
