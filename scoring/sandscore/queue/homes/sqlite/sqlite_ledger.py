"""The ledger's table: every release a line, once. A restored database is given those that it missed by the journal."""

import sqlite3
from collections.abc import Iterable

from sandscore.base.clock import utc_now, written
from sandscore.records.released_view import LedgerLine

_LEDGER = """
CREATE TABLE IF NOT EXISTS disclosed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    moment TEXT NOT NULL,
    team TEXT,
    submission TEXT,
    what TEXT NOT NULL,
    bits REAL NOT NULL,
    mark TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS said_once ON disclosed (coalesce(submission, ''), coalesce(team, ''), what, mark);
"""
"""Older versions have none: whoever writes the first line makes it."""


def add_lines(
    connection: sqlite3.Connection,
    lines: Iterable[LedgerLine],
    *,
    team: str | None = None,
    submission: str | None = None,
) -> None:
    """Into the ledger, each once; what a line leaves out of whose it is stands beside it."""
    now, rows = written(utc_now()), list(lines)
    if rows and not _begun(connection):
        for statement in _LEDGER.split(";")[:-1]:  # executescript would end the transaction
            connection.execute(statement)
    for line in rows:
        connection.execute(
            "INSERT OR IGNORE INTO disclosed (moment, team, submission, what, bits, mark) VALUES (?, ?, ?, ?, ?, ?)",
            (line.when or now, line.team or team, line.submission or submission, line.what, line.bits, line.mark),
        )


def lines_in(connection: sqlite3.Connection, after: int = 0) -> list[LedgerLine]:
    """The whole ledger, oldest first, or what came after a line."""
    if not _begun(connection):
        return []
    return [
        LedgerLine(
            what=row["what"],
            bits=row["bits"],
            team=row["team"],
            submission=row["submission"],
            mark=row["mark"],
            when=row["moment"],
        )
        for row in connection.execute("SELECT * FROM disclosed WHERE seq>? ORDER BY seq", (after,))
    ]


def rename_in_ledger(connection: sqlite3.Connection, team: str, pseudonym: str) -> None:
    """A team that must be forgotten."""
    if _begun(connection):
        connection.execute("UPDATE disclosed SET team=? WHERE team=?", (pseudonym, team))


def last_line(connection: sqlite3.Connection) -> int:
    """The number of the newest line; 0 where there is none."""
    if not _begun(connection):
        return 0
    found: int = connection.execute("SELECT coalesce(max(seq), 0) FROM disclosed").fetchone()[0]
    return found


def _begun(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name='disclosed'").fetchone() is not None
