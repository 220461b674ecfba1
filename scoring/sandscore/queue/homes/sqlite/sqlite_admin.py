"""Orders to the queue from outside a claim: submitted, called back, tried again, read."""

import datetime
import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sandscore.base.clock import read, stamped, utc_now, written
from sandscore.queue.failure_quota import failure_refusal
from sandscore.queue.homes.sqlite.sqlite_database import (
    Database,
    as_json,
    failures_of,
    seconds_left,
    submission_of,
)
from sandscore.queue.homes.sqlite.sqlite_ledger import add_lines, lines_in
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal, SubmittedRow
from sandscore.queue.new_submission import KeyReused, NewSubmission, OverQuota, checked, keep_file, quota_of, refusal
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge
from sandscore.records.released_view import LedgerLine, Released, lines_of, view_of
from sandscore.records.submission import CANCELLED, Status, Submission, SubmissionKind, Version


def submit(database: Database, journal: SubmissionJournal, workspace: Workspace, entry: NewSubmission) -> str:
    """The id of the submission, once it is on disk: a new one, or the one that its team's key names."""
    with database.reading() as connection:
        row = _keyed(connection, entry)
    if row is None:
        phase = checked(workspace, entry)
        kept = entry.kept if entry.predictions is None else keep_file(workspace, entry.predictions, phase)
        with database.writing() as connection:
            row = _keyed(connection, entry)
            if row is None:
                refused = refused_slot(connection, workspace.challenge, entry.team, phase, entry.arrived or utc_now())
                if refused is not None:
                    raise refused
                row = _new_row(entry, phase, kept)
                journal.submitted(connection, row)
    from sandscore.attestation.log_lines import HandedIn
    from sandscore.queue.public_log import PublicLog

    content = str(row.image) if row.file is None else f"sha256:{row.file}"
    PublicLog(workspace).accept(HandedIn(row.id, row.task, row.phase, content))
    return row.id


def _new_row(entry: NewSubmission, phase: str | None, kept: str | None) -> SubmittedRow:
    return SubmittedRow(
        id=secrets.token_hex(6),
        team=entry.team,
        task=entry.task,
        phase=phase,
        kind=SubmissionKind.PREDICTIONS if entry.image is None else SubmissionKind.IMAGE,
        image=entry.image,
        file=kept,
        submitter=entry.submitter,
        created=stamped(entry.arrived or utc_now()),
        name=entry.name,
        key=entry.key,
    )


def _keyed(connection: sqlite3.Connection, entry: NewSubmission) -> SubmittedRow | None:
    """What the team handed in under that key; another submission under the same key is refused."""
    if entry.key is None:
        return None
    names = SubmittedRow.__struct_fields__
    found = connection.execute(
        f"SELECT {', '.join(names)} FROM submission WHERE team=? AND key=?",  # noqa: S608 (our own names)
        (entry.team, entry.key),
    ).fetchone()
    if found is None:
        return None
    row = msgspec.convert(dict(found), SubmittedRow)
    said = (entry.task, entry.phase or row.phase, entry.image, entry.kept)
    if said != (row.task, row.phase, row.image, row.file):
        raise KeyReused(f"the key names the submission {row.id}, which is another one")
    return row


def counted_of(connection: sqlite3.Connection, team: str, phase: str | None) -> list[datetime.datetime]:
    """When a team handed in what counts; in all phases where none is named."""
    found = connection.execute(
        "SELECT created FROM submission WHERE team=? AND (? IS NULL OR phase=?) "
        "AND status NOT IN ('INVALID', 'REJECTED') AND NOT needs_organiser",
        (team, phase, phase),
    )
    return [read(row[0]) for row in found]


def refused_slot(
    connection: sqlite3.Connection, challenge: Challenge, team: str, phase: str | None, now: datetime.datetime
) -> OverQuota | None:
    """Why a team may not hand in just now; None where it may."""
    quota, within = quota_of(challenge, phase)
    refused = refusal(quota, counted_of(connection, team, within), now)
    return refused or failure_refusal(challenge, phase, failures_of(connection, team, within), now)


class AttemptRow(Struct, frozen=True):
    """An attempt, as the database keeps it."""

    submission: str
    number: int
    owner: str
    begun: str
    ended: str | None
    outcome: str | None
    reason: str | None
    seconds: float = 0.0


class VersionRow(Struct, frozen=True):
    """A score, as the database keeps it; the feedback is JSON."""

    submission: str
    number: int
    scores: dict[str, float | None]
    feedback: str | None
    signature: str | None
    cause: str
    created: str


class SqliteAdmin:
    """Reading the queue, and changing it from outside a claim."""

    def __init__(self, database: Database, journal: SubmissionJournal) -> None:
        self._database, self._journal = database, journal

    def submissions(self) -> list[Submission]:
        with self._database.reading() as connection:
            return [submission_of(row) for row in connection.execute("SELECT * FROM submission ORDER BY seq")]

    def find(self, submission_id: str) -> Submission | None:
        with self._database.reading() as connection:
            row = _row(connection, submission_id)
        return None if row is None else submission_of(row)

    def folder_of(self, submission_id: str) -> Path | None:
        with self._database.reading() as connection:
            row = connection.execute("SELECT folder FROM submission WHERE id=?", (submission_id,)).fetchone()
        return None if row is None or row["folder"] is None else Path(row["folder"])

    def attempts(self, submission_id: str) -> list[AttemptRow]:
        """The history of a submission, oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT * FROM attempt WHERE submission=? ORDER BY number", (submission_id,))
            return [AttemptRow(**row) for row in rows]

    def versions(self, submission_id: str) -> list[VersionRow]:
        with self._database.reading() as connection:
            rows = connection.execute("SELECT * FROM version WHERE submission=? ORDER BY number", (submission_id,))
            return [VersionRow(**{**row, "scores": json.loads(row["scores"])}) for row in rows]

    def cancel(self, submission_id: str) -> bool:
        with self._database.writing() as connection:
            row = _row(connection, submission_id)
            if row is None or Status(row["status"]).final:
                return False
            self._journal.cancelled(connection, submission_id)
            connection.execute("UPDATE submission SET cancel_requested=1 WHERE id=?", (submission_id,))
            if row["status"] == Status.RECEIVED or not seconds_left(row):
                connection.execute(
                    "UPDATE submission SET status='REJECTED', reason=?, finished=?, until=NULL, nonce=NULL WHERE id=?",
                    (CANCELLED, written(utc_now()), submission_id),
                )
        return True

    def requeue(self, submission_id: str) -> bool:
        with self._database.writing() as connection:
            row = _row(connection, submission_id)
            if row is None or (
                row["status"] in (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED) and seconds_left(row)
            ):
                return False
            connection.execute(
                "UPDATE submission SET status='RECEIVED', reason=NULL, finished=NULL, failures=0, losses=0, "
                "needs_organiser=0, cancel_requested=0, owner=NULL, nonce=NULL, until=NULL WHERE id=?",
                (submission_id,),
            )
        return True

    def add_version(self, connection: sqlite3.Connection, submission_id: str, version: Version) -> bool:
        """Beside the older ones, where it follows the current one."""
        scores, feedback = as_json(dict(version.scores)), as_json(view_of(version.feedback))
        changed = connection.execute(
            "UPDATE submission SET scores=?, feedback=?, version=? WHERE id=? AND version=? AND status='SCORED'",
            (scores, feedback, version.number, submission_id, version.number - 1),
        ).rowcount
        if changed:
            add_lines(connection, lines_of([version.feedback]), submission=submission_id)
            connection.execute(
                "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?)",
                (submission_id, version.number, scores, feedback, version.signature, version.cause, written(utc_now())),
            )
        return bool(changed)

    def disclose(self, lines: Sequence[LedgerLine]) -> None:
        with self._database.writing() as connection:
            add_lines(connection, lines)

    def disclosed(self) -> list[LedgerLine]:
        with self._database.reading() as connection:
            return lines_in(connection)

    def publish_feedback(self, submission: Submission, feedback: Released[Mapping[str, object]]) -> None:
        told = as_json(feedback.view)
        with self._database.writing() as connection:
            add_lines(connection, [feedback.line], team=submission.team, submission=submission.id)
            for table, key in (("submission", "id"), ("version", "submission")):
                number = "version" if table == "submission" else "number"
                connection.execute(
                    f"UPDATE {table} SET feedback=? WHERE {key}=? AND {number}=?",  # noqa: S608 (our own names)
                    (told, submission.id, submission.version),
                )


def _row(connection: sqlite3.Connection, submission_id: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM submission WHERE id=?", (submission_id,)).fetchone()
    return row
