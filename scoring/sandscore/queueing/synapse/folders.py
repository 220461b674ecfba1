"""Folders for logs: one a submitter may read, one that only organisers may. Nothing goes in before that holds."""

from collections.abc import Sequence
from json import dumps
from typing import Any

from sandscore.queueing.synapse.faults import Refused
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
