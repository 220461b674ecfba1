"""Everything the stand-in remembers, behind one lock."""

import hashlib
import itertools
import json
import random
import re
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from submission_queue.standin.routing import Refusal

S3 = "org.sagebionetworks.repo.model.file.S3FileHandle"
FILE = "org.sagebionetworks.repo.model.FileEntity"
DOCKER = "org.sagebionetworks.repo.model.docker.DockerRepository"
ORGANISER, PARTICIPANT, OTHER = "1001", "2001", "2002"


class Limits:
    """What the service lets an account do, each kind apart, and what it did: 429 without a word on how long.

    org.sagebionetworks.repo.web.filter.throttle: 600 requests a minute (UserRequestFrequencyThrottler), 3 connections
    (UserConcurrentConnectionThrottler), a status call a second (the services' own documentation), and
    MessageManagerImpl: 10 messages a minute.
    """

    KINDS: ClassVar[dict[str, tuple[str, int, float]]] = {
        "status": (r"/evaluation/submission/\d+/status$", 1, 1.0),
        "message": (r"/repo/v1/message$", 10, 60.0),
        "requests": (r"^/(repo|file|auth)/", 600, 60.0),
    }

    def __init__(self) -> None:
        self.times: dict[tuple[str, str], list[float]] = {}
        self.at_once: dict[str, int] = {}
        self.refused: list[str] = []
        self.most_at_once = 0

    def refusal(self, user: str, path: str) -> str | None:
        """Why this one is refused; what is refused counts as well, as it does on the service."""
        now, said = time.monotonic(), None
        for kind, (pattern, most, seconds) in self.KINDS.items():
            if re.search(pattern, path):
                mine = self.times.setdefault((kind, user), [])
                mine[:] = [one for one in mine if now - one < seconds - 0.03]
                if len(mine) >= most:
                    said = f"Requests are too frequent. Allowed {most} requests every {seconds:g} seconds."
                    self.refused.append(kind)
                mine.append(now)
        return said


@dataclass
class World:
    """``contents`` and ``owners`` are of file handles, ``columns`` of tables by id."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    tokens: dict[str, str] = field(default_factory=dict)
    teams: dict[str, dict[str, Any]] = field(default_factory=dict)
    evaluations: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    statuses: dict[str, dict[str, Any]] = field(default_factory=dict)
    entities: dict[str, dict[str, Any]] = field(default_factory=dict)
    acls: dict[str, dict[str, Any]] = field(default_factory=dict)
    handles: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    uploads: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    wikis: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    status_history: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    url_seconds: int = 30
    looks: int = 0
    unreasoned: bool = False
    scopes: dict[str, list[str]] = field(default_factory=dict)
    """Of tokens that have not all of them."""
    uncertified: set[str] = field(default_factory=set)
    rounds: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    shuffled: "random.Random | None" = None
    """Lists come in another order each time."""
    limits: "Limits | None" = None
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(9_000_001))

    def number(self) -> str:
        return str(next(self.numbers))

    def handle(self, owner: str, name: str, data: bytes, **facts: Any) -> str:
        """A new file handle, an S3FileHandle unless ``facts`` say otherwise."""
        handle_id = self.number()
        md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
        known = {"concreteType": S3, "id": handle_id, "fileName": name, "contentMd5": md5, "contentSize": len(data)}
        extra = {"contentType": "application/octet-stream", "createdBy": owner, "etag": etag(), "createdOn": now()}
        self.handles[handle_id] = known | extra | facts
        self.contents[handle_id], self.owners[handle_id] = data, owner
        return handle_id

    def entity(self, owner: str, name: str, parent: str | None, concrete: str, **more: Any) -> dict[str, Any]:
        """A new entity; without a parent it is a project with an ACL of its own."""
        if any(e["parentId"] == parent and e["name"] == name for e in self.entities.values() if parent):
            raise Refusal(409, f"An entity with the name: {name} already exists with a parentId: {parent}")
        entity_id = "syn" + self.number()
        facts = {"id": entity_id, "name": name, "parentId": parent, "concreteType": concrete, "etag": etag()}
        dates = {"createdBy": owner, "modifiedBy": owner, "createdOn": now(), "modifiedOn": now()}
        self.entities[entity_id] = facts | dates | {"versionNumber": 1, "versionLabel": "1"} | more
        if parent is None:
            self.acls[entity_id] = {"id": entity_id, "etag": etag(), "resourceAccess": [full_access(owner)]}
        return self.entities[entity_id]

    def benefactor(self, entity_id: str) -> str:
        while entity_id not in self.acls:
            parent = self.entities[entity_id]["parentId"]
            if parent is None:
                raise Refusal(404, f"no ACL for {entity_id}")
            entity_id = parent
        return entity_id

    def members(self, principal: str) -> set[str]:
        return set(self.teams.get(principal, {}).get("members", [])) | {principal}

    def allowed(self, user: str | None, entity_id: str, access: str) -> bool:
        rows = self.acls[self.benefactor(entity_id)]["resourceAccess"]
        return any(user in self.members(str(row["principalId"])) and access in row["accessType"] for row in rows)

    def demand(self, user: str | None, entity_id: str, access: str) -> dict[str, Any]:
        """The entity, or 404, or 403."""
        entity_id = entity_id if entity_id.startswith("syn") else "syn" + entity_id
        if entity_id not in self.entities:
            raise Refusal(404, f"Entity {entity_id} does not exist")
        if not self.allowed(user, entity_id, access):
            raise Refusal(403, f"You lack {access} access to the requested entity.")
        return self.entities[entity_id]


def etag() -> str:
    return str(uuid.uuid4())


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def full_access(principal: str) -> dict[str, Any]:
    kinds = ["READ", "DOWNLOAD", "CREATE", "UPDATE", "DELETE", "CHANGE_PERMISSIONS", "CHANGE_SETTINGS", "MODERATE"]
    return {"principalId": int(principal), "accessType": kinds}


def bundle_json(entity: dict[str, Any], handles: list[dict[str, Any]]) -> str:
    """What a submission keeps of its entity."""
    kind = "dockerrepo" if entity["concreteType"] == DOCKER else "file"
    annotations = {"id": entity["id"], "etag": entity["etag"], "annotations": {}}
    return json.dumps({"entity": entity, "entityType": kind, "annotations": annotations, "fileHandles": handles})
