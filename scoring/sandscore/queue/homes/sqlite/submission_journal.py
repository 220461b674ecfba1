"""Every submission, every cancel and what was told, one line each, beside the database.

A database restored from a backup has forgotten what came after it; the journal has not. The database remembers how
far it has read, so what it missed is taken up again when the queue is next opened.
"""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from msgspec import DecodeError, Struct, json
from msgspec.structs import astuple

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.sqlite.sqlite_ledger import add_lines
from sandscore.queue.queue_layout import private_path
from sandscore.records.released_view import LedgerLine
from sandscore.records.submission import CANCELLED, Status, SubmissionKind

FILE = "journal.jsonl"


class SubmittedRow(Struct, frozen=True):
    """A submission as it came: what its line says, and the columns of the database that it begins with."""

    id: str
    team: str
    task: str
    phase: str | None
    kind: SubmissionKind
    image: str | None
    file: str | None
    submitter: str | None
    created: str
    key: str | None = None
    """By which its team knows it, where it chose one."""


class JournalLine(Struct, frozen=True, omit_defaults=True):
    """One thing that happened."""

    submitted: SubmittedRow | None = None
    cancelled: str | None = None
    disclosed: tuple[LedgerLine, ...] = ()


_COLUMNS = SubmittedRow.__struct_fields__


class SubmissionJournal:
    """Appended to inside the transaction that it describes, which has caught up with it before."""

    def __init__(self, root: Path) -> None:
        self.path = private_path(root, FILE)

    def submitted(self, connection: sqlite3.Connection, row: SubmittedRow) -> None:
        """A new submission, into both, and on disk before anybody is told its id."""
        self._append(connection, JournalLine(submitted=row))
        _insert(connection, row)

    def cancelled(self, connection: sqlite3.Connection, submission_id: str) -> None:
        self._append(connection, JournalLine(cancelled=submission_id))

    def disclosed(self, connection: sqlite3.Connection, lines: Sequence[LedgerLine]) -> None:
        """What the transaction gives to the ledger. The disk is not waited for: the database is on it in a moment."""
        self._append(connection, JournalLine(disclosed=tuple(lines)), wait=False)

    def behind(self, connection: sqlite3.Connection) -> bool:
        """Whether the journal knows more than the database."""
        return self._size() != _offset(connection)

    def catch_up(self, connection: sqlite3.Connection) -> int:
        """Take up what the database missed; how many submissions that were."""
        if not self.behind(connection):
            return 0
        adopted = 0
        for entry in self._entries(_offset(connection)):
            if entry.submitted is not None:
                adopted += _insert(connection, entry.submitted)
            elif entry.cancelled is not None:
                connection.execute(
                    "UPDATE submission SET status=?, reason=?, cancel_requested=1, finished=created "
                    "WHERE id=? AND status='RECEIVED'",
                    (Status.REJECTED, CANCELLED, entry.cancelled),
                )
            add_lines(connection, entry.disclosed)
        _remember(connection, self._size())
        return adopted

    def _append(self, connection: sqlite3.Connection, entry: JournalLine, *, wait: bool = True) -> None:
        line = json.encode(entry) + b"\n"
        try:
            with self.path.open("ab") as file:
                size = file.tell()
                whole = size == 0 or self._last_byte() == b"\n"
                try:
                    file.write(line if whole else b"\n" + line)
                    file.flush()
                    if wait:
                        os.fsync(file.fileno())
                except OSError:
                    os.truncate(self.path, size)
                    raise
        except OSError as fault:
            raise InfrastructureFault(f"{self.path} cannot be written: {fault.strerror}") from None
        _remember(connection, self._size())

    def _entries(self, offset: int) -> list[JournalLine]:
        if offset >= self._size():
            return []
        with self.path.open("rb") as file:
            file.seek(offset)
            lines = file.read().splitlines(keepends=True)
        return [entry for line in lines if (entry := _entry(line)) is not None]

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def _last_byte(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1)


def _entry(line: bytes) -> JournalLine | None:
    """A line that was cut short was never promised to anybody."""
    try:
        return json.decode(line, type=JournalLine) if line.endswith(b"\n") else None
    except (DecodeError, UnicodeDecodeError):
        return None


def _insert(connection: sqlite3.Connection, row: SubmittedRow) -> int:
    return connection.execute(
        f"INSERT OR IGNORE INTO submission ({', '.join(_COLUMNS)}) "  # noqa: S608 (our own names)
        f"VALUES ({', '.join('?' * len(_COLUMNS))})",
        astuple(row),
    ).rowcount


def _offset(connection: sqlite3.Connection) -> int:
    found = connection.execute("SELECT value FROM meta WHERE key='journal'").fetchone()
    return found[0] if found else 0


def _remember(connection: sqlite3.Connection, offset: int) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('journal', ?)", (offset,))
