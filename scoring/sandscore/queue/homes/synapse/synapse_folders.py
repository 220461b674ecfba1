"""Folders for logs: one a submitter may read, one that only organisers may. Nothing goes in before that holds.

What an attempt left, for the team and for the organisers.

Score cards for the machine that makes the boards, in the folder that only organisers may read.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from json import dumps
from pathlib import Path
from typing import Any

from msgspec.json import encode
from msgspec.json import format as format_json

from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault
from sandscore.base.whole_files import write_file
from sandscore.queue.attempt_files import LOG, PROBLEMS, REHEARSAL, RUN, TEAM
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.released_view import Released, view_of
from sandscore.records.submission import Claim, Status, Submission

LOCKED = "_LOCKED"
_READER = ("READ", "DOWNLOAD")
_RULER = "CHANGE_PERMISSIONS"
_EVERYTHING = (*_READER, "CREATE", "UPDATE", "DELETE", _RULER, "CHANGE_SETTINGS", "MODERATE")


class SynapseFolders:
    """Folder ids by name, each with an access list of its own that was checked once by this process."""

    def __init__(self, session: Session, root: str) -> None:
        self._session, self._root = session, root
        self._known: dict[str, str] = {}
        self._rulers: list[dict[str, Any]] | None = None

    async def of(self, submitter: str) -> str:
        """The folder the submitter (a user or a team) may read."""
        return await self._folder(submitter, readers=[submitter])

    async def locked(self, submitter: str) -> str:
        return await self._folder(submitter + LOCKED, readers=[])

    async def _folder(self, name: str, readers: Sequence[str]) -> str:
        from synapseclient.models import Folder

        if name not in self._known:
            folder = await self._session.made(
                f"making the folder {name}",
                lambda: Folder(name=name, parent_id=self._root).store_async(synapse_client=self._session.client),
            )
            await self._restrict(str(folder.id), readers)
            self._known[name] = str(folder.id)
        return self._known[name]

    async def _restrict(self, folder: str, readers: Sequence[str]) -> None:
        """An access list of its own: exactly the organisers of the project, and the given readers."""
        client, path = self._session.client, f"/entity/{folder}/acl"
        rows = [*await self._organisers(), *({"principalId": int(r), "accessType": list(_READER)} for r in readers)]
        own = await self._own_list(folder)
        if own is not None and _plain(own["resourceAccess"]) == _plain(rows):
            return
        body = dumps({"id": folder, "resourceAccess": rows} | ({"etag": own["etag"]} if own else {}))
        storing = client.rest_put_async(path, body) if own else client.rest_post_async(path, body)
        stored = await self._session.call(f"restricting the folder {folder}", storing)
        if _plain(stored["resourceAccess"]) != _plain(rows):
            raise InfrastructureFault(f"Synapse: the folder {folder} cannot be kept from others")

    async def _organisers(self) -> list[dict[str, Any]]:
        """Whoever may change who reads the project; and we ourselves."""
        if self._rulers is None:
            acl = await self._own_list(self._root) or await self._inherited()
            rulers = [row for row in acl["resourceAccess"] if _RULER in row["accessType"]]
            own = int(self._session.client.credentials.owner_id)
            if all(int(row["principalId"]) != own for row in rulers):
                rulers.append({"principalId": own, "accessType": list(_EVERYTHING)})
            self._rulers = rulers
        return self._rulers

    async def _own_list(self, entity: str) -> dict[str, Any] | None:
        """None where the entity inherits its access list."""
        asking = self._session.client.rest_get_async(f"/entity/{entity}/acl")
        try:
            acl: dict[str, Any] = await self._session.call(f"reading who may see {entity}", asking)
        except Refused as fault:
            if fault.status == 404:
                return None
            raise
        return acl if acl.get("id") == entity else None

    async def _inherited(self) -> dict[str, Any]:
        from synapseclient.api import get_entity_benefactor

        asking = get_entity_benefactor(self._root, synapse_client=self._session.client)
        benefactor = await self._session.call("reading who organises", asking)
        return await self._own_list(str(benefactor.id)) or {"resourceAccess": []}


def _plain(rows: Sequence[dict[str, Any]]) -> set[tuple[int, frozenset[str]]]:
    return {(int(row["principalId"]), frozenset(row["accessType"])) for row in rows}


_TEAM = (LOG, PROBLEMS)
_ORGANISERS = (LOG, PROBLEMS, RUN)
_CANCELLING = "on the page of the challenge's submissions, or by asking the organisers"


class Logs:
    """Uploads; what cannot be uploaded is a warning, never a reason to run a submission again. A log of notes that are
    hidden never goes to Synapse, nor does anything else that may quote them."""

    def __init__(
        self, session: Session, folders: SynapseFolders | None, policy_of: Callable[[Submission], DisclosurePolicy]
    ) -> None:
        self._session, self._folders, self._policy_of = session, folders, policy_of

    async def begun(self, submission: Submission) -> None:
        """The first word of the status file, whichever attempt ends it."""
        if submission.attempt == 1:
            await self.tell(submission, str(submission.status))

    async def tell(
        self,
        submission: Submission,
        state: str,
        reason: Released[str] | None = None,
        feedback: Released[Mapping[str, object]] | None = None,
    ) -> None:
        """The status file in the team's own folder: where the submission stands, and what the phase lets it know."""
        submitter = submission.submitter or ""
        if self._folders is None or not submitter.isdigit():
            return
        said = {
            "submission": submission.id,
            "state": state,
            "reason": view_of(reason),
            "measures": (view_of(feedback) or {}).get("measures"),
            "cancel": None if Status(state).final else _CANCELLING,
        }
        try:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / f"{submission.id}_status.json"
                write_file(path, format_json(encode(said)) + b"\n")
                await self._store(path, path.name, await self._folders.of(submitter))
        except (InfrastructureFault, OSError) as fault:
            warn(f"the status file of {submission.id} was not uploaded: {fault}")

    async def send(self, claim: Claim, folder: Path | None) -> None:
        """What was released of log and problems to the submitter's folder; all of it and the run's record to LOCKED."""
        submitter = claim.submission.submitter or ""
        if self._folders is None or folder is None or not submitter.isdigit():
            return
        hidden = self._policy_of(claim.submission).notes_hidden
        try:
            if team := _present(folder / TEAM, _TEAM[1:] if hidden else _TEAM):
                await self._upload(claim, team, await self._folders.of(submitter))
            if not hidden and (ours := _present(folder, _ORGANISERS)):
                await self._upload(claim, ours, await self._folders.locked(submitter))
        except (InfrastructureFault, OSError) as fault:
            warn(f"the log of {claim.submission.id} was not uploaded: {fault}")

    async def send_rehearsal(self, claim: Claim, folder: Path) -> None:
        """All of a run on practice notes to the submitter's folder."""
        submitter = claim.submission.submitter or ""
        if self._folders is None or not submitter.isdigit():
            return
        try:
            files = _present(folder, sorted(path.name for path in folder.iterdir()))
            await self._upload(claim, files, await self._folders.of(submitter), REHEARSAL)
        except (InfrastructureFault, OSError) as fault:
            warn(f"the rehearsal of {claim.submission.id} was not uploaded: {fault}")

    async def _upload(self, claim: Claim, files: list[Path], parent: str, what: str | None = None) -> None:
        for path in files:
            await self._store(path, f"{claim.submission.id}_{what or f'attempt_{claim.attempt}'}_{path.name}", parent)

    async def _store(self, path: Path, name: str, parent: str) -> None:
        from synapseclient.models import File

        file = File(path=str(path), name=name, parent_id=parent)
        await self._session.made(f"uploading {name}", partial(file.store_async, synapse_client=self._session.client))


def _present(folder: Path, names: Sequence[str]) -> list[Path]:
    """Files of zero bytes are refused."""
    return [path for name in names if (path := folder / name).is_file() and path.stat().st_size]


class SharedCards:
    """By submission, claim and version: what a claim that was lost has shared is never taken for another's."""

    def __init__(self, session: Session, folders: SynapseFolders) -> None:
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
