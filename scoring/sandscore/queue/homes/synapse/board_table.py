"""The board as a Synapse table: rows by submission, changed in place; doubles and rows that are gone are deleted.

A board as rows of a Synapse table: what everybody may see of it, never more.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandscore.base.errors import InfrastructureFault
from sandscore.board_tables.board_formats import records
from sandscore.queue.homes.synapse.status_record import key
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.records.board import Board
from sandscore.records.record_reading import read_record

KEY = "submissionid"
WHOLE = ("rank_low", "rank_high", "group")
NUMBERS = ("rank", "score", "k", "p_vs_leader", "p_first")
_VALUES = ("value", "value_low", "value_high")
_RATIOS = ("f1", "f1_low", "f1_high", *_VALUES, "precision", "recall")
NAME_LENGTH, KEY_LENGTH = 200, 40
MOST_COLUMNS = 150

Rows = list[dict[str, object]]


def read_board(path: Path) -> Board:
    """A board of ours: if it cannot be read, our own disk or process is at fault."""
    try:
        return read_record(Board, path.read_bytes(), path, "a board", InfrastructureFault)
    except OSError as fault:
        raise InfrastructureFault(f"{path} cannot be read: {fault.strerror}") from None


def table_rows(board: Board) -> Rows:
    """One dict a submission, the same keys in each: text as text, numbers as numbers, the rest left out."""
    measures = list(dict.fromkeys(name for row in board.rows for name in row.measures))
    flat_rows = records(board)
    held = {name for flat in flat_rows for name in flat}
    ratios = {
        f"{name}.{ratio}": f"{key(name)}_{ratio}"
        for ratio in _RATIOS
        for name in measures
        if ratio not in _VALUES or f"{name}.{ratio}" in held
    }
    return [_row(flat, ratios) for flat in flat_rows]


def _row(flat: dict[str, object], ratios: dict[str, str]) -> dict[str, object]:
    row: dict[str, object] = {KEY: str(flat["submission"])[:KEY_LENGTH], "team": _name(flat["team"])}
    row |= {name: flat[name] for name in WHOLE}
    row |= {name: _double(flat[name]) for name in NUMBERS}
    named = {name: _double(flat.get(source)) for source, name in ratios.items()}
    return dict(list((row | named).items())[:MOST_COLUMNS])


def _name(value: object) -> str:
    return " ".join(str(value or "").split())[:NAME_LENGTH]


def _double(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


class BoardTable:
    """One table a board, found by its name. Inserting is not idempotent on Synapse: what came twice is taken away."""

    def __init__(self, session: Session, parent: str) -> None:
        self._session, self._parent = session, parent
        self._tables: dict[tuple[str, tuple[str, ...]], Any] = {}

    async def write(self, name: str, rows: Rows) -> str:
        """The table's id. Afterwards it holds each of the rows exactly once, and no others."""
        table = await self._table(name, rows[0])
        held = await self._held(table)
        await self._delete(table, _doubles(held))
        before = {str(row[KEY]): row for row in held}
        changed = [row for row in rows if not _same(row, before.get(str(row[KEY])))]
        if changed:
            await self._session.call(f"writing the table {name}", self._upsert(table, changed))
        wanted = {str(row[KEY]) for row in rows}
        held = await self._held(table) if changed else held
        gone = [row for row in held if str(row[KEY]) not in wanted]
        await self._delete(table, [*_doubles(held), *gone])
        return str(table.id)

    async def _table(self, name: str, example: Mapping[str, object]) -> Any:
        """Made where it is not there; columns of measures that are new are added."""
        from synapseclient.models import Table

        known = (name, tuple(example))
        if known not in self._tables:
            columns = [_column(key) for key in example]
            self._tables[known] = await self._session.made(
                f"making the table {name}",
                lambda: Table(name=name, parent_id=self._parent, columns=columns).store_async(
                    synapse_client=self._session.client
                ),
            )
        return self._tables[known]

    async def _held(self, table: Any) -> list[dict[str, Any]]:
        asking = table.query_async(" ".join(("SELECT * FROM", str(table.id))), synapse_client=self._session.client)
        frame = await self._session.call(f"reading the table {table.id}", asking)
        records: list[dict[str, Any]] = frame.to_dict("records")
        return sorted(records, key=lambda row: int(row["ROW_ID"]))

    async def _upsert(self, table: Any, rows: Rows) -> None:
        """Keys as text: numbers would be inserted once and not found again."""
        import pandas as pd

        frame = pd.DataFrame(rows)
        for name in frame.columns:
            frame[name] = frame[name].astype("string" if name in (KEY, "team") else _kind(name))
        await table.upsert_rows_async(values=frame, primary_keys=[KEY], synapse_client=self._session.client)

    async def _delete(self, table: Any, rows: Iterable[Mapping[str, Any]]) -> None:
        import pandas as pd

        doomed = {int(row["ROW_ID"]): int(row["ROW_VERSION"]) for row in rows}
        if doomed:
            frame = pd.DataFrame({"ROW_ID": list(doomed), "ROW_VERSION": list(doomed.values())})
            deleting = table.delete_rows_async(df=frame, synapse_client=self._session.client)
            await self._session.call(f"tidying the table {table.id}", deleting)


def _column(name: str) -> Any:
    from synapseclient.models import Column, ColumnType

    if name in (KEY, "team"):
        size = KEY_LENGTH if name == KEY else NAME_LENGTH
        return Column(name=name, column_type=ColumnType.STRING, maximum_size=size)
    return Column(name=name, column_type=ColumnType.INTEGER if name in WHOLE else ColumnType.DOUBLE)


def _kind(name: str) -> str:
    return "Int64" if name in WHOLE else "Float64"


def _doubles(held: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """All but the first row of each submission: two writers that look agree on which stays."""
    first: dict[str, int] = {}
    return [row for row in held if first.setdefault(str(row[KEY]), int(row["ROW_ID"])) != int(row["ROW_ID"])]


def _same(row: Mapping[str, object], held: Mapping[str, Any] | None) -> bool:
    return held is not None and all(_equal(value, held.get(name)) for name, value in row.items())


def _equal(wanted: object, found: Any) -> bool:
    missing = found is None or (isinstance(found, float) and math.isnan(found))
    if wanted is None or missing:
        return (wanted is None or wanted == "") and missing
    if isinstance(wanted, int | float):
        try:
            return float(found) == float(wanted)
        except (TypeError, ValueError):
            return False
    return str(found) == str(wanted)
