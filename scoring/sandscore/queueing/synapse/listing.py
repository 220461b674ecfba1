"""Lists of submissions: always a whole list, read before anything is changed, and not more often than is polite."""

from dataclasses import dataclass
from typing import Any

from sandscore.queueing.submission import Status
from sandscore.queueing.synapse.session import Session
from sandscore.queueing.synapse.statuses import Seen, seen

_MOST_SECONDS = 1800.0
"""A long list is hundreds of requests, each of them bounded by itself."""
OPEN = (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED, Status.RECEIVED)
"""RECEIVED last: what is handed back while the others are listed is seen there."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A submission and its status as the listing held them, in the client's own words."""

    submission: Any
    now: Seen

    @property
    def id(self) -> str:
        return str(self.submission.id)

    @property
    def age(self) -> tuple[str, int, str]:
        return str(self.submission.created_on or ""), int(self.id) if self.id.isdigit() else 0, self.id


class Listing:
    """Of one evaluation queue."""

    def __init__(self, session: Session, evaluation_id: str) -> None:
        self._session, self._evaluation_id = session, evaluation_id

    async def all(self) -> list[Listed]:
        """Every submission, oldest first."""
        return await self._of(None)

    async def open(self) -> list[Listed]:
        """Those that have not ended, oldest first."""
        found = {one.id: one for status in OPEN for one in await self._of(status)}
        return sorted(found.values(), key=lambda one: one.age)

    async def _of(self, status: Status | None) -> list[Listed]:
        """Pages are offsets into the filtered list, so what others change meanwhile may come twice or not at all."""
        from synapseclient.models import SubmissionBundle

        async def whole() -> dict[str, Listed]:
            bundles = SubmissionBundle.get_evaluation_submission_bundles_async(
                self._evaluation_id, status=None if status is None else str(status), synapse_client=self._session.client
            )
            every = [bundle async for bundle in bundles]
            pairs = [(one.submission, one.submission_status) for one in every]
            return {str(what.id): Listed(what, seen(how)) for what, how in pairs if what and how}

        found = await self._session.call(f"listing queue {self._evaluation_id}", whole(), _MOST_SECONDS)
        return sorted(found.values(), key=lambda one: one.age)
