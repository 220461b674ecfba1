"""The output of a container: counted as it comes, its end kept, cut off when there is too much of it."""

import threading
from collections.abc import Callable, Iterable
from typing import Any


class LogWatch:
    """``tail`` is the end of everything written; ``flooded`` says that the limit was passed.

    ``early`` is the end of what had come before the annotator was handed its first note: it cannot hold any of one.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._tail = bytearray()
        self._stream: Any = None
        self._thread: threading.Thread | None = None
        self._early: bytes | None = None
        self._adding = threading.Lock()
        self.bytes = 0
        self.flooded = False

    @property
    def tail(self) -> bytes:
        return bytes(self._tail[-self._kept :]) if self._kept else b""

    @property
    def early(self) -> bytes:
        return self.tail if self._early is None else self._early

    def before_notes(self) -> None:
        """From now on the annotator may hold notes. Called again it changes nothing."""
        with self._adding:
            if self._early is None:
                self._early = self.tail

    def follow(self, stream: Iterable[bytes], most: int, stop: Callable[[], None]) -> None:
        """Read a stream in the background; past ``most`` bytes call ``stop``, once, and read no further."""
        self._stream = stream
        self._thread = threading.Thread(target=self._read, args=(stream, most, stop), daemon=True)
        self._thread.start()

    def _read(self, stream: Iterable[bytes], most: int, stop: Callable[[], None]) -> None:
        """Hang up before stopping: an engine whose log nobody takes cannot end the container."""
        try:
            for piece in stream:
                self.add(piece)
                if self.bytes > most:
                    self.flooded = True
                    break
        except Exception:  # noqa: S110 (the stream is torn down under us when the container goes)
            pass
        finally:
            self._hang_up()
        if self.flooded:
            stop()

    def _hang_up(self) -> None:
        if callable(closing := getattr(self._stream, "close", None)):
            closing()

    def add(self, piece: bytes) -> None:
        with self._adding:
            self.bytes += len(piece)
            self._tail += piece
            if len(self._tail) > 2 * self._kept + (1 << 16):
                del self._tail[: -self._kept or len(self._tail)]

    def settle(self) -> None:
        """Wait for the last words of a container that has ended."""
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    def close(self) -> None:
        """Wait for the last words of a container that has ended, then hang up."""
        if self._thread is None:
            return
        self.settle()
        if self._thread.is_alive():
            self._hang_up()
            self._thread.join(timeout=2.0)
