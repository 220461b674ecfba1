"""A submission as a team hands it in: checked, its file kept, counted against the quota, whichever home takes it.

How many submissions a team may make, counted as Synapse does: all but INVALID and REJECTED, days from 00:00 UTC.
"""

import datetime
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sandscore.base.byte_sources import opened_regular, plain_size
from sandscore.base.clock import DAY, utc_now, written
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.whole_files import told, write_file
from sandscore.containers.registries.registry_list import require_allowed
from sandscore.queue.homes.home_registry import home_of
from sandscore.queue.queue_layout import OWNER_FILE, OWNER_FOLDER
from sandscore.queue.workspace import Workspace
from sandscore.records.challenge import Challenge, Phase, Quota, SlotCounts


def quota_of(challenge: Challenge, phase: str | None) -> tuple[Quota, str | None]:
    """The phase's own quota, counted within it; else the challenge's, counted over all phases (None)."""
    own = next((p.quota for p in challenge.phases if p.name == phase), None)
    return (challenge.quota, None) if own is None else (own, phase)


class SlotWindow(Struct, frozen=True):
    """A day, a week or the whole challenge: how many slots it has, and how many are used."""

    name: str
    limit: int
    used: int
    ends: datetime.datetime | None
    """When slots open again; None is never."""

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


class OverQuota(ParticipantFault):
    """No slot is free for a further submission; ``opens`` is when the next one is, None where none will be."""

    def __init__(self, sentence: str, opens: datetime.datetime | None) -> None:
        super().__init__(sentence)
        self.opens = opens


class TeamSlots(Struct, frozen=True):
    """What is left of a team's quota in a phase, and why it may not hand in just now, where it may not."""

    windows: Sequence[SlotWindow]
    refused: OverQuota | None


class PhaseClosed(ParticipantFault):
    """The phase takes nothing: it has not opened, has closed, or has ended."""


class KeyReused(ParticipantFault):
    """A key that names a submission was sent with another one."""


def refusal(
    quota: SlotCounts, counted: Sequence[datetime.datetime], now: datetime.datetime, what: str = "submissions"
) -> OverQuota | None:
    """Why a further submission is refused, and when the next slot opens; None if there is room.

    ``counted`` are the times of the team's submissions that count.
    """
    full = [one for one in slots(quota, counted, now) if not one.left]
    if any(one.ends is None for one in full):
        return OverQuota(
            f"the team has used all {quota.total} {what} it may make in all; no further slot will open", None
        )
    if not full:
        return None
    opens, name, limit = max((one.ends, one.name, one.limit) for one in full if one.ends is not None)
    said = f"the team has used all {limit} {what} it may make in a {name}"
    return OverQuota(f"{said}; the next slot opens at {written(opens)}", opens)


def slots(quota: SlotCounts, counted: Sequence[datetime.datetime], now: datetime.datetime) -> list[SlotWindow]:
    """Those of the windows that have a limit."""
    today = now.astimezone(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    windows = [(quota.day, today, DAY, "day"), (quota.week, today - today.weekday() * DAY, 7 * DAY, "week")]
    found = [
        SlotWindow(name, limit, sum(begin <= moment < begin + length for moment in counted), begin + length)
        for limit, begin, length, name in windows
        if limit is not None
    ]
    if quota.total is not None:
        found.append(SlotWindow("challenge", quota.total, len(counted), None))
    return found


_IMAGE = re.compile(r"(?:[a-z0-9][a-z0-9._:/-]*@)?sha256:[0-9a-f]{64}")


class NewSubmission(Struct, frozen=True):
    """What a team hands in: exactly one of an image, a file, and the SHA-256 of one that is kept already."""

    task: str
    team: str
    image: str | None = None
    predictions: Path | None = None
    phase: str | None = None
    submitter: str | None = None
    name: str | None = None
    """What the team calls it on the board."""
    kept: str | None = None
    key: str | None = None
    """Of the team's own choice: whoever sends it again means the same submission."""
    arrived: datetime.datetime | None = None
    """When it came, where that is not now."""


def keep_file(workspace: Workspace, given: Path, phase: str | None) -> str:
    """A copy, unpacked, under the SHA-256 of its bytes."""
    most = workspace.most_bytes(phase, plain_size(given))
    with opened_regular(given, most) as source, memoryview(source.data) as content, told(workspace.files):
        workspace.files.mkdir(mode=OWNER_FOLDER, exist_ok=True)
        digest = source.sha256()
        write_file(workspace.files / digest, content, sync=True, mode=OWNER_FILE)
    return digest


def checked(workspace: Workspace, entry: NewSubmission) -> str | None:
    """The phase that it is for; refused where it is not as it must be."""
    if sum(given is not None for given in (entry.image, entry.predictions, entry.kept)) != 1:
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
    phase = open_phase(workspace.challenge, entry.phase, entry.arrived)
    if entry.task not in (offered := workspace.tasks(phase)):
        raise UsageFault(f"the challenge has no gold for the task {entry.task}; it has {', '.join(offered)}")
    return phase


def open_phase(challenge: Challenge, name: str | None, now: datetime.datetime | None = None) -> str | None:
    """The phase that is meant: the one named, else the only one that takes submissions now."""
    now = now or utc_now()
    if not challenge.phases and name is None:
        return None
    running = [phase.name for phase in challenge.phases if shut(phase, now) is None]
    if name is None and len(running) == 1:
        return running[0]
    if name in running:
        return name
    named = next((phase for phase in challenge.phases if phase.name == name), None)
    if named is not None:
        raise PhaseClosed(f"the phase '{name}' {shut(named, now)}")
    if not running:
        why = [shut(phase, now) for phase in challenge.phases]
        raise PhaseClosed("the challenge has ended" if {*why} <= {"has ended"} else "no phase takes submissions now")
    raise UsageFault(f"choose a phase with --phase: {', '.join(running)}")


def shut(phase: Phase, now: datetime.datetime) -> str | None:
    """Why a phase takes nothing now; None where it does."""
    if phase.ended:
        return "has ended"
    if phase.opens is not None and now < phase.opens:
        return f"opens at {written(phase.opens)}"
    if phase.closes is not None and now > phase.closes:
        return f"closed at {written(phase.closes)}"
    return None
