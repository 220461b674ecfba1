"""Reading and changing a submission's status: whole, by etag, until it holds or is seen to be somebody else's.

Statuses go over the wire as they came: what other tools wrote keeps its type, whatever the client makes of it.
"""

import asyncio
import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.synapse.status_record import Record, merged, plain, read_record, typed
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.records.submission import Status

_TRIES = 8


class Seen(Struct, frozen=True):
    """A status as it was read; ``raw`` is Synapse's own, with the etag and the types of its annotations."""

    status: Status | None
    record: Record
    cancel: bool
    annotations: Mapping[str, Any]
    raw: Mapping[str, Any]

    @property
    def id(self) -> str:
        return str(self.raw["id"])


class Change(Struct, frozen=True):
    """What is to be written; None leaves the status as it is. An annotation whose value is None is taken away."""

    record: Record
    status: Status | None = None
    can_cancel: bool | None = None
    cancel: bool | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)


Edit = Callable[[Seen], Change | None]


def seen(raw: Mapping[str, Any]) -> Seen:
    """A flag left over from an earlier life of the submission is no wish to cancel."""
    found = {name: plain(one) for name, one in _typed_of(raw).items()}
    known = Status(raw["status"]) if raw.get("status") in set(Status) else None
    wanted = bool(raw.get("cancelRequested")) and bool(raw.get("canCancel"))
    return Seen(known, read_record(found), wanted, found, raw)


def _typed_of(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    held = raw.get("submissionAnnotations")
    found = held.get("annotations") if isinstance(held, Mapping) else None
    return found if isinstance(found, Mapping) else {}


class Statuses:
    """Writes of one process to one submission wait for each other. What it wrote itself is remembered, so that the
    next change of the same status begins with it and need not ask."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._written: dict[str, Seen] = {}

    async def read(self, submission_id: str) -> Seen:
        asking = self._session.client.rest_get_async(_path(submission_id))
        return seen(await self._session.vital(f"reading the status of {submission_id}", asking))

    async def change(self, submission_id: str, edit: Edit, first: Seen | None = None) -> bool:
        """Apply ``edit`` to the latest status; False if it wants nothing written.

        ``edit`` is asked again after every 412, whoever caused it: a rival, the submitter who cancels, another tool,
        or our own write whose answer was lost, which is known by its mark. What was only remembered is not believed
        where it says that there is nothing to do.
        """
        mark = secrets.token_hex(6)
        async with self._turns[submission_id]:
            first = first or self._written.pop(submission_id, None)
            for _ in range(_TRIES):
                remembered = first is not None
                now, first = first or await self.read(submission_id), None
                if now.record.mark == mark:
                    return True
                wanted = edit(now)
                if wanted is not None and await self._store(now, wanted, mark):
                    return True
                if wanted is None and not remembered:
                    return False
        raise InfrastructureFault(f"Synapse: the status of {submission_id} is changed by others all the time")

    async def _store(self, now: Seen, wanted: Change, mark: str) -> bool:
        """False on a 412."""
        body = _body(now, wanted, mark)
        storing = self._session.client.rest_put_async(_path(now.id), body=json.dumps(body))
        try:
            stored = await self._session.vital(f"writing the status of {now.id}", storing)
        except Refused as fault:
            if fault.status == 412:
                return False
            raise
        held = seen(stored) if isinstance(stored, Mapping) and stored.get("etag") else None
        if held is not None and held.status is not None and not held.status.final:
            self._written[now.id] = held
        return True


def _path(submission_id: str) -> str:
    return f"/evaluation/submission/{submission_id}/status"


def _body(now: Seen, wanted: Change, mark: str) -> Mapping[str, object]:
    """The whole status: a field that is not sent is cleared."""
    changed = {"status": wanted.status, "canCancel": wanted.can_cancel, "cancelRequested": wanted.cancel}
    body = {**now.raw} | {name: value for name, value in changed.items() if value is not None}
    old = _typed_of(now.raw)
    new = merged(now.annotations, wanted.annotations, replace(wanted.record, mark=mark))
    held = {
        name: old[name] if name in old and now.annotations.get(name) == value else typed(value)
        for name, value in new.items()
    }
    frame = now.raw.get("submissionAnnotations")
    facts = {"id": now.id, "etag": body.get("etag")} | (dict(frame) if isinstance(frame, Mapping) else {})
    return body | {"submissionAnnotations": facts | {"annotations": held}}
