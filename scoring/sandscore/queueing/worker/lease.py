"""A lease kept alive while its attempt goes on."""

import asyncio

from sandscore.queueing.interface import QueueHome
from sandscore.queueing.submission import Claim, Signal
from sandscore.queueing.times import uptime
from sandscore.records.errors import InfrastructureFault

_MOST_SECONDS = 5.0


async def keep(home: QueueHome, claim: Claim) -> Signal:
    """Heartbeats until there is a reason to stop: CANCEL or LOST. A home out of reach for a whole lease is LOST."""
    renewed = uptime()
    while True:
        await asyncio.sleep(min(claim.lease_seconds / 3, _MOST_SECONDS))
        try:
            signal = await home.heartbeat(claim)
        except InfrastructureFault:
            if uptime() - renewed > claim.lease_seconds:
                return Signal.LOST
            continue
        if signal is not Signal.GO_ON:
            return signal
        renewed = uptime()
