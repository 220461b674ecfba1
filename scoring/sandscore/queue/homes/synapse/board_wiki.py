"""The board as a page of the project's wiki.

Boards on Synapse: a table and a wiki page each, written when they have changed.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandscore.base.errors import InfrastructureFault
from sandscore.board_tables.board_formats import as_markdown
from sandscore.queue.homes.synapse.board_table import BoardTable, read_board, table_rows
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.records.board import Board
from sandscore.site.site_folder import file_name

_ROOT_TITLE = "Leaderboards"


class BoardWiki:
    """A page of our own for each board, below the root page, which is left alone if there is one."""

    def __init__(self, session: Session, owner: str) -> None:
        self._session, self._owner = session, owner

    async def write(self, title: str, markdown: str) -> None:
        """An answer that is lost makes the client create a page twice: all but the first are taken away."""
        pages = await self._pages()
        if not pages:
            refused = await self._store(title=_ROOT_TITLE, markdown="The boards are on the pages below.\n")
            pages = await self._pages()
            if refused is not None and not pages:
                raise refused
        root = next((str(page.id) for page in pages if not page.parent_id), None)
        if root is None:
            raise InfrastructureFault("Synapse: the wiki has pages but no root")
        if own := _called(pages, title):
            await self._update(own[0], markdown)
        else:
            await self._store(title=title, markdown=markdown, parent_id=root)
            own = _called(await self._pages(), title)
        for page in own[1:]:
            await self._delete(page)

    async def _pages(self) -> list[Any]:
        from synapseclient.models import WikiHeader

        async def whole() -> list[Any]:
            return [page async for page in WikiHeader.get_async(self._owner, synapse_client=self._session.client)]

        try:
            return await self._session.call("reading the wiki", whole())
        except Refused as fault:
            if fault.status == 404:
                return []
            raise

    async def _update(self, page_id: str, markdown: str) -> None:
        """Read, change, store: a page that somebody edits at the same time is a 412, and left for the next time."""
        from synapseclient.models import WikiPage

        client = self._session.client
        reading = WikiPage(owner_id=self._owner, id=page_id).get_async(synapse_client=client)
        page = await self._session.call("reading the wiki page", reading)
        page.parent_id, page.markdown = None, markdown
        await self._session.call("writing the wiki page", page.store_async(synapse_client=client))

    async def _store(self, **fields: Any) -> Refused | None:
        """A page that was stored although the answer was lost, or by a rival, is refused when it is sent again: by 400
        where it is a root (V2DBOWikiPageDaoImpl), else by 409. Whether it is there is for the caller to see."""
        from synapseclient.models import WikiPage

        page = WikiPage(owner_id=self._owner, **fields)
        try:
            await self._session.call("making a wiki page", page.store_async(synapse_client=self._session.client))
        except Refused as fault:
            if fault.status not in (400, 409):
                raise
            return fault
        return None

    async def _delete(self, page_id: str) -> None:
        from synapseclient.models import WikiPage

        page = WikiPage(owner_id=self._owner, id=page_id)
        await self._session.call("tidying the wiki", page.delete_async(synapse_client=self._session.client))


def _called(pages: Sequence[Any], title: str) -> list[str]:
    """Ids of the pages below the root that have this title, oldest first."""
    return sorted((str(page.id) for page in pages if page.title == title and page.parent_id), key=int)


class BoardPublisher:
    """One writer: the process that made the boards. ``wiki`` is None where no page is wanted."""

    def __init__(self, evaluation_id: str, table: BoardTable, wiki: BoardWiki | None) -> None:
        self._evaluation_id, self._table, self._wiki = evaluation_id, table, wiki
        self._written: dict[str, str] = {}

    async def publish(self, paths: Sequence[Path]) -> None:
        """Of several versions of a board the last is shown."""
        latest = {name_of(board, self._evaluation_id): board for board in map(read_board, paths)}
        for name, board in latest.items():
            stamp = hashlib.sha256(board.model_dump_json().encode()).hexdigest()
            if board.rows and self._written.get(name) != stamp:
                await self._one(name, board)
                self._written[name] = stamp

    async def _one(self, name: str, board: Board) -> None:
        table = await self._table.write(name, table_rows(board))
        if self._wiki is None:
            return
        try:
            await self._wiki.write(name, f"{as_markdown(board)}\n[Table]({_link(table)})\n")
        except (OSError, ValueError) as fault:
            raise InfrastructureFault(f"the wiki page {name} cannot be written: {type(fault).__name__}") from None


def name_of(board: Board, evaluation_id: str) -> str:
    """Of table and page: only characters that both may have; a project may hold several queues."""
    return f"Leaderboard {evaluation_id} {file_name('-'.join(filter(None, (board.task, board.phase))))}"


def _link(table: str) -> str:
    return f"#!Synapse:{table}"
