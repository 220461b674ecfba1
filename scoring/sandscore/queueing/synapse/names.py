"""Names of teams and people, asked for once."""

from typing import Any

from sandscore.queueing.synapse.faults import Refused
from sandscore.queueing.synapse.session import Session


class Names:
    """By id; who has no name we may read is called by the id."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, str] = {}

    async def of(self, submission: Any) -> str:
        """The team's name, or that of the person who submitted alone."""
        kind, key = ("team", submission.team_id) if submission.team_id else ("user", submission.user_id)
        asked = f"{kind} {key}"
        if asked not in self._known:
            try:
                self._known[asked] = await self._ask(kind, str(key)) or asked
            except Refused as fault:
                if fault.status not in (400, 403, 404):
                    raise
                self._known[asked] = asked
        return self._known[asked]

    async def _ask(self, kind: str, key: str) -> str | None:
        from synapseclient.models import Team, UserProfile

        client = self._session.client
        if not key.isdigit():
            return None
        if kind == "team":
            team = await self._session.call(f"reading team {key}", Team(id=int(key)).get_async(synapse_client=client))
            return str(team.name) if team.name else None
        wanted = UserProfile(id=int(key)).get_async(synapse_client=client)
        person = await self._session.call(f"reading user {key}", wanted)
        return str(person.username) if person.username else None
