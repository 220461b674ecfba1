"""A submission of Synapse's as one of the queue's: who, what, when; and whether it is anything we can run.

Names of teams and people, asked for once.

Where attempts lie: on this machine, or fetched from the one that scored them.

Exact scores, which never go to Synapse: kept in the worker's local state.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandscore.base.whole_files import write_synced
from sandscore.queue.attempt_files import card_name
from sandscore.queue.homes.synapse.status_record import Record
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_listing import ListedSubmission
from sandscore.queue.homes.synapse.synapse_routes import Routes
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Status, Submission, SubmissionKind


class TeamNames:
    """By id; who has no name we may read is called by the id."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, str] = {}

    async def of(self, submission: Any) -> str:
        """The team's name, or that of the person who submitted alone."""
        kind, key = ("team", submission.team_id) if submission.team_id else ("user", submission.user_id)
        asked = f"{kind} {key}"
        if asked not in self._known:
            try:
                self._known[asked] = await self._ask(kind, str(key)) or asked
            except Refused as fault:
                if fault.status not in (400, 403, 404):
                    raise
                self._known[asked] = asked
        return self._known[asked]

    async def _ask(self, kind: str, key: str) -> str | None:
        from synapseclient.models import Team, UserProfile

        client = self._session.client
        if not key.isdigit():
            return None
        if kind == "team":
            team = await self._session.call(f"reading team {key}", Team(id=int(key)).get_async(synapse_client=client))
            return str(team.name) if team.name else None
        wanted = UserProfile(id=int(key)).get_async(synapse_client=client)
        person = await self._session.call(f"reading user {key}", wanted)
        return str(person.username) if person.username else None


class AttemptPlaces:
    """Folders by submission, as the records of the last list name them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, Record] = {}

    def remember(self, submission_id: str, record: Record) -> None:
        self._known[submission_id] = record

    def record(self, submission_id: str) -> Record | None:
        """As it was listed last."""
        return self._known.get(submission_id)

    def card(self, submission: Submission) -> Path | None:
        """Where the score card is, or would be; None where the submission is not known."""
        if submission.id not in self._known:
            return None
        known = self._known[submission.id]
        return self._workspace.attempt(submission.id, known.attempt, known.nonce) / card_name(submission.version)


Scores = Mapping[str, float | None]
Feedback = Mapping[str, object] | None


class Results:
    """One file a submission and version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, submission_id: str, version: int, scores: Scores, feedback: Feedback, **facts: Any) -> None:
        told = None if feedback is None else dict(feedback)
        content = json.dumps({"scores": dict(scores), "feedback": told} | facts, indent=2).encode() + b"\n"
        write_synced(self._path(submission_id, version), content)

    def of(self, submission_id: str, record: Record) -> tuple[Scores, Feedback]:
        """Of the current version; empty where another machine, or another attempt, scored it."""
        try:
            found = json.loads(self._path(submission_id, record.version).read_bytes())
            own = found.get("nonce") in (None, record.nonce)
            scores, feedback = dict(found["scores"]) if own else {}, found["feedback"] if own else None
        except (OSError, ValueError, KeyError, TypeError):
            scores, feedback = {}, None
        return scores, (feedback or {}) if record.fed else None

    def explain(self, submission_id: str, attempt: int, reason: str) -> None:
        """What exactly failed, for organisers: an annotation could be read by participants."""
        write_synced(self._why(submission_id), json.dumps({"attempt": attempt, "reason": reason}).encode())

    def reason(self, submission_id: str, record: Record) -> str | None:
        """Of the latest attempt, if it failed on this machine because of us."""
        try:
            found = json.loads(self._why(submission_id).read_bytes())
            return str(found["reason"]) if record.failures and found["attempt"] == record.attempt else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _why(self, submission_id: str) -> Path:
        return self._folder / f"{submission_id}-failure.json"

    def _path(self, submission_id: str, version: int) -> Path:
        return self._folder / f"{submission_id}-v{version}.json"


_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[a-z0-9][a-zA-Z0-9._:/-]{0,500}")


def image_of(submission: Any) -> str | None:
    """repository@digest, if both are what they should be: they reach a container engine."""
    name, digest = str(submission.docker_repository_name or ""), str(submission.docker_digest or "")
    if not _REPOSITORY.fullmatch(name) or "//" in name or not _DIGEST.fullmatch(digest):
        return None
    return f"{name}@{digest}"


def bundle_of(submission: Any) -> dict[str, Any]:
    """The entity as it was when it was submitted; empty where that cannot be read."""
    try:
        found = json.loads(submission.entity_bundle_json or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class Reader:
    """Turns bundles into submissions. What is nothing we can run is left to ``Files``, which says why."""

    def __init__(self, names: TeamNames, routes: Routes, results: Results, places: AttemptPlaces) -> None:
        self._names, self._routes, self._results, self._places = names, routes, results, places

    async def read(self, listed: ListedSubmission) -> Submission:
        submission, now = listed.submission, listed.now
        self._places.remember(listed.id, now.record)
        scores, feedback = self._results.of(listed.id, now.record)
        bundle, record, shown = bundle_of(submission), now.record, now.annotations
        image = image_of(submission) if self._routes.known(submission.name, bundle) else None
        return Submission(
            id=listed.id,
            team=await self._names.of(submission),
            task=self._routes.task(submission.name, bundle),
            kind=SubmissionKind.IMAGE if image else SubmissionKind.PREDICTIONS,
            status=now.status or Status.CLOSED,
            created=str(submission.created_on or ""),
            phase=self._routes.phase,
            image=image,
            content=None if image else f"{submission.entity_id}.{submission.version_number}",
            submitter=str(submission.team_id or submission.user_id),
            attempt=record.attempt,
            failures=record.failures,
            needs_organiser=record.help,
            cancel_requested=now.cancel,
            not_before=record.after or None,
            reason=self._results.reason(listed.id, record) or _text(shown, "reason"),
            finished=_text(shown, "finished"),
            version=record.version,
            scores=scores,
            feedback=feedback,
            rehearsed=record.rehearsed,
            spent=record.spent,
        )


def _text(annotations: Mapping[str, Any], name: str) -> str | None:
    found = annotations.get(name)
    return str(found[0]) if isinstance(found, list) and found else None
