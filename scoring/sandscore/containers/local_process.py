"""A local process as annotator, for development: it has this user's rights, and nothing isolates it."""

import ctypes
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.transports import AddressDoor
from sandscore.records.run_record import Outcome, RunFault, RunLimits

_DIE_WITH_PARENT = 1


class LocalProcess:
    """A started command and the door to it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, limits: RunLimits) -> None:
        self._process, self._limits = process, limits
        self.door = AddressDoor("127.0.0.1", port)
        self.log = LogWatch(limits.log_kept_bytes)
        pipe = process.stdout
        if pipe is not None:
            self.log.follow(iter(lambda: os.read(pipe.fileno(), 1 << 16), b""), limits.log_bytes, self.kill)

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def alive(self) -> None:
        """Raises what ended the process, if something did."""
        if self.log.flooded:
            raise RunFault(
                Outcome.INVALID_OUTPUT, f"more than {self._limits.log_bytes:,} bytes were written to the log"
            )
        if (code := self.exit_code) is not None:
            raise RunFault(Outcome.CRASHED, f"the command ended by itself with exit code {code}")

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._process.wait()
        self.log.close()
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def local_process(command: str, limits: RunLimits) -> Iterator[LocalProcess]:
    """The command, told its port by the environment variable PORT; its whole process group ends with the run."""
    port = _free_port()
    try:
        words = shlex.split(command)
        process = subprocess.Popen(
            words,
            env=os.environ | {"PORT": str(port)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 (no thread runs yet)
        )
    except (OSError, ValueError, IndexError) as fault:
        raise UsageFault(f"the command cannot be started: {_reason(fault)}") from None
    running = LocalProcess(process, port, limits)
    try:
        yield running
    finally:
        running.close()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _reason(fault: Exception) -> str:
    if not isinstance(fault, OSError):
        return "it is empty" if isinstance(fault, IndexError) else str(fault)
    return f"{one_line(fault.filename or '')}: {(fault.strerror or 'it was refused').lower()}"
