"""Lists of submissions: always a whole list, read before anything is changed."""

from dataclasses import dataclass
from typing import Any

from sandscore.queueing.submission import Status, Submission
from sandscore.queueing.synapse.bundles import Reader
from sandscore.queueing.synapse.leases import Leases
from sandscore.queueing.synapse.session import Session
from sandscore.queueing.synapse.statuses import Seen, seen

OPEN = (Status.RECEIVED, Status.EVALUATION_IN_PROGRESS, Status.VALIDATED)


@dataclass(frozen=True, slots=True)
class Listed:
    """A submission and its status as the listing held them, in the client's own words."""

    submission: Any
    now: Seen


class Listing:
    """``seen`` keeps the statuses of the last list of claimable submissions: a claim begins with them."""

    def __init__(self, session: Session, evaluation_id: str, reader: Reader, leases: Leases) -> None:
        self._session, self._evaluation_id, self._reader, self._leases = session, evaluation_id, reader, leases
        self._fresh: dict[str, Seen] = {}

    async def submissions(self) -> list[Submission]:
        return [await self._reader.read(one.submission, one.now) for one in await self._list(None)]

    async def claimable(self, most: int) -> list[Submission]:
        ready = [one for one in await self._open() if self._leases.wait(one.now) == 0.0][:most]
        self._fresh = {str(one.submission.id): one.now for one in ready}
        return [await self._reader.read(one.submission, one.now) for one in ready]

    async def seconds_until_claimable(self) -> float | None:
        """Before it says that nothing is left it looks at the list that no change of status can shift."""
        waits = [self._leases.wait(one.now) for one in await self._open()]
        if all(wait is None for wait in waits):
            waits = [self._leases.wait(one.now) for one in await self._list(None)]
        return min((wait for wait in waits if wait is not None), default=None)

    def take(self, submission_id: str) -> Seen | None:
        """The status as it was listed; once, because the first write makes it old."""
        return self._fresh.pop(submission_id, None)

    async def _open(self) -> list[Listed]:
        found = {str(one.submission.id): one for status in OPEN for one in await self._list(status)}
        return sorted(found.values(), key=_age)

    async def _list(self, status: Status | None) -> list[Listed]:
        """Pages are offsets into the filtered list, so what others change meanwhile may come twice or not at all."""
        from synapseclient.models import SubmissionBundle

        async def whole() -> list[Listed]:
            bundles = SubmissionBundle.get_evaluation_submission_bundles_async(
                self._evaluation_id, status=None if status is None else str(status), synapse_client=self._session.client
            )
            every = [bundle async for bundle in bundles]
            return [
                Listed(b.submission, seen(b.submission_status)) for b in every if b.submission and b.submission_status
            ]

        what = f"listing queue {self._evaluation_id}"
        return sorted(
            {str(one.submission.id): one for one in await self._session.call(what, whole())}.values(), key=_age
        )


def _age(one: Listed) -> tuple[str, int, str]:
    key = str(one.submission.id)
    return str(one.submission.created_on or ""), int(key) if key.isdigit() else 0, key
