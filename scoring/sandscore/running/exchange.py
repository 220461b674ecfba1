"""One HTTP request on a fresh connection, with nothing left to the good will of the other side.

One deadline covers the whole exchange, however slowly its bytes arrive; heads and bodies have a size after
which we hang up; nothing is followed, unpacked or kept for a second answer.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandscore.running.wire import BadReply, Connect, ConnectionDied, Late, Stream, too_long

HEAD_BYTES = 64 << 10
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent; ``target`` is a path on the server."""

    method: str
    host: str
    target: str
    body: bytes | None = None

    def encoded(self) -> bytes:
        lines = [
            f"{self.method} {self.target} HTTP/1.1",
            f"Host: {self.host}",
            "Accept: application/json",
            "Accept-Encoding: identity",
            "Connection: close",
        ]
        if self.body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join([*lines, "", ""]).encode("ascii") + (self.body or b"")


@dataclass(frozen=True, slots=True)
class Reply:
    """Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(connect: Connect, request: Request, seconds: float, most_bytes: int) -> Reply:
    """The answer to a request, within a wall-clock time and a body size."""
    deadline = time.monotonic() + seconds
    try:
        connection = connect(seconds)
    except TimeoutError:
        raise Late from None
    except OSError as fault:
        raise ConnectionDied(fault.strerror or type(fault).__name__) from None
    with connection:
        stream = Stream(connection, deadline)
        stream.send(request.encoded())
        status, headers = _head(stream)
        return Reply(status, headers, _body(stream, status, headers, most_bytes))


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


def _body(stream: Stream, status: int, headers: Mapping[str, str], most: int) -> bytes:
    encoding = headers.get("content-encoding", "identity").lower()
    if encoding not in ("identity", ""):
        raise BadReply("the answer is compressed, although only the identity encoding was accepted")
    if status in (204, 304):
        return b""
    if "transfer-encoding" in headers:
        if headers["transfer-encoding"].lower() != "chunked":
            raise BadReply("the answer has a transfer encoding other than chunked")
        return _chunks(stream, most)
    if "content-length" not in headers:
        return stream.rest(most)
    announced = headers["content-length"]
    if not (announced.isascii() and announced.isdigit()) or len(announced) > 18:
        raise BadReply("the answer announces a length that is not a number")
    if int(announced) > most:
        raise too_long(most)
    return stream.exactly(int(announced))


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
