"""A parent's side of a child process: started with a clean environment, asked, stopped, and never left behind.

What a child process inherits: an allow-list, so that no token reaches it.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Generic, TypeVar

from msgspec.json import Decoder

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.child_messages import Request, as_line

_Answer = TypeVar("_Answer")

_COMMON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "SANDSCORE_DEBUG")
_OF_THE_ENGINE = (
    *("HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"),
    *("DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"),
    *("SANDSCORE_IMAGES", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"),
)


def scorer_environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the process that sees gold and never runs anything of a participant's."""
    return {name: given[name] for name in _COMMON if name in given} | {"OPENBLAS_NUM_THREADS": "1"}


def runner_environment(given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For the process that runs containers: where the engine is, and neither gold nor tokens."""
    return {name: given[name] for name in (*_COMMON, *_OF_THE_ENGINE) if name in given}


_LINE_LIMIT = 1 << 26
_GRACE_SECONDS = 10.0
_PRIVATE_MASK, _SHOWING_MASK = 0o077, 0o022
"""What the publisher makes is to be served, what the others make is the organiser's alone."""


class Child(Generic[_Answer]):
    """One process; it is asked one thing at a time. What is not among its ``answers`` is no answer."""

    def __init__(
        self, module: str, arguments: tuple[str, ...], environment: Mapping[str, str], answers: Decoder[_Answer]
    ) -> None:
        self._answers = answers
        self._command = (sys.executable, "-P", "-m", f"sandscore.queue.children.{module}_process", *arguments)
        self._environment = dict(environment)
        self._mask = _SHOWING_MASK if module == "publisher" else _PRIVATE_MASK
        self._process: asyncio.subprocess.Process | None = None
        self._asking = asyncio.Lock()

    async def ask(self, request: Request, seconds: float) -> _Answer:
        """The answer; a child that dies, hangs or babbles is an infrastructure fault and is replaced."""
        async with self._asking:
            return await self._ask(request, seconds)

    async def _ask(self, request: Request, seconds: float) -> _Answer:
        process = await self._started()
        if process.stdin is None or process.stdout is None:
            raise InfrastructureFault("a child process has no pipes")
        try:
            process.stdin.write(as_line(request))
            await process.stdin.drain()
            line = await asyncio.wait_for(process.stdout.readline(), seconds)
            answer = self._answers.decode(line)
        except TimeoutError:
            await self.stop()
            raise InfrastructureFault(f"a child process gave no answer within {seconds:g} s") from None
        except (OSError, ValueError):
            code = await self.stop()
            raise InfrastructureFault(f"a child process ended without an answer (exit code {code})") from None
        except asyncio.CancelledError:
            await self.stop()
            raise
        return answer

    async def stop(self) -> int | None:
        """Politely, then not; waits until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return None
        if process.stdin is not None:
            process.stdin.close()
        _signal(process, signal.SIGTERM)
        try:
            return await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            return await process.wait()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    env=self._environment,
                    limit=_LINE_LIMIT,
                    start_new_session=True,
                    umask=self._mask,
                )
            except OSError as fault:
                raise InfrastructureFault(f"a child process cannot be started: {fault.strerror}") from None
        return self._process


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Not by the process's own method, which may reap it behind the event loop's back."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
