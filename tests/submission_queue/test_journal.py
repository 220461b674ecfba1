"""A database set back to a backup: what was handed in since is taken up again, cancels too, nothing is told twice."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from queue_samples import HIDDEN, RIGHT, WRONG_PLACE, hand_in, opened, queue, with_home
from queue_siege import Siege

from sandscore.base.errors import SandscoreError
from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_database import FILE, Database, back_up
from sandscore.queue.homes.sqlite.submission_journal import FILE as JOURNAL
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal, SubmittedRow
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine
from sandscore.records.submission import Submission, SubmissionKind

pytestmark = pytest.mark.usefixtures("near_children")


def submissions(workspace: Workspace) -> list[Submission]:
    return list(with_home(workspace, lambda home: home.submissions()))


def restore(workspace: Workspace, backup: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        (workspace.private / f"{FILE}{ending}").unlink(missing_ok=True)
    (workspace.private / FILE).write_bytes(backup.read_bytes())


def test_what_came_after_the_backup_is_not_lost(tmp_path: Path) -> None:
    workspace, backup = queue(tmp_path), tmp_path / "backup.sqlite"
    before = hand_in(workspace)
    back_up(workspace.root, backup)
    after, called_back = hand_in(workspace, RIGHT, "Team B"), hand_in(workspace, RIGHT, "Team C")
    with_home(workspace, lambda home: home.cancel(called_back))
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    told = (workspace.private / "notices.jsonl").read_bytes()
    restore(workspace, backup)
    assert {one.id: one.status for one in submissions(workspace)} == {
        before: "RECEIVED",
        after: "RECEIVED",
        called_back: "REJECTED",
    }
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    assert [(one.status, one.version) for one in submissions(workspace)] == [
        ("SCORED", 1),
        ("SCORED", 1),
        ("REJECTED", 0),
    ]
    assert (workspace.private / "notices.jsonl").read_bytes() == told
    kept = {folder.name: [path.name for path in folder.iterdir()] for folder in workspace.attempts.iterdir()}
    assert {name: len(folders) for name, folders in kept.items()} == {before: 1, after: 1}, (
        "the newer attempts are gone"
    )
    board = json.loads((workspace.boards / "date.json").read_bytes())
    assert sorted(row["submission"] for row in board["rows"]) == sorted([before, after])


def disclosed(workspace: Workspace) -> list[LedgerLine]:
    return list(with_home(workspace, lambda home: home.disclosed()))


def test_what_was_told_stays_told_whatever_is_restored(tmp_path: Path) -> None:
    """The ledger is whole after a backup that knows nothing of it, and without any; said again it is no news."""
    workspace, backup = queue(tmp_path, HIDDEN), tmp_path / "backup.sqlite"
    back_up(workspace.root, backup)
    hand_in(workspace, RIGHT)
    hand_in(workspace, WRONG_PLACE, "Team B")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    told, journal = disclosed(workspace), workspace.private / JOURNAL
    assert {"status", "score", "reason", "problems", "board"} <= {line.what for line in told}
    kept = journal.read_bytes()
    restore(workspace, backup)
    assert disclosed(workspace) == told
    assert journal.read_bytes() == kept, "what is taken up is not said once more"
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    again = disclosed(workspace)
    assert again[: len(told)] == told
    assert {line.what for line in again[len(told) :]} <= {"board"}, "whose seed the grown log goes into"
    for path in workspace.private.glob("queue.sqlite*"):
        path.unlink()
    assert run(["queue", "init", str(workspace.root), "--challenge", str(workspace.private / "challenge.toml")]) == 0
    assert disclosed(workspace) == again


def test_a_line_cut_short_was_promised_to_nobody(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    first = hand_in(workspace)
    journal = workspace.private / JOURNAL
    with journal.open("ab") as file:
        file.write(b'{"submitted":{"id":"cut')
    second = hand_in(workspace)
    assert [one.id for one in submissions(workspace)] == [first, second]
    assert [json.loads(line)["submitted"]["id"] for line in journal.read_bytes().splitlines() if line[-1:] == b"}"] == [
        first,
        second,
    ]


def test_a_siege_with_restores(tmp_path: Path) -> None:
    """A restore at the worst time: while workers are busy and after results were committed."""
    siege = Siege(tmp_path, seed=11, submissions=30)
    backup = tmp_path / "backup.sqlite"
    back_up(siege.workspace.root, backup)
    siege.attack(kills=4)
    siege.restore(backup)
    siege.drain()
    assert sum(siege.check().values()) == len(siege.handed_in)


def test_a_queue_without_its_database_is_made_anew_from_the_journal(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    first, called_back = hand_in(workspace), hand_in(workspace, RIGHT, "Team B")
    with_home(workspace, lambda home: home.cancel(called_back))
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    for path in workspace.private.glob("queue.sqlite*"):
        path.unlink()
    assert run(["queue", "list", str(workspace.root)]) == 66
    assert run(["queue", "init", str(workspace.root), "--challenge", str(workspace.root / "challenge.toml")]) == 0
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    assert {one.id: one.status for one in submissions(workspace)} == {first: "SCORED", called_back: "REJECTED"}
    assert len(list((workspace.attempts / first).iterdir())) == 1


def test_a_database_of_two_times_is_refused(tmp_path: Path) -> None:
    """Pages that belong to an older file, as a restore leaves them that forgets what lies beside it."""
    workspace = queue(tmp_path)
    for number in range(60):
        hand_in(workspace, RIGHT, f"Team {number}")
    database = workspace.private / FILE
    content = bytearray(database.read_bytes())
    page = 4096
    content[page * 3 : page * 4] = content[page * 2 : page * 3]
    database.write_bytes(content)
    assert run(["queue", "list", str(workspace.root)]) == 78


def test_what_failed_is_in_neither(tmp_path: Path) -> None:
    """A transaction that fails after its line was written, as on a full disk; the next one's line is one of a chain."""
    workspace = queue(tmp_path)
    first, journal = hand_in(workspace), workspace.private / JOURNAL
    kept, own = journal.read_bytes(), SubmissionJournal(workspace.root)
    lost = SubmittedRow("f" * 12, "A", "date", None, SubmissionKind.PREDICTIONS, None, "0" * 64, None, "2026-01-01")

    def fail(database: Database, fault: type[BaseException]) -> None:
        with database.writing() as connection:
            own.submitted(connection, lost)
            assert len(journal.read_bytes()) > len(kept)
            raise fault

    with opened(workspace) as database:
        for fault in (OSError, KeyboardInterrupt):
            with pytest.raises((SandscoreError, fault)):
                fail(database, fault)
            assert journal.read_bytes() == kept
        with database.writing() as connection:
            own.submitted(connection, replace(lost, id="e" * 12))
    assert [one.id for one in submissions(workspace)] == [first, "e" * 12]
    assert run(["queue", "check", str(workspace.root)]) == 0
