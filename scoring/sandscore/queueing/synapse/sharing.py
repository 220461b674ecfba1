"""Score cards for the machine that makes the boards, in the folder that only organisers may read."""

from functools import partial
from pathlib import Path

from sandscore.queueing.submission import Submission
from sandscore.queueing.synapse.folders import Folders
from sandscore.queueing.synapse.session import Session
from sandscore.records.errors import InfrastructureFault


class SharedCards:
    """By submission, claim and version: what a claim that was lost has shared is never taken for another's."""

    def __init__(self, session: Session, folders: Folders) -> None:
        self._session, self._folders = session, folders

    async def put(self, submission: Submission, card: Path) -> None:
        """Before the score is committed: a board that counts a score must find its card."""
        from synapseclient.models import File

        parent = await self._folders.locked(submission.submitter or "")
        store = File(path=str(card), name=_name(submission, card), parent_id=parent).store_async
        what = f"sharing the card of {submission.id}"
        await self._session.made(what, partial(store, synapse_client=self._session.client))

    async def get(self, submission: Submission, card: Path) -> bool:
        """Fetched to ``card``; False where nobody shared it."""
        from synapseclient.models import File
        from synapseclient.operations import find_entity_id_async

        client, what = self._session.client, f"fetching the card of {submission.id}"
        parent = await self._folders.locked(submission.submitter or "")
        asking = find_entity_id_async(_name(submission, card), parent, synapse_client=client)
        found = await self._session.call(what, asking)
        if found is None:
            return False
        try:
            card.parent.mkdir(parents=True, exist_ok=True)
            file = File(id=str(found), path=str(card.parent), if_collision="overwrite.local")
            file = await self._session.call(what, file.get_async(synapse_client=client))
            Path(str(file.path)).replace(card)
        except OSError as fault:
            raise InfrastructureFault(f"{card} cannot be written: {fault.strerror}") from None
        return True


def _name(submission: Submission, card: Path) -> str:
    return f"{submission.id}_{card.parent.name}_{card.name}"
