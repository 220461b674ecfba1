"""Bytes from a connection that is not trusted: every wait ends at one deadline, every read has a size."""

import socket
import time
from collections.abc import Callable

Connect = Callable[[float], socket.socket]
"""Opens a connection within so many seconds; OSError where nobody answers."""

_PIECE = 64 << 10


class ConnectionDied(Exception):
    """Nobody listened, or the connection broke before any byte of an answer."""


class Late(Exception):
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
            raise Late
        return left

    def send(self, data: bytes) -> None:
        """A server may answer and hang up before it has read everything: what it said is read all the same."""
        self.connection.settimeout(self._remaining())
        try:
            self.connection.sendall(data)
        except TimeoutError:
            raise Late from None
        except OSError:
            return

    def more(self) -> bool:
        """Wait for some bytes; False at the end of the stream."""
        self.connection.settimeout(self._remaining())
        try:
            piece = self.connection.recv(_PIECE)
        except TimeoutError:
            raise Late from None
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

    def rest(self, most: int) -> bytes:
        while self.more():
            if len(self.buffer) > most:
                raise too_long(most)
        if len(self.buffer) > most:
            raise too_long(most)
        return bytes(self.buffer)
