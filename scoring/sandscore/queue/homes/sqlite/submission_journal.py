"""Every submission, every cancel and what was told, one line each, beside the database.

A database restored from a backup has forgotten what came after it; the journal has not. The database remembers how
far it has read, so what it missed is taken up again when the queue is next opened. No line is passed over: one that is
not as it was written stops the queue until its organiser has restored it, or goes on without it.
"""

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, convert, json
from msgspec.structs import astuple, replace

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.base.whole_files import write_synced
from sandscore.queue.homes.sqlite.journal_chain import (
    ChainEnd,
    ChainReader,
    JournalFault,
    chained,
    checksum_of,
    end_of_line,
)
from sandscore.queue.homes.sqlite.sqlite_ledger import add_lines, lines_in
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
    name: str | None = None
    key: str | None = None
    """By which its team knows it, where it chose one."""


class AcceptedDamage(Struct, frozen=True):
    """That an organiser went on without lines: where the damaged journal is kept, and what was wrong with it."""

    kept: str
    lines: tuple[str, ...]


class JournalLine(Struct, frozen=True, omit_defaults=True):
    """One thing that happened."""

    submitted: SubmittedRow | None = None
    cancelled: str | None = None
    disclosed: tuple[LedgerLine, ...] = ()
    accepted: AcceptedDamage | None = None


class JournalDamage(OrganiserFault):
    """A journal that is not as it was written."""

    def __init__(self, path: Path, faults: Sequence[JournalFault]) -> None:
        self.faults = tuple(faults)
        named = "; ".join(map(str, faults[:_NAMED])) + ("; …" if len(faults) > _NAMED else "")
        super().__init__(
            f"{path} is damaged: {named}. Stop the workers and restore it from a backup, or go on without what is "
            "damaged: sandscore queue check DIR --accept-damage"
        )


class DamageReport(Struct, frozen=True):
    """What was accepted: faults by line, where the damaged file is kept, and the submissions that are gone."""

    faults: tuple[JournalFault, ...]
    kept: Path
    missing: tuple[str, ...]


_NAMED = 20
_COLUMNS = SubmittedRow.__struct_fields__
_LINES = json.Decoder(JournalLine)
_TAIL = 1 << 16
_SUBMITTED = re.compile(rb'"submitted":\{"id":"([^"\\]{1,64})"')


class SubmissionJournal:
    """Appended to inside the transaction that it describes, which has caught up with it before."""

    def __init__(self, root: Path) -> None:
        self.path = private_path(root, FILE)
        self._attempts = private_path(root, "attempts")

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
        return self.size() != _offset(connection)

    def catch_up(self, connection: sqlite3.Connection) -> int:
        """Take up what the database missed; how many submissions that were."""
        if not self.behind(connection):
            return 0
        offset = _offset(connection)
        if offset and self._torn_beyond(offset):
            os.truncate(self.path, offset)
            return 0
        return self._take_up(connection, self._read(offset))

    def take_back(self, connection: sqlite3.Connection, size: int) -> None:
        """Lines of a transaction that failed, a full disk's for example: whoever asked was told that it failed.

        Whoever wrote after it would have caught up with them before, so that the database would know more.
        """
        if _offset(connection) == size < self.size():
            os.truncate(self.path, size)

    def require_whole(self, connection: sqlite3.Connection) -> None:
        """Raise JournalDamage unless what the database has read is as it was written."""
        self._read(_offset(connection), beyond=False)

    def faults(self, connection: sqlite3.Connection) -> tuple[JournalFault, ...]:
        """All that is wrong with it."""
        try:
            self._read(_offset(connection))
        except JournalDamage as damage:
            return damage.faults
        return ()

    def accept_damage(self, connection: sqlite3.Connection, faults: Sequence[JournalFault]) -> DamageReport:
        """Set a damaged journal aside and write one of the lines that can be believed, and of what the database knows.

        The database reads the new one from its beginning: ``forget`` comes before it, in a transaction of its own, so
        that a kill in between leaves nothing half read.
        """
        data = self._bytes(None)
        entries = ChainReader().read(data, _LINES)
        kept = self.path.with_name(f"{self.path.stem}.damaged-{checksum_of(data)[:12]}{self.path.suffix}")
        write_synced(kept, data)
        accepted = JournalLine(accepted=AcceptedDamage(kept.name, tuple(map(str, faults))))
        lines, end = [], ChainEnd()
        for entry in [*entries, *_known_beside(connection, entries), accepted]:
            line, end = chained(json.encode(entry), end)
            lines.append(line)
        write_synced(self.path, lines)
        self._take_up(connection, entries)
        return DamageReport(tuple(faults), kept, tuple(self._missing(connection, faults, entries)))

    def rename_team(self, connection: sqlite3.Connection, team: str, pseudonym: str) -> None:
        """All lines anew, for a team that must be forgotten; ``forget`` comes before it, as above.

        The file is of another length than before: whoever remembers its end looks again.
        """
        entries = [_renamed(entry, team, pseudonym) for entry in self._read(0)]
        before, lines, end = self.size(), list[bytes](), ChainEnd()
        for entry in entries:
            line, end = chained(json.encode(entry), end)
            lines.append(line)
        if sum(map(len, lines)) == before:
            line, end = chained(json.encode(JournalLine()), end)
            lines.append(line)
        write_synced(self.path, lines)
        _remember(connection, self.size())

    def _missing(
        self, connection: sqlite3.Connection, faults: Sequence[JournalFault], entries: Sequence[JournalLine]
    ) -> Iterable[str]:
        """Submissions that any line names, or whose attempts are kept, and the database does not know."""
        named = [found.decode(errors="replace") for fault in faults for found in _SUBMITTED.findall(fault.content)]
        named += [entry.cancelled for entry in entries if entry.cancelled is not None]
        named += [line.submission for entry in entries for line in entry.disclosed if line.submission is not None]
        if self._attempts.is_dir():
            named += sorted(path.name for path in self._attempts.iterdir())
        known = {row[0] for row in connection.execute("SELECT id FROM submission")}
        return [one for one in dict.fromkeys(named) if one not in known]

    def forget(self, connection: sqlite3.Connection) -> None:
        """Have the database read the journal from its beginning."""
        _remember(connection, 0)

    def _take_up(self, connection: sqlite3.Connection, entries: Sequence[JournalLine]) -> int:
        adopted = 0
        for entry in entries:
            if entry.submitted is not None:
                adopted += _insert(connection, entry.submitted)
            elif entry.cancelled is not None:
                connection.execute(
                    "UPDATE submission SET status=?, reason=?, cancel_requested=1, finished=created "
                    "WHERE id=? AND status='RECEIVED'",
                    (Status.REJECTED, CANCELLED, entry.cancelled),
                )
            add_lines(connection, entry.disclosed)
        _remember(connection, self.size())
        return adopted

    def _append(self, connection: sqlite3.Connection, entry: JournalLine, *, wait: bool = True) -> None:
        size = self.size()
        line, _ = chained(json.encode(entry), self._end_of(size))
        try:
            with self.path.open("ab") as file:
                try:
                    file.write(line)
                    file.flush()
                    if wait:
                        os.fsync(file.fileno())
                except OSError:
                    os.truncate(self.path, size)
                    raise
        except OSError as fault:
            raise InfrastructureFault(f"{self.path} cannot be written: {fault.strerror}") from None
        _remember(connection, size + len(line))

    def _end_of(self, size: int) -> ChainEnd:
        """The newest line of the file, which is that long; read from its last bytes where they are enough."""
        return (self._newest(size) or self._whole(size)) if size else ChainEnd()

    def _newest(self, size: int) -> ChainEnd | None:
        with self.path.open("rb") as file:
            file.seek(max(0, size - _TAIL))
            tail = file.read()
        begin = tail.rfind(b"\n", 0, -1) + 1
        return end_of_line(tail[begin:]) if begin or size <= _TAIL else None

    def _whole(self, size: int) -> ChainEnd:
        reader = ChainReader()
        reader.read(self._bytes(size), _LINES)
        if reader.faults:
            raise JournalDamage(self.path, reader.faults)
        return reader.end

    def _torn_beyond(self, offset: int) -> bool:
        """Whether the database knows all but a line that was cut short, and so was never promised to anybody."""
        with self.path.open("rb") as file:
            file.seek(offset)
            rest = file.read()
        return bool(rest) and b"\n" not in rest

    def _read(self, offset: int, *, beyond: bool = True) -> list[JournalLine]:
        """What stands beyond the offset; all lines up to there are looked at too."""
        reader = ChainReader()
        data = self._bytes(None if beyond else offset)
        reader.read(data[:offset], _LINES)
        entries = reader.read(data[offset:], _LINES)
        if len(data) < offset:
            reader.faults.append(_too_short(data, offset))
        if reader.faults:
            raise JournalDamage(self.path, reader.faults)
        return entries

    def _bytes(self, size: int | None) -> bytes:
        if not self.path.exists():
            return b""
        with self.path.open("rb") as file:
            return file.read(-1 if size is None else size)

    def size(self) -> int:
        """In bytes."""
        return self.path.stat().st_size if self.path.exists() else 0


def _renamed(entry: JournalLine, team: str, pseudonym: str) -> JournalLine:
    row = entry.submitted
    if row is not None and row.team == team:
        row = replace(row, team=pseudonym, submitter=None, key=None, name=None)
    lines = [replace(line, team=pseudonym) if line.team == team else line for line in entry.disclosed]
    return replace(entry, submitted=row, disclosed=tuple(lines))


def _too_short(data: bytes, known: int) -> JournalFault:
    return JournalFault(data.count(b"\n") + 1, f"and what follows are gone: {known - len(data):,} bytes")


def _known_beside(connection: sqlite3.Connection, entries: Sequence[JournalLine]) -> Iterator[JournalLine]:
    """What the database knows and these lines do not say."""
    submitted = {entry.submitted.id for entry in entries if entry.submitted is not None}
    cancelled = {entry.cancelled for entry in entries}
    for row in connection.execute(f"SELECT {', '.join(_COLUMNS)}, status, reason FROM submission ORDER BY seq"):  # noqa: S608 (our own names)
        *columns, status, reason = row
        if columns[0] not in submitted:
            yield JournalLine(submitted=convert(dict(zip(_COLUMNS, columns, strict=True)), SubmittedRow))
        if status == Status.REJECTED and reason == CANCELLED and columns[0] not in cancelled:
            yield JournalLine(cancelled=columns[0])
    told = {_mark(line) for entry in entries for line in entry.disclosed}
    if missed := tuple(line for line in lines_in(connection) if _mark(line) not in told):
        yield JournalLine(disclosed=missed)


def _mark(line: LedgerLine) -> tuple[str | None, ...]:
    return (line.submission, line.team, line.what, line.mark)


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
