"""One connection to Synapse: endpoints and token from the configuration file, every call bounded in time.

The client's cache: of one process alone, because the client breaks another's lock on a shared one after seconds.

Never more requests than the service allows an account, and none while it asks for a pause.
"""

import asyncio
import datetime
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeVar

from sandscore import __version__
from sandscore.base.clock import utc_now
from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault, UsageFault
from sandscore.base.process_identity import boot, gone, own_name
from sandscore.queue.homes.synapse.synapse_errors import Refused, told
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.queue_layout import private_path, steady

FOLDER = "synapse-cache"
_SLASH, _END = "_", "+"


def new_cache(state: Path) -> Path:
    """A folder named after this process; those of processes that are gone are removed."""
    with steady(state):
        folder = private_path(state, FOLDER)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for other in folder.iterdir():
                if gone(_owner(other)):
                    rmtree(other, ignore_errors=True)
            return Path(mkdtemp(dir=folder, prefix=own_name().replace("/", _SLASH) + _END))
        except OSError as fault:
            raise InfrastructureFault(f"{folder} cannot be written: {fault.strerror}") from None


def in_use(state: Path) -> bool:
    """Whether a process that may still be there has a cache of its own. None outlives a start of the machine."""
    folder = private_path(state, FOLDER)
    owners = [_owner(cache) for cache in folder.iterdir()] if folder.is_dir() else []
    return any(owner.startswith(boot()) and not gone(owner) for owner in owners)


def _owner(cache: Path) -> str:
    return cache.name.partition(_END)[0].replace(_SLASH, "/")


_THROTTLED = (429, 503)
_LONGEST_SECONDS = 120.0


class RequestPace:
    """Requests of the last minute; a request over the limit waits until the oldest is a minute old."""

    def __init__(self, per_minute: int) -> None:
        self._times: deque[float] = deque(maxlen=per_minute)
        self._turn = asyncio.Lock()
        self._quiet_until = 0.0

    async def wait(self, _request: Any = None) -> None:
        """To be called before each request; those that wait go in the order they came."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := self._quiet_until - clock()) > 0:
                await asyncio.sleep(left)
            if len(self._times) == self._times.maxlen:
                await asyncio.sleep(max(0.0, self._times[0] + 60.0 - clock()))
            self._times.append(clock())

    async def heed(self, answer: Any) -> None:
        """To be called after each answer: the client itself does not read how long it should wait."""
        if answer.status_code in _THROTTLED:
            seconds = min(_seconds(answer.headers.get("Retry-After", "")), _LONGEST_SECONDS)
            self._quiet_until = max(self._quiet_until, asyncio.get_running_loop().time() + seconds)


def _seconds(written: str) -> float:
    """Retry-After is a number of seconds, or a date; whatever else it may be asks for nothing."""
    if written.strip().isdecimal():
        return float(written)
    try:
        moment = parsedate_to_datetime(written)
    except ValueError:
        return 0.0
    return (moment.replace(tzinfo=moment.tzinfo or datetime.UTC) - utc_now()).total_seconds()


T = TypeVar("T")
CONFIG = Path("~/.synapseConfig")
CONNECTIONS = 3
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 10.0


class Session:
    """``client`` is the one ``Synapse`` of this process; it is made, used and closed in one event loop."""

    def __init__(self, config: Path | None, state: Path, options: SynapseOptions) -> None:
        self._config, self._state, self._options = config, state, options
        self._cache: Path | None = None
        self._client: Any = None
        self._http: list[Any] = []

    @property
    def client(self) -> Any:
        if self._client is None:
            raise InfrastructureFault("Synapse: not connected")
        return self._client

    @property
    def plain_http(self) -> bool:
        """Whether the services themselves are reached without TLS, as on a machine of one's own."""
        return bool(self.client.repoEndpoint.startswith("http://"))

    async def connect(self) -> None:
        """Log in; a missing file or a token that is not accepted is the organiser's to mend."""
        if self._client is not None:
            return
        _want_packages()
        path = (self._config or CONFIG).expanduser()
        if self._config is not None and not path.is_file():
            raise MissingFile(f"there is no Synapse configuration at {path}")
        self._cache = new_cache(self._state)
        client = self._make(path)
        try:
            await self.call("logging in", asyncio.to_thread(client.login, silent=True))
        except Refused as fault:
            await self.close()
            if fault.status in (401, 403):
                raise OrganiserFault(
                    f"Synapse accepts no token from {path} or SYNAPSE_AUTH_TOKEN; it needs view, modify and download"
                ) from None
            raise
        except InfrastructureFault:
            await self.close()
            raise
        self._client = client

    def _make(self, path: Path) -> Any:
        import httpx
        import requests
        from synapseclient import Synapse

        _bound_retries(self._options.retry_seconds)
        limits = httpx.Limits(max_connections=CONNECTIONS)
        pace = RequestPace(self._options.requests_per_minute)
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [pace.wait], "response": [pace.heed]}
        session = httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(60.0, pool=None), event_hooks=hooks)
        storage, plain = httpx.Client(timeout=60.0), requests.Session()
        self._http = [session, storage, plain]
        client = Synapse(
            configPath=str(path),
            skip_checks=True,
            silent=True,
            debug=False,
            cache_client=False,
            cache_root_dir=str(self._cache),
            requests_session=plain,
            requests_session_storage=storage,
            requests_session_async_synapse=session,
            asyncio_event_loop=asyncio.get_running_loop(),
            user_agent=f"sandscore/{__version__}",
            http_timeout_seconds=60,
        )
        client.logger = _silence()
        return client

    async def close(self) -> None:
        """Let go of every connection; safe to call twice."""
        held, self._http, self._client = self._http, [], None
        if self._cache is not None:
            rmtree(self._cache, ignore_errors=True)
        for at, session in enumerate(held):
            if at == 0:
                await session.aclose()
            else:
                session.close()

    async def call(self, what: str, work: Awaitable[T], seconds: float | None = None) -> T:
        """The answer, or one of our own errors that names what was being done."""
        bound = seconds or self._options.call_seconds
        with told(what, bound):
            return await asyncio.wait_for(work, bound)

    async def made(self, what: str, make: Callable[[], Awaitable[T]]) -> T:
        """Of something that is found by its name if it is there: 409 where an answer was lost, or a rival was first."""
        try:
            return await self.call(what, make())
        except Refused as fault:
            if fault.status != 409:
                raise
        return await self.call(what, make())


def _want_packages() -> None:
    missing = [name for name in ("synapseclient", "pandas") if find_spec(name) is None]
    if missing:
        raise UsageFault(f"a Synapse queue needs {' and '.join(missing)}: pip install 'sandscore[synapse]'")


def _bound_retries(seconds: float) -> None:
    """The client repeats a call for 20 minutes, beginning after a thousandth of a second: neither serves a queue."""
    from synapseclient import client

    client.STANDARD_RETRY_ASYNC_PARAMS["retry_max_wait_before_failure"] = seconds
    client.STANDARD_RETRY_ASYNC_PARAMS["retry_base_wait"] = _FIRST_WAIT
    client.STANDARD_RETRY_ASYNC_PARAMS["retry_max_back_off"] = _LONGEST_WAIT
    client.STANDARD_RETRY_PARAMS["retries"] = 6


def _silence() -> logging.Logger:
    """What the client would log names files, addresses and headers."""
    for name in ("httpx", "httpcore", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logger = logging.getLogger("sandscore.silent")
    logger.disabled = True
    logger.propagate = False
    return logger
