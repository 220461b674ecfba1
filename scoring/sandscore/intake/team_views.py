"""Views of the queue for one team: its submissions exactly as the gate lets it see them, phases, and what is left.

``sandscore queue show --team-view`` prints the same.
"""

import datetime
import hashlib
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from sandscore.base.clock import utc_now, written
from sandscore.base.errors import SandscoreError
from sandscore.intake.live_queue import QueueSide
from sandscore.intake.problem_details import Refusal
from sandscore.intake.submission_intake import takes_images
from sandscore.queue.attempt_files import team_view
from sandscore.queue.new_submission import shut
from sandscore.queue.public_log import PublicLog, receipt_facts
from sandscore.records.challenge import Phase

View = Mapping[str, object]
"""Of a submission: its form is the gate's."""


class WindowView(Struct, frozen=True):
    """A day, a week or the challenge, and what is left of the team's slots in it."""

    window: str
    limit: int
    left: int
    resets: str | None


class PhaseView(Struct, frozen=True, kw_only=True):
    """A phase, or the challenge where it has none: what may be handed in, when, and how often still."""

    phase: str | None
    open: bool
    why_not: str | None
    opens: str | None
    closes: str | None
    tasks: Sequence[str]
    most_bytes: int | None
    quota: Sequence[WindowView]
    refused: str | None
    next_slot: str | None


class TeamPhases(Struct, frozen=True):
    """All of them; ``images`` are the prefixes under which the team may name images."""

    challenge: str
    team: str
    now: str
    images: Sequence[str]
    phases: Sequence[PhaseView]


def mine(side: QueueSide, team: str) -> list[View]:
    """All of a team's submissions, newest first, without what their attempts left."""
    return [team_view(one, None) for one in reversed(side.door.submissions(team))]


def state_of(side: QueueSide, team: str) -> str:
    """A word for all that a team may see of its submissions; another one as soon as any of it is other."""
    log = PublicLog(side.workspace)
    seen = [(team_view(one, None), one.rehearsed, log.has_receipt(one.id)) for one in side.door.submissions(team)]
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()


def one_of(side: QueueSide, team: str, submission_id: str) -> View:
    """One of them, whole; what is another team's is not there."""
    one = side.door.find(team, submission_id)
    if one is None:
        raise Refusal("not_found", "the team has no such submission")
    workspace = side.workspace
    seen = team_view(one, side.door.folder(workspace, one.id), workspace.rehearsal(one.id) if one.rehearsed else None)
    receipt = receipt_facts(workspace, one.id)
    return seen if receipt is None else {**seen, "receipt": receipt}


def receipt_of(side: QueueSide, team: str, submission_id: str) -> object:
    found = one_of(side, team, submission_id).get("receipt")
    if found is None:
        raise Refusal("not_found", "the receipt is not written yet: sandscore queue work writes it")
    return found


def cancelled(side: QueueSide, team: str, submission_id: str) -> View:
    """Called back, and how it stands then."""
    one_of(side, team, submission_id)
    if not side.door.cancel(submission_id):
        raise Refusal("ended", "the submission has ended already")
    return one_of(side, team, submission_id)


def phases_of(side: QueueSide, team: str) -> TeamPhases:
    """What may be handed in, when, and how often still."""
    workspace, now = side.workspace, utc_now()
    phases: list[Phase | None] = list(workspace.challenge.phases) or [None]
    return TeamPhases(
        workspace.challenge.title or workspace.challenge.challenge,
        team,
        written(now),
        takes_images(workspace, team),
        [_phase(side, team, phase, now) for phase in phases],
    )


def _phase(side: QueueSide, team: str, phase: Phase | None, now: datetime.datetime) -> PhaseView:
    name = None if phase is None else phase.name
    slots, tasks = side.door.slots(side.workspace, team, name, now), _tasks(side, name)
    why_not = None if phase is None else shut(phase, now)
    return PhaseView(
        phase=name,
        open=why_not is None,
        why_not=why_not,
        opens=_written(None if phase is None else phase.opens),
        closes=_written(None if phase is None else phase.closes),
        tasks=tasks,
        most_bytes=side.workspace.most_bytes(name) if tasks else None,
        quota=[WindowView(one.name, one.limit, one.left, _written(one.ends)) for one in slots.windows],
        refused=None if slots.refused is None else str(slots.refused),
        next_slot=_written(None if slots.refused is None else slots.refused.opens),
    )


def _written(moment: datetime.datetime | None) -> str | None:
    return None if moment is None else written(moment)


def _tasks(side: QueueSide, phase: str | None) -> list[str]:
    try:
        return side.workspace.tasks(phase)
    except SandscoreError:  # the organiser's data are not where they should be; the workers say so
        return []
