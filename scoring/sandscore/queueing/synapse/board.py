"""Boards on Synapse: a table and a wiki page each, written when they have changed."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from sandscore.publishing.naming import file_name
from sandscore.queueing.synapse.columns import read_board, table_rows
from sandscore.queueing.synapse.table import BoardTable
from sandscore.queueing.synapse.wiki import BoardWiki
from sandscore.ranking.exports import as_markdown
from sandscore.records.board import Board
from sandscore.records.errors import InfrastructureFault


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
