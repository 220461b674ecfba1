"""A Synapse of our own for the tests: the real client talks to it over HTTP.

It keeps etags and answers 412, pages by offset over the filtered list, signs addresses that expire, runs
transactions as jobs, inherits access lists, and fails in the ways a test asks for.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from submission_queue.standin.server import LOST, LOST_503, Fault, Standin, serving
from submission_queue.standin.world import (
    DOCKER,
    FILE,
    ORGANISER,
    OTHER,
    PARTICIPANT,
    World,
    bundle_json,
    etag,
    full_access,
    now,
)

__all__ = ["LOST", "LOST_503", "Fault", "Queue", "synapse"]

TOKEN = "organiser-token-eyJhbGciOiJub25lIn0.c2VjcmV0"
EVERYTHING = [
    "READ",
    "UPDATE",
    "UPDATE_SUBMISSION",
    "READ_PRIVATE_SUBMISSION",
    "CHANGE_PERMISSIONS",
    "DELETE_SUBMISSION",
]


class Queue:
    """One evaluation queue on the stand-in, and what a test does to it."""

    def __init__(self, standin: Standin, folder: Path) -> None:
        self.standin, self.world, self.folder, self.id = standin, standin.world, folder, "9614"
        self.world.tokens = {TOKEN: ORGANISER, "participant-token": PARTICIPANT, "other-token": OTHER}
        self.world.teams = {"3001": {"name": "Team Rocket", "members": [PARTICIPANT]}}
        self.project = self.world.entity(ORGANISER, "The challenge", None, "org.sagebionetworks.repo.model.Project")[
            "id"
        ]
        readers = {"principalId": int(PARTICIPANT), "accessType": ["READ", "DOWNLOAD"]}
        self.world.acls[self.project]["resourceAccess"] = [full_access(ORGANISER), readers]
        self.private = self.world.entity(PARTICIPANT, "Mine", None, "org.sagebionetworks.repo.model.Project")["id"]
        access = {ORGANISER: EVERYTHING, PARTICIPANT: ["READ", "SUBMIT"]}
        facts = {"id": self.id, "name": "Dates", "ownerId": ORGANISER, "contentSource": self.project, "etag": etag()}
        self.world.evaluations[self.id] = facts | {"access": access, "createdOn": now()}

    def config(self, token: str = TOKEN) -> Path:
        """A ``.synapseConfig``; one for each token, because the client reads a path only once."""
        path = self.folder / f"{token[:5]}.synapseConfig"
        base = self.standin.base
        lines = [f"repoEndpoint={base}/repo/v1", f"authEndpoint={base}/auth/v1", f"fileHandleEndpoint={base}/file/v1"]
        text = "\n".join(["[endpoints]", *lines, f"portalEndpoint={base}/", "[default]", f"authtoken={token}", ""])
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return path

    def submit_file(self, data: bytes, *, team: str | None = None, **handle: Any) -> str:
        """A prediction file; ``handle`` changes facts of its file handle."""
        handle_id = self.world.handle(PARTICIPANT, "../../etc/predictions.json", data, **handle)
        name = f"predictions {handle_id}"
        entity = self.world.entity(PARTICIPANT, name, self.private, FILE, dataFileHandleId=handle_id)
        other = self.world.handle(PARTICIPANT, "preview.png", b"a preview")
        handles = [self.world.handles[other], self.world.handles[handle_id]]
        return self._submit(entity, bundle_json(entity, handles), team)

    def submit_image(self, digest: str = "sha256:" + "ab" * 32, *, name: str = "docker.synapse.org/syn1/dates") -> str:
        entity = self.world.entity(PARTICIPANT, f"image {self.world.number()}", self.private, DOCKER)
        docker = {"dockerRepositoryName": name, "dockerDigest": digest}
        return self._submit(entity, bundle_json(entity, []), None, **docker)

    def _submit(self, entity: dict[str, Any], bundle: str, team: str | None, **more: Any) -> str:
        key = self.world.number()
        who = {"userId": PARTICIPANT, "contributors": [{"principalId": PARTICIPANT, "createdOn": now()}]}
        facts = {
            "id": key,
            "evaluationId": self.id,
            "entityId": entity["id"],
            "versionNumber": 1,
            "name": entity["name"],
        }
        side = {"teamId": team} if team else {}
        whole = who | facts | side | {"createdOn": now(), "entityBundleJSON": bundle} | more
        self.world.submissions[key] = whole
        status = {"id": key, "etag": etag(), "modifiedOn": now(), "status": "RECEIVED", "statusVersion": 0}
        self.world.statuses[key] = status | {"entityId": entity["id"], "versionNumber": 1}
        return key

    def team(self, name: str) -> str:
        """The id of a team of that name, made where there is none."""
        known = next((key for key, team in self.world.teams.items() if team["name"] == name), None)
        if known is None:
            known = self.world.number()
            self.world.teams[known] = {"name": name, "members": [PARTICIPANT]}
        return known

    def status(self, submission: str) -> str:
        return str(self.world.statuses[submission]["status"])

    def annotations(self, submission: str) -> dict[str, Any]:
        found = self.world.statuses[submission].get("submissionAnnotations", {}).get("annotations", {})
        return {key: value["value"][0] for key, value in found.items()}

    def types(self, submission: str) -> dict[str, str]:
        found = self.world.statuses[submission].get("submissionAnnotations", {}).get("annotations", {})
        return {key: value["type"] for key, value in found.items()}

    def change(self, submission: str, **changed: Any) -> None:
        """What another tool, or the submitter, does to a status."""
        with self.world.lock:
            fresh = {"etag": etag(), "modifiedOn": now()}
            self.world.statuses[submission] = self.world.statuses[submission] | changed | fresh

    def records(self, submission: str) -> dict[str, Any]:
        """What our home keeps about a submission beside its status."""
        found = json.loads(self.annotations(submission)["private_queue"])
        assert isinstance(found, dict)
        return found


@contextmanager
def synapse(folder: Path) -> Iterator[Queue]:
    """A stand-in with one queue, one organiser and two participants."""
    folder.mkdir(parents=True, exist_ok=True)
    with serving(World()) as standin:
        yield Queue(standin, folder)
