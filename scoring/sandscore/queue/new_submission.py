"""A submission as a team hands it in: checked, its file kept, counted against the quota, whichever home takes it.

How many submissions a team may make, counted as Synapse does: all but INVALID and REJECTED, days from 00:00 UTC.
"""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sandscore.base.byte_sources import opened_regular
from sandscore.base.clock import DAY, written
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.whole_files import told, write_file
from sandscore.containers.registries.registry_list import require_allowed
from sandscore.queue.homes.home_registry import home_of
from sandscore.queue.queue_layout import OWNER_FILE, OWNER_FOLDER
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge, Quota, SlotCounts


def quota_of(challenge: Challenge, phase: str | None) -> tuple[Quota, str | None]:
    """The phase's own quota, counted within it; else the challenge's, counted over all phases (None)."""
    own = next((p.quota for p in challenge.phases if p.name == phase), None)
    return (challenge.quota, None) if own is None else (own, phase)


def refusal(
    quota: SlotCounts, counted: Sequence[datetime.datetime], now: datetime.datetime, what: str = "submissions"
) -> str | None:
    """Why a further submission is refused, and when the next slot opens; None if there is room.

    ``counted`` are the times of the team's submissions that count.
    """
    if quota.total is not None and len(counted) >= quota.total:
        return f"the team has used all {quota.total} {what} it may make in all; no further slot will open"
    full = []
    for limit, begin, length, name in _windows(quota, now):
        used = sum(begin <= moment < begin + length for moment in counted)
        if limit is not None and used >= limit:
            full.append((begin + length, f"the team has used all {limit} {what} it may make in a {name}"))
    if not full:
        return None
    opens, sentence = max(full)
    return f"{sentence}; the next slot opens at {written(opens)}"


def _windows(
    quota: SlotCounts, now: datetime.datetime
) -> list[tuple[int | None, datetime.datetime, datetime.timedelta, str]]:
    today = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return [(quota.day, today, DAY, "day"), (quota.week, today - today.weekday() * DAY, 7 * DAY, "week")]


_IMAGE = re.compile(r"(?:[a-z0-9][a-z0-9._:/-]*@)?sha256:[0-9a-f]{64}")


class NewSubmission(Struct, frozen=True):
    """What a team hands in: exactly one of an image and a file."""

    task: str
    team: str
    image: str | None = None
    predictions: Path | None = None
    phase: str | None = None
    submitter: str | None = None
    name: str | None = None
    """What the team calls it on the board."""


def keep_file(workspace: Workspace, given: Path, phase: str | None) -> str:
    """A copy, unpacked, under the SHA-256 of its bytes."""
    most = workspace.most_bytes(phase)
    with opened_regular(given, most) as source, memoryview(source.data) as content, told(workspace.files):
        workspace.files.mkdir(mode=OWNER_FOLDER, exist_ok=True)
        digest = source.sha256()
        write_file(workspace.files / digest, content, sync=True, mode=OWNER_FILE)
    return digest


def checked(workspace: Workspace, entry: NewSubmission) -> str | None:
    """The phase that it is for; refused where it is not as it must be."""
    if (entry.image is None) == (entry.predictions is None):
        raise UsageFault("submit exactly one of --image and --predictions")
    if entry.image is not None and not _IMAGE.fullmatch(entry.image):
        raise UsageFault("an image is submitted by digest, as repository@sha256:…: a tag could change behind our back")
    for what, name in (("a team's name", entry.team), ("a submission's name", entry.name)):
        if name is not None and (not name.strip() or not name.isprintable() or len(name) > 200):
            raise UsageFault(f"{what} has 1 to 200 printable characters")
    if entry.image is not None:
        images, home = workspace.challenge.images, home_of(workspace, {}).registries
        require_allowed(entry.image, images.registries, home, images.team(entry.team))
    workspace.task(entry.task)
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
