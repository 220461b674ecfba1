"""The server of a worker's metrics: one page of text for whoever scrapes it, and nothing else."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault, UsageFault

PATHS = ("/", "/metrics")
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PATIENCE_SECONDS = 10.0


def address_of(written: str) -> tuple[str, int]:
    """HOST:PORT, the host of IPv6 in brackets."""
    host, separator, port = written.rpartition(":")
    if not (separator and host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UsageFault(f"--metrics {written}: expected HOST:PORT, such as 127.0.0.1:9464")
    return host.strip("[]"), int(port)


@contextmanager
def metrics_served(address: tuple[str, int], text: Callable[[], str]) -> Iterator[int]:
    """While this is entered; gives the port, which the machine chooses where 0 was asked for."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        """Answers GET."""

        timeout = _PATIENCE_SECONDS

        def do_GET(self) -> None:
            if self.path.partition("?")[0] not in PATHS:
                self.send_error(404)
                return
            try:
                content = text().encode()
            except Exception as fault:  # a page that cannot be made must not end the worker
                warn(f"metrics: {type(fault).__name__}")
                self.send_error(503)
                return
            self.send_response(200)
            self.send_header("Content-Type", _TYPE)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Nobody reads a line for each scrape."""

    try:
        server = ThreadingHTTPServer(address, Handler)
    except OSError as fault:
        raise InfrastructureFault(f"--metrics {address[0]}:{address[1]}: {fault.strerror}") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
