"""One request to servers that behave in every way but the right one: each is cut off by time or size, and named."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandscore.containers.http_exchange import BadReply, ConnectionDied, DeadlinePassed, Reply, Request, exchange

MOST = 1000
OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def server(act: Callable[[socket.socket], None]) -> Iterator[Callable[[float], socket.socket]]:
    """Listens, reads one request and then acts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                try:
                    act(connection)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield lambda seconds: socket.create_connection(listener.getsockname(), timeout=seconds)
        thread.join(5)


def ask(act: Callable[[socket.socket], None], seconds: float = 5.0) -> Reply:
    with server(act) as connect:
        return exchange(connect, Request("GET", "localhost", "/"), seconds, MOST)


@pytest.mark.parametrize(
    ("said", "body"),
    [
        pytest.param(OK + b"Content-Length: 4\r\n\r\ntrue", b"true", id="announced length"),
        pytest.param(OK + b"Content-Length: 4\r\n\r\ntrueHTTP/1.1 200 OK", b"true", id="a second answer is not read"),
        pytest.param(OK + b"\r\ntrue", b"true", id="until the end of the connection"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\ntru\r\n1;x=y\r\ne\r\n0\r\n\r\n", b"true", id="chunks"
        ),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"content-LENGTH:  4 \r\n\r\ntrue",
            b"true",
            id="interim answer first",
        ),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", b"", id="no content"),
        pytest.param(b"HTTP/1.0 500 \r\n\r\n", b"", id="status without a phrase"),
    ],
)
def test_accepts(said: bytes, body: bytes) -> None:
    assert ask(lambda connection: connection.sendall(said)).body == body


@pytest.mark.parametrize(
    ("said", "why"),
    [
        pytest.param(OK + b"Content-Length: 1001\r\n\r\n", "longer than the 1000 bytes", id="announces too much"),
        pytest.param(OK + b"Content-Length: 9" + b"9" * 40 + b"\r\n\r\n", "not a number", id="announces 41 digits"),
        pytest.param(OK + b"Content-Length: -1\r\n\r\n", "not a number", id="announces less than nothing"),
        pytest.param(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two different", id="two lengths"),
        pytest.param(OK + b"\r\n" + b"x" * 1001, "longer than the 1000 bytes", id="sends too much"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n3e9\r\n", "longer than", id="a large chunk"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n", "no size", id="a negative chunk"),
        pytest.param(
            OK
            + b"Transfer-Encoding: chunked\r\n\r\n"
            + b"fa\r\n"
            + b"x" * 250
            + b"\r\n" * 1
            + (b"fa\r\n" + b"x" * 250 + b"\r\n") * 4,
            "longer than",
            id="many chunks",
        ),
        pytest.param(OK + b"Transfer-Encoding: gzip\r\n\r\n", "transfer encoding", id="another transfer encoding"),
        pytest.param(OK + b"Content-Encoding: gzip\r\n\r\n", "compressed", id="compressed"),
        pytest.param(OK + b"X: " + b"y" * (65 << 10), "longer than 65536", id="endless head"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" * 3000, "interim", id="endless interim answers"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "status line", id="another protocol"),
        pytest.param(OK + b"no colon\r\n\r\n", "without a name", id="a header that is none"),
        pytest.param(OK + b"Content-Length: 4\r\n\r\ntr", "middle", id="breaks off in the body"),
        pytest.param(OK[:9], "middle", id="breaks off in the head"),
    ],
)
def test_refuses(said: bytes, why: str) -> None:
    with pytest.raises(BadReply, match=why):
        ask(lambda connection: connection.sendall(said))


def drip(what: bytes) -> Callable[[socket.socket], None]:
    def act(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: 900\r\n\r\n" if what == b"x" else b"")
        for _ in range(200):
            connection.sendall(what)
            time.sleep(0.02)

    return act


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda _: time.sleep(1), id="says nothing"),
        pytest.param(drip(b"x"), id="drips its body"),
        pytest.param(drip(b"H"), id="drips its head"),
        pytest.param(drip(b"HTTP/1.1 100 Continue\r\n\r\n"), id="drips interim answers"),
    ],
)
def test_one_deadline_for_all(act: Callable[[socket.socket], None]) -> None:
    begun = time.monotonic()
    with pytest.raises(DeadlinePassed):
        ask(act, seconds=0.3)
    assert time.monotonic() - begun < 6


def test_a_connection_that_dies_before_an_answer_is_told_apart() -> None:
    with pytest.raises(ConnectionDied):
        ask(lambda connection: connection.close())


def test_nobody_listens() -> None:
    def refused(_: float) -> socket.socket:
        raise ConnectionRefusedError(111, "Connection refused")

    with pytest.raises(ConnectionDied, match="refused"):
        exchange(refused, Request("GET", "localhost", "/"), 1.0, MOST)


def test_an_answer_given_before_the_request_was_read_is_read() -> None:
    """A server may refuse a large note at once and hang up."""

    def act(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass

    with server(act) as connect:
        reply = exchange(connect, Request("POST", "localhost", "/", b"x" * (1 << 20)), 5.0, MOST)
    assert reply.status == 413


def test_the_request_as_it_is_sent() -> None:
    assert Request("POST", "h:1", "/p", b"{}").encoded() == (
        b"POST /p HTTP/1.1\r\nHost: h:1\r\nAccept: application/json\r\nAccept-Encoding: identity\r\n"
        b"Connection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )


PIECES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.1 100 Continue",
        b"\r\n",
        b"\r\n\r\n",
        b"Content-Length: 3",
        b"Content-Length:",
        b"abc",
        b"Transfer-Encoding: chunked",
        b"3\r\nabc\r\n",
        b"0\r\n\r\n",
        b"ffffffffffffff\r\n",
        b"\x00",
        b"\xff",
        b": ",
        b"-1",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES | st.binary(max_size=6), max_size=12))
def test_whatever_is_said_ends_in_an_answer_or_in_one_of_three_faults(said: list[bytes]) -> None:
    near, far = socket.socketpair()
    with far:
        far.sendall(b"".join(said))
        far.shutdown(socket.SHUT_WR)
        try:
            reply = exchange(lambda _: near, Request("GET", "h", "/"), 5.0, MOST)
        except (BadReply, ConnectionDied):
            return
        assert 200 <= reply.status < 600
        assert len(reply.body) <= MOST
