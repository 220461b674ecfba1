"""One connection to Synapse: endpoints and token from the configuration file, every call bounded in time.

The client's cache: of one process alone, because the client breaks another's lock on a shared one after seconds.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar

from sandscore import __version__
from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault, UsageFault
from sandscore.base.process_identity import boot, gone, own_name
from sandscore.queue.homes.synapse.synapse_errors import Refused, told
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.queue_layout import private_path, steady

if TYPE_CHECKING:
    from sandscore.queue.homes.synapse.account_budget import AccountBudget

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
        except OSError:  # a disk that is full, or not ours to write, keeps nobody from looking
            return _elsewhere(folder)


def _elsewhere(folder: Path) -> Path:
    try:
        return Path(mkdtemp(prefix="sandscore-synapse-"))
    except OSError as fault:
        raise InfrastructureFault(f"{folder} cannot be written: {fault.strerror}") from None


def in_use(state: Path) -> bool:
    """Whether a process that may still be there has a cache of its own. None outlives a start of the machine."""
    folder = private_path(state, FOLDER)
    owners = [_owner(cache) for cache in folder.iterdir()] if folder.is_dir() else []
    return any(owner.startswith(boot()) and not gone(owner) for owner in owners)


def _owner(cache: Path) -> str:
    return cache.name.partition(_END)[0].replace(_SLASH, "/")


T = TypeVar("T")
CONFIG = Path("~/.synapseConfig")
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 10.0
_MOST_REFUSALS = 5


class Session:
    """``client`` is the one ``Synapse`` of this process; it is made, used and closed in one event loop."""

    def __init__(self, config: Path | None, state: Path, options: SynapseOptions) -> None:
        self._config, self._state, self._options = config, state, options
        self._cache: Path | None = None
        self._client: Any = None
        self._http: list[Any] = []
        self._budget: AccountBudget | None = None
        self._forbidden = 0
        self.refusal: Callable[[], Awaitable[str | None]] | None = None
        """What the account may no longer do, where the service refuses what a worker lives on."""

    @property
    def budget(self) -> "AccountBudget":
        """Shared with all other processes that have this state."""
        from sandscore.queue.homes.synapse.account_budget import FOLDER as BUDGET
        from sandscore.queue.homes.synapse.account_budget import AccountBudget

        if self._budget is None:
            shared = self._options.budget
            folder = Path(shared) if shared else private_path(self._state, BUDGET)
            self._budget = AccountBudget(folder, self._options.requests_per_minute)
        return self._budget

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
        from sandscore.queue.homes.synapse.account_budget import Lane

        path = (self._config or CONFIG).expanduser()
        if self._config is not None and not path.is_file():
            raise MissingFile(f"there is no Synapse configuration at {path}")
        self._cache = new_cache(self._state)
        client = self._make(path)
        try:
            await self.budget.turn(Lane.REQUEST)
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
        from sandscore.queue.homes.synapse.account_budget import CONNECTIONS, BudgetTransport

        inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=CONNECTIONS))
        paced = BudgetTransport(self.budget, inner)
        session = httpx.AsyncClient(transport=paced, timeout=httpx.Timeout(60.0, pool=None))
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

    async def vital(self, what: str, work: Awaitable[T]) -> T:
        """A call without which no worker can go on. What is refused for good ends it: asking for ever mends nothing."""
        try:
            answer = await self.call(what, work)
        except Refused as fault:
            if fault.status in (401, 403):
                await self._forbid(fault)
            raise
        self._forbidden = 0
        return answer

    async def _forbid(self, fault: Refused) -> None:
        """A refusal that is explained by what the account may do, or that comes again and again, is for good."""
        self._forbidden += 1
        missing = None
        if "scope" in str(fault):
            missing = str(fault)
        elif self.refusal is not None:
            missing = await self.refusal()
        if missing is None and self._forbidden >= _MOST_REFUSALS:
            missing = f"{fault}, {self._forbidden} times in a row"
        if missing is not None:
            raise OrganiserFault(f"{missing}; sandscore doctor says what the worker's account needs") from None
        await asyncio.sleep(self._forbidden * _FIRST_WAIT)

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
