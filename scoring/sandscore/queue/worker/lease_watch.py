"""Leases kept alive while their attempts go on: one clock for all attempts of a worker."""

import asyncio
from types import TracebackType

from sandscore.base.clock import uptime
from sandscore.base.errors import InfrastructureFault, SandscoreError
from sandscore.queue.home_protocol import QueueHome
from sandscore.records.submission import Claim, Signal

_MOST_SECONDS = 5.0


class Interrupted(Exception):
    """The attempt was stopped from outside: its lease is lost, its team cancels, or (None) the worker has to stop."""

    def __init__(self, signal: Signal | None) -> None:
        super().__init__()
        self.signal = signal


class LeaseWatch:
    """What is done inside is stopped, and raises ``Interrupted``, where there is a reason to."""

    def __init__(self, leases: "HeldLeases", claim: Claim) -> None:
        self.claim, self._leases = claim, leases
        self._renewed = uptime()
        self._task: asyncio.Task[object] | None = None
        self._stopped = False
        self._signal: Signal | None = None

    async def __aenter__(self) -> None:
        if self._leases.halted:
            raise Interrupted(None)
        self._task = asyncio.current_task()
        self._leases.watches[self] = None

    async def __aexit__(
        self, kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        renewing = self._leases.watches.pop(self)
        if renewing is not None:
            renewing.cancel()
        if self._stopped and self._task is not None:
            cancels = self._task.uncancel()
            if kind is asyncio.CancelledError and not cancels:
                raise Interrupted(self._signal)

    def stop(self, signal: Signal | None) -> None:
        """Once; whoever comes second is too late."""
        if self._task is not None and not self._stopped:
            self._stopped, self._signal = True, signal
            self._task.cancel()

    async def renew(self, home: QueueHome) -> None:
        """A home out of reach for a whole lease, or damaged, is a lease lost."""
        try:
            signal = await home.heartbeat(self.claim)
        except SandscoreError as fault:
            out_of_reach = isinstance(fault, InfrastructureFault)
            if not out_of_reach or uptime() - self._renewed > self.claim.lease_seconds:
                self.stop(Signal.LOST)
            return
        if signal is Signal.GO_ON:
            self._renewed = uptime()
        else:
            self.stop(signal)


class HeldLeases:
    """All watches of a worker."""

    def __init__(self, home: QueueHome, lease_seconds: float) -> None:
        self._home, self.pause = home, min(lease_seconds / 3, _MOST_SECONDS)
        self.watches: dict[LeaseWatch, asyncio.Task[None] | None] = {}
        self.halted = False

    def watching(self, claim: Claim) -> LeaseWatch:
        return LeaseWatch(self, claim)

    def halt(self) -> None:
        """Everything stops, now and from now on."""
        self.halted = True
        for watch in list(self.watches):
            watch.stop(None)

    async def beat(self) -> None:
        """For ever. A heartbeat that takes long holds up no other."""
        while True:
            await asyncio.sleep(self.pause)
            for watch, renewing in self.watches.items():
                if renewing is None or renewing.done():
                    self.watches[watch] = asyncio.ensure_future(watch.renew(self._home))
