"""A submission of Synapse's as one of the queue's: who, what, when; and whether it is anything we can run."""

import json
import re
from collections.abc import Mapping
from typing import Any

from sandscore.queueing.submission import Kind, Status, Submission
from sandscore.queueing.synapse.listing import Listed
from sandscore.queueing.synapse.names import Names
from sandscore.queueing.synapse.places import Places
from sandscore.queueing.synapse.results import Results
from sandscore.queueing.synapse.routes import Routes

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

    def __init__(self, names: Names, routes: Routes, results: Results, places: Places) -> None:
        self._names, self._routes, self._results, self._places = names, routes, results, places

    async def read(self, listed: Listed) -> Submission:
        submission, now = listed.submission, listed.now
        self._places.remember(listed.id, now.record)
        scores, feedback = self._results.of(listed.id, now.record)
        bundle, record, shown = bundle_of(submission), now.record, now.annotations
        image = image_of(submission) if self._routes.known(submission.name, bundle) else None
        return Submission(
            id=listed.id,
            team=await self._names.of(submission),
            task=self._routes.task(submission.name, bundle),
            kind=Kind.IMAGE if image else Kind.PREDICTIONS,
            status=now.status or Status.CLOSED,
            created=str(submission.created_on or ""),
            phase=self._routes.phase,
            image=image,
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
        )


def _text(annotations: Mapping[str, Any], name: str) -> str | None:
    found = annotations.get(name)
    return str(found[0]) if isinstance(found, list) and found else None
