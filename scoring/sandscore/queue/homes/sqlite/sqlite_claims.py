"""Claims in the database: taken, renewed, fenced and ended, each within one transaction."""

import secrets
import sqlite3
from collections.abc import Callable
from itertools import islice

import msgspec
from msgspec.structs import replace

from sandscore.base.clock import uptime, utc_now, wait_after, written
from sandscore.base.process_identity import boot
from sandscore.disclosure.released import CALLED_BACK, OVER_QUOTA
from sandscore.queue.failure_quota import failure_refusal
from sandscore.queue.fair_turns import Turns
from sandscore.queue.homes.sqlite.sqlite_database import (
    Database,
    Gone,
    as_json,
    failures_of,
    seconds_left,
    submission_of,
)
from sandscore.queue.homes.sqlite.sqlite_ledger import add_lines
from sandscore.queue.new_submission import quota_of
from sandscore.queue.settings import QueueSettings
from sandscore.records.challenge import Challenge
from sandscore.records.released_view import view_of
from sandscore.records.submission import CANCELLED, REHEARSED, Claim, Committed, Signal, Status, Submission, Verdict

_OPEN = """
SELECT id, team, status, owner, until, boot FROM submission
WHERE status IN ('RECEIVED', 'EVALUATION_IN_PROGRESS', 'VALIDATED') AND needs_organiser = 0 ORDER BY seq
"""
_NAMED = """
SELECT submission.* FROM json_each(?) AS named JOIN submission ON submission.id = named.value ORDER BY named.key
"""
_TODAY = """
SELECT team, count(DISTINCT submission) FROM attempt JOIN submission ON submission.id = attempt.submission
WHERE begun >= ? AND coalesce(outcome, '') NOT IN ('failed', 'lost', 'handed back') GROUP BY team
"""


class SqliteClaims:
    """What workers do to the queue: each change within the transaction it is given."""

    def __init__(
        self, database: Database, settings: QueueSettings, challenge: Callable[[], Challenge] | None = None
    ) -> None:
        self._database, self._settings, self._challenge = database, settings, challenge

    def claimable(self, most: int) -> list[Submission]:
        known, waiting, turns = Gone(), list[sqlite3.Row](), Turns()
        with self._database.reading() as connection:
            for row in connection.execute(_OPEN):
                if not seconds_left(row, known):
                    waiting.append(row)
                elif row["status"] != Status.RECEIVED:
                    turns.running[row["team"]] += 1
            turns.today.update(dict(connection.execute(_TODAY, (written(utc_now())[:10],)).fetchall()))
            chosen = islice(turns.ordered(waiting, lambda row: str(row["team"])), most)
            return [*map(submission_of, _rows(connection, [one["id"] for one in chosen]))]

    def seconds_until_claimable(self) -> float | None:
        soonest, known = None, Gone()
        with self._database.reading() as connection:
            for row in connection.execute(_OPEN):
                left = seconds_left(row, known)
                soonest = left if soonest is None else min(left, soonest)
                if not soonest:
                    break
        return soonest

    def claim(
        self, connection: sqlite3.Connection, submission: Submission, owner: str, lease_seconds: float
    ) -> Claim | None:
        row = _row(connection, submission.id)
        if row is None or Status(row["status"]).final or row["needs_organiser"] or seconds_left(row):
            return None
        if row["status"] != Status.RECEIVED and self._lost(connection, row):
            return None
        if row["cancel_requested"]:
            _finish(connection, row, Verdict(Status.REJECTED, CALLED_BACK))
            return None
        if self._fails_too_often(connection, row):
            _finish(connection, row, Verdict(Status.REJECTED, OVER_QUOTA))
            return None
        nonce, attempt = secrets.token_hex(16), row["attempt"] + 1
        lease = (uptime() + lease_seconds, boot(), submission.id)
        connection.execute(
            "UPDATE submission SET status=?, attempt=?, owner=?, nonce=?, reason=NULL, until=?, boot=? WHERE id=?",
            (Status.EVALUATION_IN_PROGRESS, attempt, owner, nonce, *lease),
        )
        connection.execute(
            "INSERT OR REPLACE INTO attempt (submission, number, owner, begun) VALUES (?, ?, ?, ?)",
            (submission.id, attempt, owner, written(utc_now())),
        )
        taken = replace(submission, status=Status.EVALUATION_IN_PROGRESS, attempt=attempt)
        return Claim(taken, attempt, owner, nonce, lease_seconds)

    def heartbeat(self, connection: sqlite3.Connection, claim: Claim, status: Status | None = None) -> Signal:
        row = _row(connection, claim.submission.id)
        if row is None or not _held(row, claim):
            return Signal.LOST
        connection.execute(
            "UPDATE submission SET until=?, boot=?, status=coalesce(?, status) WHERE id=?",
            (uptime() + claim.lease_seconds, boot(), status, claim.submission.id),
        )
        return Signal.CANCEL if row["cancel_requested"] else Signal.GO_ON

    def commit(self, connection: sqlite3.Connection, claim: Claim, verdict: Verdict) -> Committed:
        row = _row(connection, claim.submission.id)
        if row is None or (row["attempt"], row["nonce"]) != (claim.attempt, claim.nonce):
            return Committed.STALE
        if Status(row["status"]).final:
            return Committed.CANCELLED if row["reason"] == CANCELLED else Committed.DONE
        if not _held(row, claim):
            return Committed.STALE
        called_back = bool(row["cancel_requested"])
        over = Verdict(Status.REJECTED, CALLED_BACK, seconds=verdict.seconds)
        _finish(connection, row, over if called_back else verdict)
        return Committed.CANCELLED if called_back or verdict.reason_text == CANCELLED else Committed.DONE

    def release(self, connection: sqlite3.Connection, claim: Claim, reason: str, our_fault: bool) -> Committed:
        row = _row(connection, claim.submission.id)
        if row is None or not _held(row, claim):
            return Committed.STALE
        if row["cancel_requested"]:
            _finish(connection, row, Verdict(Status.REJECTED, CALLED_BACK))
            return Committed.CANCELLED
        failures = row["failures"] + our_fault
        wait = wait_after(failures, self._settings.first_wait_seconds) if our_fault else 0.0
        helpless = our_fault and failures >= self._settings.most_failures
        _put_back(connection, row, reason, outcome="failed" if our_fault else "handed back")
        connection.execute(
            "UPDATE submission SET failures=?, losses=0, needs_organiser=?, until=?, boot=? WHERE id=?",
            (failures, helpless, uptime() + wait, boot(), row["id"]),
        )
        return Committed.DONE

    def rehearsed(self, connection: sqlite3.Connection, claim: Claim) -> Committed:
        row = _row(connection, claim.submission.id)
        if row is None or not _held(row, claim):
            return Committed.STALE
        connection.execute("UPDATE submission SET rehearsed=1 WHERE id=?", (row["id"],))
        return self.release(connection, claim, REHEARSED, our_fault=False)

    def _fails_too_often(self, connection: sqlite3.Connection, row: sqlite3.Row) -> bool:
        if self._challenge is None:
            return False
        challenge = self._challenge()
        _, within = quota_of(challenge, row["phase"])
        failures = failures_of(connection, row["team"], within)
        return failure_refusal(challenge, row["phase"], failures, utc_now()) is not None

    def _lost(self, connection: sqlite3.Connection, row: sqlite3.Row) -> bool:
        """The worker that had it is gone. Whether that happened once too often."""
        told = "the worker stopped without a word"
        helpless: bool = row["losses"] + 1 >= self._settings.most_losses
        _put_back(connection, row, told, outcome="lost")
        connection.execute("UPDATE submission SET losses=losses+1, needs_organiser=? WHERE id=?", (helpless, row["id"]))
        return helpless


def _row(connection: sqlite3.Connection, submission_id: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM submission WHERE id=?", (submission_id,)).fetchone()
    return row


def _rows(connection: sqlite3.Connection, names: list[str]) -> list[sqlite3.Row]:
    """In the order of the names."""
    return connection.execute(_NAMED, (msgspec.json.encode(names).decode(),)).fetchall()


def _held(row: sqlite3.Row, claim: Claim) -> bool:
    """A lease that ran out but that nobody took over is still ours to renew."""
    if row["status"] not in (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED):
        return False
    return (row["attempt"], row["nonce"]) == (claim.attempt, claim.nonce)


def _finish(connection: sqlite3.Connection, row: sqlite3.Row, verdict: Verdict) -> None:
    now = written(utc_now())
    scored = verdict.status is Status.SCORED
    scores, feedback = as_json(dict(verdict.scores)), as_json(view_of(verdict.feedback))
    add_lines(connection, verdict.lines, team=row["team"], submission=row["id"])
    connection.execute(
        "UPDATE submission SET status=?, reason=?, finished=?, scores=?, feedback=?, version=?, folder=?, "
        "until=NULL, failures=0, losses=0 WHERE id=?",
        (
            verdict.status,
            verdict.reason_text,
            now,
            scores,
            feedback,
            row["version"] + scored,
            None if verdict.folder is None else str(verdict.folder),
            row["id"],
        ),
    )
    if scored:
        connection.execute(
            "INSERT INTO version VALUES (?, ?, ?, ?, ?, 'scored', ?)",
            (row["id"], row["version"] + 1, scores, feedback, verdict.signature, now),
        )
    _end_attempt(connection, row, str(verdict.status), verdict.reason_text, verdict.seconds)


def _put_back(connection: sqlite3.Connection, row: sqlite3.Row, reason: str, outcome: str) -> None:
    connection.execute(
        "UPDATE submission SET status='RECEIVED', reason=?, owner=NULL, nonce=NULL, until=NULL WHERE id=?",
        (reason, row["id"]),
    )
    _end_attempt(connection, row, outcome, reason)


def _end_attempt(
    connection: sqlite3.Connection, row: sqlite3.Row, outcome: str, reason: str | None, seconds: float = 0.0
) -> None:
    connection.execute(
        "UPDATE attempt SET ended=?, outcome=?, reason=?, seconds=? WHERE submission=? AND number=?",
        (written(utc_now()), outcome, reason, seconds, row["id"], row["attempt"]),
    )
