"""The door of the embedded home: what a server does for teams, on one connection that one thread uses."""

import datetime
from pathlib import Path

from sandscore.queue.home_protocol import ErasedSubmissions
from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin, counted_of, refused_slot, submit
from sandscore.queue.homes.sqlite.sqlite_database import Database, submission_of
from sandscore.queue.homes.sqlite.sqlite_ledger import rename_in_ledger
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission, TeamSlots, quota_of, slots
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import CANCELLED, Submission


class SqliteDoor:
    """Keeps the promises of ``SubmissionDoor``."""

    def __init__(self, workspace: Workspace) -> None:
        self._database = Database(workspace.root)
        self._journal = SubmissionJournal(workspace.root)
        self._admin = SqliteAdmin(self._database, self._journal)

    def close(self) -> None:
        self._database.close()

    def submit(self, workspace: Workspace, entry: NewSubmission) -> str:
        return submit(self._database, self._journal, workspace, entry)

    def knows(self, team: str, key: str) -> bool:
        with self._database.reading() as connection:
            found = connection.execute("SELECT 1 FROM submission WHERE team=? AND key=?", (team, key)).fetchone()
        return found is not None

    def slots(self, workspace: Workspace, team: str, phase: str | None, now: datetime.datetime) -> TeamSlots:
        quota, within = quota_of(workspace.challenge, phase)
        with self._database.reading() as connection:
            counted = counted_of(connection, team, within)
            refused = refused_slot(connection, workspace.challenge, team, phase, now)
        return TeamSlots(slots(quota, counted, now), refused)

    def submissions(self, team: str) -> list[Submission]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT * FROM submission WHERE team=? ORDER BY seq", (team,))
            return [submission_of(row) for row in rows]

    def find(self, team: str, submission_id: str) -> Submission | None:
        found = self._admin.find(submission_id)
        return found if found is not None and found.team == team else None

    def folder(self, workspace: Workspace, submission_id: str) -> Path | None:
        kept = self._admin.folder_of(submission_id)
        return None if kept is None else workspace.attempts.parent / kept

    def cancel(self, submission_id: str) -> bool:
        return self._admin.cancel(submission_id)

    def changes(self) -> tuple[int, ...]:
        path = self._database.path
        return (*_marks(path), *_marks(path.with_name(f"{path.name}-wal")))

    def refused_before(self, moment: str) -> set[str]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT file FROM submission WHERE file IS NOT NULL GROUP BY file "
                "HAVING min(status='INVALID') AND max(finished) < ?",
                (moment,),
            )
            return {row[0] for row in rows}

    def invalid_before(self, moment: str) -> set[str]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id FROM submission WHERE status='INVALID' AND finished < ?", (moment,))
            return {row[0] for row in rows}

    def teams(self) -> set[str]:
        with self._database.reading() as connection:
            return {row[0] for row in connection.execute("SELECT DISTINCT team FROM submission")}

    def submissions_to_erase(self, team: str) -> ErasedSubmissions:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id, name FROM submission WHERE team=?", (team,)).fetchall()
            files = connection.execute(
                "SELECT DISTINCT file FROM submission WHERE team=? AND file IS NOT NULL "
                "AND file NOT IN (SELECT file FROM submission WHERE team<>? AND file IS NOT NULL)",
                (team, team),
            ).fetchall()
        names = [row["name"] for row in rows if row["name"] is not None]
        return ErasedSubmissions([row["id"] for row in rows], names, [row[0] for row in files])

    def erase(self, team: str, pseudonym: str) -> None:
        with self._database.writing() as connection:
            self._journal.forget(connection)
        with self._database.writing() as connection:
            self._journal.rename_team(connection, team, pseudonym)
            connection.execute(
                "UPDATE submission SET status='REJECTED', reason=?, finished=created, until=NULL, nonce=NULL "
                "WHERE team=? AND status IN ('RECEIVED', 'EVALUATION_IN_PROGRESS', 'VALIDATED')",
                (CANCELLED, team),
            )
            called = connection.execute("SELECT name FROM submission WHERE team=? AND name IS NOT NULL", (team,))
            for name in {team, *(row[0] for row in called)}:
                for table, key in (("submission", "id"), ("version", "submission")):
                    connection.execute(
                        f"UPDATE {table} SET feedback=replace(feedback, json_quote(?), json_quote(?)) "  # noqa: S608
                        f"WHERE {key} IN (SELECT id FROM submission WHERE team=?)",
                        (name, pseudonym, team),
                    )
            connection.execute(
                "UPDATE submission SET team=?, submitter=NULL, key=NULL, name=NULL WHERE team=?", (pseudonym, team)
            )
            rename_in_ledger(connection, team, pseudonym)
        self._database.compact()


def _marks(path: Path) -> tuple[int, ...]:
    """When it was written, and its size; none where it is not there, as the file written ahead may not be."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return ()
    return (seen.st_mtime_ns, seen.st_size)
