"""``queue submit``: checked, kept, counted against the quota, and from then on never lost."""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from sandscore.queueing.embedded.database import Database
from sandscore.queueing.embedded.journal import Journal
from sandscore.queueing.quota import quota_of, refusal
from sandscore.queueing.submission import Kind
from sandscore.queueing.times import read, stamped, utc_now
from sandscore.queueing.workspace import Workspace
from sandscore.reading.sources import opened
from sandscore.records.challenge import Challenge
from sandscore.records.errors import InfrastructureFault, ParticipantFault, UsageFault
from sandscore.tasks import find_task

_CHUNK = 1 << 20
_IMAGE = re.compile(r"(?:[a-z0-9][a-z0-9._:/-]*@)?sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a team hands in: exactly one of an image and a file."""

    task: str
    team: str
    image: str | None = None
    predictions: Path | None = None
    phase: str | None = None
    submitter: str | None = None


def submit(database: Database, journal: Journal, workspace: Workspace, entry: Entry) -> str:
    """The id of the new submission, once it is on disk."""
    phase = _checked(workspace, entry)
    kept = None if entry.predictions is None else keep_file(workspace, entry.predictions)
    row = {
        "id": secrets.token_hex(6),
        "team": entry.team,
        "task": entry.task,
        "phase": phase,
        "kind": Kind.PREDICTIONS if entry.image is None else Kind.IMAGE,
        "image": entry.image,
        "file": kept,
        "submitter": entry.submitter,
    }
    with database.writing() as connection:
        now = utc_now()
        quota, within = quota_of(workspace.challenge, phase)
        counted = connection.execute(
            "SELECT created FROM submission WHERE team=? AND (? IS NULL OR phase=?) "
            "AND status NOT IN ('INVALID', 'REJECTED') AND NOT needs_organiser",
            (entry.team, within, within),
        )
        refused = refusal(quota, [read(found[0]) for found in counted], now)
        if refused is not None:
            raise ParticipantFault(refused)
        journal.submitted(connection, row | {"created": stamped(now)})
    return str(row["id"])


def keep_file(workspace: Workspace, given: Path) -> str:
    """A copy, unpacked, under the SHA-256 of its bytes."""
    most = workspace.settings.most_bytes
    part = workspace.files / f".{secrets.token_hex(8)}.part"
    with opened(given) as source, memoryview(source.data) as content:
        if len(content) > most:
            raise ParticipantFault(f"{given.name} has {len(content):,} bytes, more than the {most:,} allowed")
        try:
            workspace.files.mkdir(exist_ok=True)
            with part.open("wb") as target:
                for at in range(0, len(content), _CHUNK):
                    target.write(content[at : at + _CHUNK])
                target.flush()
                os.fsync(target.fileno())
            digest = source.sha256()
            part.replace(workspace.files / digest)
        except OSError as fault:
            raise InfrastructureFault(f"{workspace.files} cannot be written: {fault.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
    return digest


def _checked(workspace: Workspace, entry: Entry) -> str | None:
    if (entry.image is None) == (entry.predictions is None):
        raise UsageFault("submit exactly one of --image and --predictions")
    if entry.image is not None and not _IMAGE.fullmatch(entry.image):
        raise UsageFault("an image is submitted by digest, as repository@sha256:…: a tag could change behind our back")
    if not entry.team.strip() or not entry.team.isprintable() or len(entry.team) > 200:
        raise UsageFault("a team's name has 1 to 200 printable characters")
    find_task(entry.task)
    phase = open_phase(workspace.challenge, entry.phase)
    if entry.task not in (offered := workspace.tasks(phase)):
        raise UsageFault(f"the challenge has no gold for the task {entry.task}; it has {', '.join(offered)}")
    return phase


def open_phase(challenge: Challenge, name: str | None) -> str | None:
    """The phase that is meant: the one named, else the only one that has not ended."""
    if not challenge.phases and name is None:
        return None
    running = [phase.name for phase in challenge.phases if not phase.ended]
    if name is None and len(running) == 1:
        return running[0]
    if name in running:
        return name
    if name in [phase.name for phase in challenge.phases] or not running:
        raise ParticipantFault(f"the phase '{name}' has ended" if name else "the challenge has ended")
    raise UsageFault(f"choose a phase with --phase: {', '.join(running)}")
