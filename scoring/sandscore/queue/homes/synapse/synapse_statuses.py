"""Reading and changing a submission's status: whole, by etag, until it holds or is seen to be somebody else's."""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.synapse.status_record import Record, merged, read_record
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.records.submission import Status

_TRIES = 8


class Seen(Struct, frozen=True):
    """A status as it was read; ``model`` is the client's own, which remembers the etag."""

    status: Status | None
    record: Record
    cancel: bool
    annotations: Mapping[str, Any]
    model: Any

    @property
    def id(self) -> str:
        return str(self.model.id)


class Change(Struct, frozen=True):
    """What is to be written; None leaves the status as it is. An annotation whose value is None is taken away."""

    record: Record
    status: Status | None = None
    can_cancel: bool | None = None
    cancel: bool | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


Edit = Callable[[Seen], Change | None]


def seen(model: Any) -> Seen:
    """A flag left over from an earlier life of the submission is no wish to cancel."""
    found: dict[str, Any] = dict(model.submission_annotations or {})
    known = Status(model.status) if model.status in set(Status) else None
    wanted = bool(model.cancel_requested) and bool(model.can_cancel)
    return Seen(known, read_record(found), wanted, found, model)


class Statuses:
    """Writes of one process to one submission wait for each other."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def read(self, submission_id: str) -> Seen:
        """Always into a new object: an old one may keep what was never stored."""
        from synapseclient.models import SubmissionStatus

        wanted = SubmissionStatus(id=submission_id).get_async(synapse_client=self._session.client)
        return seen(await self._session.call(f"reading the status of {submission_id}", wanted))

    async def change(self, submission_id: str, edit: Edit, first: Seen | None = None) -> bool:
        """Apply ``edit`` to the latest status; False if it wants nothing written.

        ``edit`` is asked again after every 412, whoever caused it: a rival, the submitter who cancels, another tool,
        or our own write whose answer was lost, which is known by its mark.
        """
        mark = secrets.token_hex(6)
        async with self._turns[submission_id]:
            for _ in range(_TRIES):
                now, first = first or await self.read(submission_id), None
                if now.record.mark == mark:
                    return True
                wanted = edit(now)
                if wanted is None:
                    return False
                if await self._store(now, wanted, mark):
                    return True
        raise InfrastructureFault(f"Synapse: the status of {submission_id} is changed by others all the time")

    async def _store(self, now: Seen, wanted: Change, mark: str) -> bool:
        """False on a 412."""
        model, record = now.model, replace(wanted.record, mark=mark)
        if wanted.status is not None:
            model.status = str(wanted.status)
        if wanted.can_cancel is not None:
            model.can_cancel = wanted.can_cancel
        if wanted.cancel is not None:
            model.cancel_requested = wanted.cancel
        model.submission_annotations = merged(now.annotations, wanted.annotations, record)
        try:
            storing = model.store_async(synapse_client=self._session.client)
            await self._session.call(f"writing the status of {now.id}", storing)
        except Refused as fault:
            if fault.status == 412:
                return False
            raise
        return True
