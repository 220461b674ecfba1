"""What the database keeps beside submissions and leases: back-offs, the ledger, copies. ``sqlite_database``,
``sqlite_claims``, ``sqlite_admin``."""

import sqlite3
from pathlib import Path

import pytest
from queue_samples import hand_in, queue

from sandscore.base.clock import read, utc_now
from sandscore.queue.homes.sqlite.database_copy import DatabaseCopy
from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin
from sandscore.queue.homes.sqlite.sqlite_claims import SqliteClaims
from sandscore.queue.homes.sqlite.sqlite_database import Database, back_up
from sandscore.queue.homes.sqlite.sqlite_ledger import add_lines
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine
from sandscore.records.submission import Committed


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return queue(tmp_path, first_wait_seconds=40)


def test_a_failure_of_ours_is_not_tried_again_before_its_time(workspace: Workspace) -> None:
    key, database = hand_in(workspace), Database(workspace.root)
    try:
        claims, admin = (
            SqliteClaims(database, workspace.settings),
            SqliteAdmin(database, SubmissionJournal(workspace.root)),
        )
        (one,) = admin.submissions()
        assert one.not_before is None
        with database.writing() as connection:
            held = claims.claim(connection, one, "owner", 30.0)
        assert held is not None
        running = admin.find(key)
        assert running is not None
        assert running.not_before is None, "a lease is no back-off"
        with database.writing() as connection:
            assert claims.release(connection, held, "the disk is full", True) is Committed.DONE
        waiting = admin.find(key)
        assert waiting is not None
        assert waiting.failures == 1
        assert waiting.not_before is not None
        assert 20 < (read(waiting.not_before) - utc_now()).total_seconds() <= 60
    finally:
        database.close()


def test_a_line_of_the_ledger_stands_once(workspace: Workspace) -> None:
    database = Database(workspace.root)
    try:
        lines = [LedgerLine(what="a", bits=1.5, mark="m"), LedgerLine(what="a", team="other", mark="m")]
        for submission in ("x", "x", "y"):
            with database.writing() as connection:
                add_lines(connection, [], team="t")
                add_lines(connection, lines, team="t", submission=submission)
        with database.reading() as connection:
            found = [tuple(row) for row in connection.execute("SELECT team, submission, what, bits FROM disclosed")]
    finally:
        database.close()
    assert found == [("t", "x", "a", 1.5), ("other", "x", "a", 0.0), ("t", "y", "a", 1.5), ("other", "y", "a", 0.0)]


def test_a_copy_is_made_where_it_is_wanted_and_again(workspace: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "no" / "such" / "copy.sqlite"
    hand_in(workspace)
    back_up(workspace.root, target)
    hand_in(workspace)
    back_up(workspace.root, target)
    copy = sqlite3.connect(target)
    try:
        assert copy.execute("SELECT count(*) FROM submission").fetchone() == (2,)
    finally:
        copy.close()
    assert [path.name for path in target.parent.iterdir()] == ["copy.sqlite"]


def test_a_copy_is_outdated_once_its_source_is_another(tmp_path: Path) -> None:
    source = tmp_path / "queue.sqlite"
    source.write_bytes(b"as it was")
    copy = DatabaseCopy(source)
    try:
        assert copy.path.read_bytes() == b"as it was"
        before = copy.outdated
        source.with_name("queue.sqlite-wal").write_bytes(b"and more")
        assert (before, copy.outdated) == (False, True)
    finally:
        copy.close()
    assert not copy.path.exists()
