"""The SQLite file: opened so that what was committed survives a power cut, its errors told in sentences.

Rows of the database as submissions.
"""

import datetime
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import overload

import msgspec

from sandscore.base.clock import read, uptime, utc_now, written
from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault, SandscoreError
from sandscore.base.process_identity import boot, gone
from sandscore.base.whole_files import part_of, told
from sandscore.queue.disk_space import full
from sandscore.queue.failure_quota import Failure, is_failure
from sandscore.queue.homes.sqlite.database_copy import DatabaseCopy, only_readable
from sandscore.queue.homes.sqlite.sqlite_ledger import last_line, lines_in
from sandscore.queue.homes.sqlite.submission_journal import DamageReport, SubmissionJournal
from sandscore.queue.queue_layout import OWNER_FILE, private_path, steady
from sandscore.records.submission import Status, Submission, SubmissionKind

FILE = "queue.sqlite"
_FORMAT, _READ = 2, (1, 2)
"""1 lay at the root of the queue's folder: who knows no other place must not write to it any more."""
_BUSY_SECONDS, _REST_SECONDS = 60.0, 2.0
_CHECKPOINT_PAGES = 4000

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
CREATE TABLE submission (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    task TEXT NOT NULL,
    phase TEXT,
    kind TEXT NOT NULL,
    image TEXT,
    file TEXT,
    submitter TEXT,
    created TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'RECEIVED',
    attempt INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    needs_organiser INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    nonce TEXT,
    until REAL,
    boot TEXT,
    reason TEXT,
    finished TEXT,
    scores TEXT NOT NULL DEFAULT '{}',
    feedback TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    folder TEXT
) STRICT;
CREATE INDEX waiting ON submission (seq) WHERE status IN ('RECEIVED', 'EVALUATION_IN_PROGRESS', 'VALIDATED');
CREATE INDEX by_team ON submission (team, created);
CREATE TABLE attempt (
    submission TEXT NOT NULL REFERENCES submission (id),
    number INTEGER NOT NULL,
    owner TEXT NOT NULL,
    begun TEXT NOT NULL,
    ended TEXT,
    outcome TEXT,
    reason TEXT,
    PRIMARY KEY (submission, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_by_day ON attempt (begun);
CREATE TABLE version (
    submission TEXT NOT NULL REFERENCES submission (id),
    number INTEGER NOT NULL,
    scores TEXT NOT NULL,
    feedback TEXT,
    signature TEXT,
    cause TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (submission, number)
) STRICT, WITHOUT ROWID;
"""
_ADDED = {
    "submission": {"rehearsed": "INTEGER NOT NULL DEFAULT 0", "name": "TEXT", "key": "TEXT"},
    "attempt": {"seconds": "REAL NOT NULL DEFAULT 0"},
}
"""Columns that came later: a queue that an older version made is given them when it is opened."""


class Database:
    """One connection, used by one thread. Where nothing can be written beside the file it is to a copy, and whoever
    wants to write is told why that cannot be."""

    def __init__(self, root: Path) -> None:
        with steady(root):  # once it is open nobody moves it
            self.path = private_path(root, FILE)
            if not self.path.is_file():
                raise MissingFile(f"{root} holds no queue ({FILE}); sandscore queue init makes one")
            self._journal = SubmissionJournal(root)
            self._copy: DatabaseCopy | None = None
            with said(self.path):
                self._connection = self._connected()
                found = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if found not in _READ:
            self.close()
            raise OrganiserFault(f"{self.path} has format {found}; this version of sandscore reads format {_FORMAT}")
        with said(self.path):
            _complete(self._connection)

    @property
    def only_read(self) -> bool:
        """Whether nothing can be written just now."""
        return self._copy is not None

    def _connected(self) -> sqlite3.Connection:
        try:
            return _connect(self.path)
        except sqlite3.OperationalError:
            if not only_readable(self.path):
                raise
        self._copy = DatabaseCopy(self.path)
        return _connect(self._copy.path)

    def _look_again(self) -> None:
        """Back to the file itself as soon as that can be; else to what it is now."""
        if self._copy is None or (only_readable(self.path) and not self._copy.outdated):
            return
        self.close()
        with said(self.path):
            self._connection = self._connected()
            _complete(self._connection)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view."""
        self._look_again()
        with said(self.path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing; on disk when this ends. First comes what the journal alone knows, and what the ledger
        is given goes into the journal too."""
        size: int | None = None
        try:
            with self._transaction() as connection:
                self._journal.catch_up(connection)
                size, before = self._journal.size(), last_line(connection)
                yield connection
                if told := lines_in(connection, before):
                    self._journal.disclosed(connection, told)
        except BaseException:
            if size is not None and self._journal.size() > size:
                with suppress(SandscoreError, OSError), self._transaction() as connection:
                    self._journal.take_back(connection, size)
            raise

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._look_again()
        if self._copy is not None:
            raise InfrastructureFault(f"{self.path}: {_why_not(self.path)}")
        with said(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def check(self) -> None:
        """A file that was put together from two times, or half copied, is better refused than believed."""
        with self.reading() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)

    def check_journal(self) -> None:
        """Raise where a line that this database has read is not as it was written any more."""
        with self.reading() as connection:
            self._journal.require_whole(connection)

    def accept_damage(self) -> DamageReport | None:
        """Go on without the damaged lines of the journal; None where none is."""
        with self._transaction() as connection:
            if not (faults := self._journal.faults(connection)):
                return None
            self._journal.forget(connection)
        with self._transaction() as connection:
            return self._journal.accept_damage(connection, faults)

    def copy_to(self, copy: sqlite3.Connection) -> None:
        self._connection.backup(copy)

    def compact(self) -> None:
        """What was overwritten is not in the file any more."""
        with said(self.path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._connection.close()
        if self._copy is not None:
            self._copy.close()
            self._copy = None


@contextmanager
def opened_database(root: Path) -> Iterator[Database]:
    """For one thing to be done, closed afterwards."""
    database = Database(root)
    try:
        yield database
    finally:
        database.close()


def create(folder: Path) -> None:
    """An empty queue in the private half; one that is there stays."""
    path = folder / FILE
    with said(path):
        connection = _connect(path)
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0]:
                return
            connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version={_FORMAT};COMMIT;")
            _complete(connection)
        finally:
            connection.close()
    path.chmod(OWNER_FILE)


_INDEXES = {
    "failed": "CREATE INDEX failed ON submission (team) WHERE status IN ('INVALID', 'REJECTED')",
    "by_key": "CREATE UNIQUE INDEX by_key ON submission (team, key) WHERE key IS NOT NULL",
}


def _complete(connection: sqlite3.Connection) -> None:
    """Give it what came later; whoever comes second finds it there."""
    if not any(_missing(connection)):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for change in [*_missing(connection)]:
            connection.execute(change)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _missing(connection: sqlite3.Connection) -> Iterator[str]:
    for table, columns in _ADDED.items():
        known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        yield from (
            f"ALTER TABLE {table} ADD COLUMN {name} {kind}" for name, kind in columns.items() if name not in known
        )
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='index'")}
    yield from (made for name, made in _INDEXES.items() if name not in there)


def failures_of(connection: sqlite3.Connection, team: str, phase: str | None) -> list[Failure]:
    """What has failed of a team; of all phases where none is named."""
    found = connection.execute(
        "SELECT status, reason, attempt, finished, (SELECT total(seconds) FROM attempt WHERE submission=id) AS spent "
        "FROM submission WHERE team=? AND status IN ('INVALID', 'REJECTED') AND (? IS NULL OR phase=?)",
        (team, phase, phase),
    )
    return [
        Failure(read(row["finished"]), row["spent"])
        for row in found
        if row["finished"] and is_failure(Status(row["status"]), row["reason"], row["attempt"])
    ]


def back_up(root: Path, target: Path) -> None:
    """A copy of the database as it stands, consistent whoever is writing."""
    with opened_database(root) as database, told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with part_of(target) as part:
            with said(part):
                copy = sqlite3.connect(part)
                try:
                    database.copy_to(copy)
                finally:
                    copy.close()
            part.chmod(OWNER_FILE)


@contextmanager
def at_rest(root: Path) -> Iterator[bool]:
    """Whether no claim is live and nobody has the file open. It stays so meanwhile, and it is one file."""
    path = private_path(root, FILE)
    if not path.is_file():
        yield True
        return
    with said(path):
        connection = sqlite3.connect(path, timeout=_REST_SECONDS, isolation_level=None)
    try:
        with said(path):
            rests = _rests(connection)
        yield rests
    finally:
        connection.close()


def _rests(connection: sqlite3.Connection) -> bool:
    connection.row_factory = sqlite3.Row
    try:
        if _claimed(connection) or _mode(connection, "=DELETE") != "delete":
            return False
        connection.execute(f"PRAGMA user_version={_FORMAT}")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:  # somebody has it open
        return False
    return _mode(connection) == "delete" and not _claimed(connection)


def _mode(connection: sqlite3.Connection, wanted: str = "") -> str:
    return str(connection.execute(f"PRAGMA journal_mode{wanted}").fetchone()[0])


def _claimed(connection: sqlite3.Connection) -> bool:
    rows = connection.execute("SELECT * FROM submission WHERE status IN ('EVALUATION_IN_PROGRESS', 'VALIDATED')")
    return any(seconds_left(row) for row in rows)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def said(path: Path) -> Iterator[None]:
    """Errors of the file as sentences: a damaged file needs the organiser, all else may pass."""
    try:
        yield
    except sqlite3.OperationalError as fault:
        told = _why_not(path) if only_readable(path) else str(fault)
        raise InfrastructureFault(f"{path}: {told}") from None
    except sqlite3.DatabaseError as fault:
        raise OrganiserFault(f"{path} is damaged ({fault}); stop the workers and restore it from a backup") from None


def _why_not(path: Path) -> str:
    return "the disk is full" if full(path.parent) else "the disk or folder is read-only"


def submission_of(row: sqlite3.Row) -> Submission:
    """As the rest of the queue knows it."""
    status = Status(row["status"])
    waiting = seconds_left(row) if status is Status.RECEIVED else 0.0
    return Submission(
        id=row["id"],
        team=row["team"],
        task=row["task"],
        kind=SubmissionKind(row["kind"]),
        status=status,
        created=row["created"],
        phase=row["phase"],
        image=row["image"],
        content=None if row["file"] is None else f"sha256:{row['file']}",
        submitter=row["submitter"],
        attempt=row["attempt"],
        failures=row["failures"],
        needs_organiser=bool(row["needs_organiser"]),
        cancel_requested=bool(row["cancel_requested"]),
        not_before=written(utc_now() + datetime.timedelta(seconds=waiting)) if waiting else None,
        reason=row["reason"],
        finished=row["finished"],
        version=row["version"],
        scores=msgspec.json.decode(row["scores"]),
        feedback=None if row["feedback"] is None else msgspec.json.decode(row["feedback"]),
        rehearsed=bool(row["rehearsed"]),
        name=row["name"],
    )


class Gone(dict[str, bool]):
    """Which owners are gone, each looked for once."""

    def __missing__(self, owner: str) -> bool:
        self[owner] = gone(owner)
        return self[owner]


def seconds_left(row: sqlite3.Row, known: Gone | None = None) -> float:
    """Of a lease (EVALUATION_IN_PROGRESS, VALIDATED) or a back-off (RECEIVED): 0 once it may be claimed."""
    if row["until"] is None or row["boot"] != boot():
        return 0.0
    if row["status"] != Status.RECEIVED and (Gone() if known is None else known)[row["owner"]]:
        return 0.0
    return max(0.0, float(row["until"]) - uptime())


@overload
def as_json(value: Mapping[str, object]) -> str: ...
@overload
def as_json(value: None) -> None: ...
def as_json(value: Mapping[str, object] | None) -> str | None:
    """For a column; what is not known is NULL."""
    return None if value is None else msgspec.json.encode(value).decode()
