"""Folders for logs: one a submitter may read, one that only organisers may. Nothing goes in before that holds."""

from collections.abc import Sequence
from typing import Any

from sandscore.queueing.synapse.session import Session
from sandscore.records.errors import InfrastructureFault

LOCKED = "_LOCKED"
_READER = ("READ", "DOWNLOAD")
_RULER = "CHANGE_PERMISSIONS"
_EVERYTHING = (*_READER, "CREATE", "UPDATE", "DELETE", _RULER, "CHANGE_SETTINGS", "MODERATE")


class Folders:
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
        from synapseclient.api import get_entity_acl, get_entity_benefactor, update_entity_acl

        client, call = self._session.client, self._session.call
        rows = [*await self._organisers(), *({"principalId": int(r), "accessType": list(_READER)} for r in readers)]
        what = f"restricting the folder {folder}"
        benefactor = await call(what, get_entity_benefactor(folder, synapse_client=client))
        acl: dict[str, Any] = {"id": folder, "resourceAccess": rows}
        if benefactor.id == folder:
            old = await call(what, get_entity_acl(folder, synapse_client=client))
            if _plain(old["resourceAccess"]) == _plain(rows):
                return
            acl["etag"] = old["etag"]
        stored = await call(what, update_entity_acl(folder, acl, synapse_client=client))
        if _plain(stored["resourceAccess"]) != _plain(rows):
            raise InfrastructureFault(f"Synapse: the folder {folder} cannot be kept from others")

    async def _organisers(self) -> list[dict[str, Any]]:
        """Whoever may change who reads the project; and we ourselves."""
        from synapseclient.api import get_entity_acl, get_entity_benefactor

        if self._rulers is None:
            client, call, what = self._session.client, self._session.call, "reading who organises"
            benefactor = await call(what, get_entity_benefactor(self._root, synapse_client=client))
            acl = await call(what, get_entity_acl(benefactor.id, synapse_client=client))
            rulers = [row for row in acl["resourceAccess"] if _RULER in row["accessType"]]
            own = int(client.credentials.owner_id)
            if all(int(row["principalId"]) != own for row in rulers):
                rulers.append({"principalId": own, "accessType": list(_EVERYTHING)})
            self._rulers = rulers
        return self._rulers


def _plain(rows: Sequence[dict[str, Any]]) -> set[tuple[int, frozenset[str]]]:
    return {(int(row["principalId"]), frozenset(row["accessType"])) for row in rows}
