"""Rows of the database as submissions."""

import datetime
import sqlite3
from collections.abc import Mapping
from typing import overload

import msgspec

from sandscore.base.clock import uptime, utc_now, written
from sandscore.base.process_identity import boot, gone
from sandscore.records.submission import Status, Submission, SubmissionKind


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
