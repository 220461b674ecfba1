"""Lists of submissions: always a whole list, read before anything is changed, and not more often than is polite.

Nothing promises an order, nor that two pages were cut from the same list: a list is whole when it holds as many
submissions as came.

What can be claimed now: one list serves until it is used up or old.
"""

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct

from sandscore.base.clock import read, uptime, utc_now, written
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.failure_quota import Failure, is_failure
from sandscore.queue.fair_turns import Turns
from sandscore.queue.homes.synapse.synapse_claims import HELD, SynapseLeases
from sandscore.queue.homes.synapse.synapse_errors import told
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.homes.synapse.synapse_statuses import Seen, seen
from sandscore.queue.new_submission import OverQuota
from sandscore.records.submission import Status

_PAGE = 100
_MOST_PASSES = 40
_BACKLOG_SECONDS = 60.0
"""A long list is worked off for as long before it is read again; what others took meanwhile costs a lost claim."""
OPEN = (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED, Status.RECEIVED)
"""RECEIVED last: what is handed back while the others are listed is seen there."""


class SubmittedWork(Struct, frozen=True):
    """What was submitted, as Synapse tells it."""

    id: str
    evaluation_id: str = ""
    user_id: Any = None
    team_id: Any = None
    name: str | None = None
    created_on: str | None = None
    entity_id: str | None = None
    version_number: Any = None
    docker_repository_name: str | None = None
    docker_digest: str | None = None
    entity_bundle_json: str | None = None


_KEYS = {
    "evaluation_id": "evaluationId",
    "user_id": "userId",
    "team_id": "teamId",
    "name": "name",
    "created_on": "createdOn",
    "entity_id": "entityId",
    "version_number": "versionNumber",
    "docker_repository_name": "dockerRepositoryName",
    "docker_digest": "dockerDigest",
    "entity_bundle_json": "entityBundleJSON",
}


def submitted_work(raw: Mapping[str, Any]) -> SubmittedWork:
    """From Synapse's own words."""
    return SubmittedWork(str(raw["id"]), **{name: raw[key] for name, key in _KEYS.items() if raw.get(key) is not None})


class ListedSubmission(Struct, frozen=True):
    """A submission and its status as the listing held them."""

    submission: SubmittedWork
    now: Seen

    @property
    def id(self) -> str:
        return str(self.submission.id)

    @property
    def age(self) -> tuple[float, int, str]:
        """When it came; where that is the same, or not said, in the order of the numbers."""
        try:
            came = read(self.submission.created_on or "").timestamp()
        except ValueError:
            came = 0.0
        return came, int(self.id) if self.id.isdigit() else 0, self.id


class Listing:
    """Of one evaluation queue."""

    def __init__(self, session: Session, evaluation_id: str) -> None:
        self._session, self._evaluation_id = session, evaluation_id
        self._latest: list[ListedSubmission] = []
        self._at: float | None = None
        self._asked: asyncio.Future[dict[str, Seen]] | None = None

    async def all(self) -> list[ListedSubmission]:
        """Every submission, oldest first."""
        self._latest, self._at = await self._of(None), uptime()
        return self._latest

    async def lately(self) -> list[ListedSubmission]:
        """Every submission, as they stood when all were last listed, unless that is long ago."""
        fresh = self._at is not None and uptime() - self._at < _BACKLOG_SECONDS
        return self._latest if fresh else await self.all()

    async def open(self) -> list[ListedSubmission]:
        """Those that have not ended, oldest first."""
        found = {one.id: one for status in OPEN for one in await self._of(status)}
        return sorted(found.values(), key=lambda one: one.age)

    async def running(self) -> dict[str, Seen]:
        """Those that a worker has, as they stand after this was asked: whoever asks at the same time shares a list."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(self._running())
        return await asyncio.shield(self._asked)

    async def _running(self) -> dict[str, Seen]:
        await asyncio.sleep(0)
        self._asked = None  # whoever comes from now on wants a later look
        return {one.id: one.now for one in await self._of(Status.EVALUATION_IN_PROGRESS)}

    async def _of(self, status: Status | None) -> list[ListedSubmission]:
        """Pages are offsets into the filtered list: what is in no order, or is changed meanwhile, may come twice or
        not at all. Read again until nothing can be missing."""
        found: dict[str, ListedSubmission] = {}
        for _ in range(_MOST_PASSES):
            came = 0
            async for one in self._pages(status):
                found[one.id], came = one, came + 1
            if len(found) >= came:
                return sorted(found.values(), key=lambda one: one.age)
        raise InfrastructureFault(f"Synapse: listing queue {self._evaluation_id}: its pages do not fit together")

    async def _pages(self, status: Status | None) -> AsyncIterator[ListedSubmission]:
        offset, more, asked = 0, True, f"listing queue {self._evaluation_id}"
        where = f"/evaluation/{self._evaluation_id}/submission/bundle/all?limit={_PAGE}"
        while more:
            uri = f"{where}&offset={offset}" + (f"&status={status}" if status is not None else "")
            asking = self._session.client.rest_get_async(uri)
            page = await self._session.vital(asked, asking)
            with told(asked, 0):
                rows = list(page["results"])
                whole = [row for row in rows if row.get("submission") and row.get("submissionStatus")]
                pairs = [(submitted_work(one["submission"]), seen(one["submissionStatus"])) for one in whole]
                offset += len(rows)
                more = bool(rows) and int(page.get("totalNumberOfResults") or offset + 1) > offset
            for what, now in pairs:
                yield ListedSubmission(what, now)


Judge = Callable[[ListedSubmission, Iterable[ListedSubmission]], OverQuota | None]


class WaitingList:
    """Each submission of a list until it is claimed. ``poll_seconds``: how often an idle queue is looked at."""

    def __init__(self, listing: Listing, leases: SynapseLeases, poll_seconds: float) -> None:
        self._listing, self._leases, self._poll_seconds = listing, leases, poll_seconds
        self._left: dict[str, ListedSubmission] = {}
        self._turns = Turns()
        self._at: float | None = None
        self._empty = False

    async def claimable(self, most: int) -> list[ListedSubmission]:
        if self._old():
            await self._read()
        ready = [one for one in self._left.values() if self._leases.wait(one.now) == 0.0]
        return list(islice(self._turns.ordered(ready, team_key), most))

    async def seconds(self) -> float | None:
        """None only after a look at the queue itself: what was claimed may have come back."""
        if self._old() or (self._soonest() is None and not self._empty):
            await self._read()
        return self._soonest()

    async def failures(self, submission_id: str, since: Mapping[str, Failure]) -> list[Failure]:
        """Of the team that handed it in: as they were listed, and ``since`` then, by submission, by this process."""
        listed = {one.id: one for one in await self._listing.lately()}
        mine = self._left.get(submission_id) or listed.get(submission_id)
        if mine is None:
            return []
        team = {key: one for key, one in listed.items() if team_key(one) == team_key(mine)}
        found = {key: Failure(when, one.now.record.spent) for key, one in team.items() if (when := _failed(one.now))}
        return list((found | {key: failure for key, failure in since.items() if key in team}).values())

    async def over_quota(self, submission_id: str, judged: Judge) -> OverQuota | None:
        """What ``judged`` says of it among all, as they stand now where it would refuse."""
        mine, listed = self._left.get(submission_id), await self._listing.lately()
        for fresh in (False, True):
            listed = await self._listing.all() if fresh else listed
            found = next((one for one in listed if one.id == submission_id), mine)
            said = judged(found, listed) if found is not None else None
            known = any(one.id == submission_id for one in listed)
            if known and said is None:
                return None
        return said

    def take(self, submission_id: str) -> Seen | None:
        """The status as it was listed; once, because the first write makes it old."""
        taken = self._left.pop(submission_id, None)
        if taken is None:
            return None
        self._turns.begun(team_key(taken))
        return taken.now

    def _soonest(self) -> float | None:
        waits = [self._leases.wait(one.now) for one in self._left.values()]
        return min((wait for wait in waits if wait is not None), default=None)

    def _old(self) -> bool:
        if self._at is None:
            return True
        backlog = any(self._leases.wait(one.now) == 0.0 for one in self._left.values())
        return uptime() - self._at >= (_BACKLOG_SECONDS if backlog else self._poll_seconds)

    async def _read(self) -> None:
        listed = await self._listing.open()
        self._left = {one.id: one for one in listed}
        self._at, self._empty = uptime(), self._soonest() is None
        self._turns, day = Turns(), written(utc_now())[:10]
        for one in listed:
            self._turns.running[team_key(one)] += one.now.status in HELD and self._leases.wait(one.now) != 0.0
        for one in await self._listing.lately() if self._soonest() == 0.0 else ():
            self._turns.today[team_key(one)] += one.now.record.day == day


def _failed(now: Seen) -> datetime.datetime | None:
    """When, if it is a failure of its team's."""
    said = {name: now.annotations.get(name) for name in ("reason", "finished")}
    reason, finished = (str(value[0]) if isinstance(value, list) and value else None for value in said.values())
    if finished is None or not is_failure(now.status, reason, now.record.attempt):
        return None
    try:
        return read(finished)
    except ValueError:
        return None


def team_key(one: ListedSubmission) -> str:
    """Who submitted: the team, or a person alone."""
    return str(one.submission.team_id or one.submission.user_id or "")
