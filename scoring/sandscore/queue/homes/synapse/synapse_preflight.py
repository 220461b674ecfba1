"""The preflight of a queue on Synapse: what the worker's account may do, what is missing, and what teams will see.

It asks and changes nothing. Where Synapse does not say something, that is a note: only what is known to be missing is a
fault.
"""

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from sandscore.base.clock import utc_now
from sandscore.base.errors import OrganiserFault
from sandscore.containers.host_checks import Finding
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.homes.synapse.synapse_quota import read_rounds
from sandscore.queue.homes.synapse.synapse_session import Session

SCOPES = ("view", "modify", "download")
_RIGHTS = {
    "canView": "READ",
    "canViewPrivateSubmissionStatusAnnotations": "READ_PRIVATE_SUBMISSION",
    "canEditSubmissionStatuses": "UPDATE_SUBMISSION",
}
"""Of the account on the queue, as org.sagebionetworks.evaluation.model.UserEvaluationPermissions calls them."""
_OF_LOGS = {
    "canView": "READ",
    "canAddChild": "CREATE",
    "canEdit": "UPDATE",
    "canDownload": "DOWNLOAD",
    "canChangePermissions": "CHANGE_PERMISSIONS",
}
"""Of the account where folders for teams are made: each gets an access list of its own."""
_OF_BOARDS = {"canView": "READ", "canAddChild": "CREATE", "canEdit": "UPDATE", "canDownload": "DOWNLOAD"}
_IF_CERTIFIED = {"canAddChild": "canCertifiedUserAddChild", "canEdit": "canCertifiedUserEdit"}
_EVERYBODY = {"273948": "every Synapse user", "273949": "the public"}


class Preflight(Struct, frozen=True):
    """What was found, faults and notes, and what teams will see, a sentence each."""

    findings: Sequence[Finding]
    shown: Sequence[str]

    def require(self) -> None:
        """78, and everything that is missing at once."""
        faults = [one for one in self.findings if one.level == "fault"]
        if faults:
            raise OrganiserFault(
                "; ".join(f"{one.found} ({one.advice})" if one.advice else one.found for one in faults)
            )


async def preflight(session: Session, evaluation_id: str, options: SynapseOptions) -> Preflight:
    """Everything that a worker of this queue will need."""
    findings = [one async for one in _token(session)]
    findings += [one async for one in _queue(session, evaluation_id)]
    if any(one.level == "fault" and one.name == "synapse queue" for one in findings):
        return Preflight(findings, ())
    queue = await _asked(session, "reading the queue", f"/evaluation/{evaluation_id}") or {}
    project = queue.get("contentSource")
    findings += [one async for one in _folders(session, project, options)]
    findings += [one async for one in _rounds(session, evaluation_id)]
    acl = await _asked(session, "reading who may do what on the queue", f"/evaluation/{evaluation_id}/acl")
    findings += _rights(acl)
    return Preflight(findings, _shown(acl, project, options))


async def missing_rights(session: Session, evaluation_id: str) -> str | None:
    """What the account lacks on the queue, in words; None where it lacks nothing, or Synapse does not say."""
    found = await _asked(session, "asking what the account may do", f"/evaluation/{evaluation_id}/permissions")
    missing = [right for name, right in _RIGHTS.items() if found is not None and found.get(name) is False]
    if not missing:
        return None
    return f"the worker's account lacks {' and '.join(missing)} on the evaluation queue {evaluation_id}"


async def _asked(session: Session, what: str, path: str) -> Mapping[str, Any] | None:
    """None where Synapse does not tell us."""
    try:
        found = await session.call(what, session.client.rest_get_async(path))
    except Refused as fault:
        if fault.status in (429, *range(500, 600)):
            raise
        return None
    return found if isinstance(found, dict) else None


async def _token(session: Session) -> AsyncIterator[Finding]:
    """The scopes are written in the token; from one that cannot be read they are found out by asking for what changes
    nothing: a status that there is not, and no file at all."""
    advice = f"make a personal access token with the scopes {', '.join(SCOPES)}"
    known = scopes_of(str(session.client.credentials.secret))
    if known is None:
        client = session.client
        status = {"id": "0", "etag": "0", "status": "RECEIVED"}
        files = {"requestedFiles": [], "includeFileHandles": True, "includePreSignedURLs": True}
        probes = {
            "modify": partial(client.rest_put_async, "/evaluation/submission/0/status", body=json.dumps(status)),
            "download": partial(
                client.rest_post_async, "/fileHandle/batch", endpoint=client.fileHandleEndpoint, body=json.dumps(files)
            ),
        }
        missing = [scope for scope, asking in probes.items() if await _lacks_scope(session, scope, asking())]
    else:
        missing = [scope for scope in SCOPES if scope not in known]
    if missing:
        yield Finding(
            "synapse scopes", "fault", f"the token lacks the scopes {', '.join(missing)}", advice, by="organiser"
        )
    else:
        yield Finding("synapse scopes", "ok", "the token may view, modify and download")


def scopes_of(token: str) -> Sequence[str] | None:
    """As they stand in a personal access token, a JWT; None where there are none to be read."""
    try:
        part = token.split(".")[1]
        body = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        found = body["access"]["scope"]
    except (IndexError, ValueError, KeyError, TypeError):
        return None
    return [str(one) for one in found] if isinstance(found, list) else None


async def _lacks_scope(session: Session, scope: str, asking: Any) -> bool:
    try:
        await session.call(f"trying the scope {scope}", asking)
    except Refused as fault:
        return fault.status == 403 and "scope" in str(fault)
    return False


async def _queue(session: Session, evaluation_id: str) -> AsyncIterator[Finding]:
    """A queue that is not there is a 404 here, and a 403 everywhere else."""
    needed = f"give the account {', '.join(_RIGHTS.values())} on the queue"
    name = "synapse queue"
    try:
        what = f"asking what the account may do on queue {evaluation_id}"
        found = await session.call(what, session.client.rest_get_async(f"/evaluation/{evaluation_id}/permissions"))
        missing = [right for key, right in _RIGHTS.items() if not found.get(key)]
        if missing:
            said = f"the account lacks {', '.join(missing)} on the evaluation queue {evaluation_id}"
            yield Finding(name, "fault", said, needed, by="organiser")
            return
        listing = session.client.rest_get_async(f"/evaluation/{evaluation_id}/submission/bundle/all?limit=1")
        await session.call(f"listing queue {evaluation_id}", listing)
    except Refused as fault:
        if fault.status in (400, 401, 403, 404):
            said = (
                f"Synapse has no evaluation queue {evaluation_id} that this token may work on "
                f"(it answers {fault.status})"
            )
            yield Finding(name, "fault", said, needed, by="organiser")
            return
        raise
    yield Finding(name, "ok", f"the submissions of {evaluation_id} can be listed and their statuses written")


async def _folders(session: Session, project: str | None, options: SynapseOptions) -> AsyncIterator[Finding]:
    """Where folders of teams and boards go, and whether the account may make them there."""
    logs = (options.logs or project) if options.send_logs or options.share_cards else None
    board = (options.board or project) if options.publish else None
    certified: bool | None = None
    for place, root, rights in (("the folders of teams", logs, _OF_LOGS), ("the boards", board, _OF_BOARDS)):
        if root is None:
            continue
        held = await _asked(session, f"asking what the account may do in {root}", f"/entity/{root}/permissions")
        if held is None:
            yield Finding("synapse folders", "note", f"what the account may do in {root} cannot be read")
            continue
        certified = held.get("isCertifiedUser", certified)
        missing = [right for key, right in rights.items() if not _may(held, key, certified)]
        if missing:
            said = f"the account lacks {', '.join(missing)} in {root}, where {place} go"
            yield Finding("synapse folders", "fault", said, f"share {root} with the account", by="organiser")
        else:
            yield Finding("synapse folders", "ok", f"{place} can be made in {root}")
    if logs or board:
        if not isinstance(certified, bool):
            certified = await _passed(session)
        if certified is False:
            said = "the account is no certified user: it may make neither folders nor files"
            yield Finding("synapse certificate", "fault", said, "pass the certification quiz as it", by="organiser")
        elif certified:
            yield Finding("synapse certificate", "ok", "the account is a certified user")


def _may(held: Mapping[str, Any], key: str, certified: bool | None) -> bool:
    """A right that only certification keeps from it is not missing: that is said by itself."""
    instead = _IF_CERTIFIED.get(key)
    if certified is False and instead is not None and held.get(instead):
        return True
    return bool(held.get(key, True))


async def _passed(session: Session) -> bool | None:
    own = session.client.credentials.owner_id
    try:
        asking = session.client.rest_get_async(f"/user/{own}/certifiedUserPassingRecord")
        return bool((await session.call("asking for the certificate", asking)).get("passed"))
    except Refused as fault:
        return False if fault.status == 404 else None


async def _rounds(session: Session, evaluation_id: str) -> AsyncIterator[Finding]:
    """Outside its rounds a queue takes nothing."""
    now, name = utc_now(), "synapse rounds"
    try:
        rounds = await read_rounds(session, evaluation_id)
    except Refused:
        yield Finding(name, "note", "the queue's rounds cannot be read")
        return
    left = sorted((one for one in rounds if not one.is_over(now)), key=lambda one: one.begins)
    if not rounds:
        yield Finding(name, "ok", "no rounds: Synapse takes submissions at any time and keeps no quota")
    elif not left:
        yield Finding(name, "note", "all rounds are over: Synapse takes no submission", "make a round on the queue")
    elif left[0].begins > now:
        yield Finding(name, "note", f"no round is open: Synapse takes submissions from {left[0].round_start} on")
    else:
        limits = ", ".join(f"{kind} {most}" for kind, most in left[0].held.items()) or "no limits"
        yield Finding(name, "ok", f"a round is open until {left[0].round_end}, with {limits}")


def _rows(acl: Mapping[str, Any] | None) -> dict[str, set[str]]:
    rows = (acl or {}).get("resourceAccess", [])
    return {str(row["principalId"]): set(row["accessType"]) for row in rows}


def _readers(acl: Mapping[str, Any] | None) -> str:
    """Who may read the queue but does not score it."""
    found = [who for who, kinds in _rows(acl).items() if "READ" in kinds and "UPDATE_SUBMISSION" not in kinds]
    return ", ".join(_EVERYBODY.get(who, who) for who in found)


def _rights(acl: Mapping[str, Any] | None) -> list[Finding]:
    """READ on a queue shows all annotations of all its submissions to whoever makes a view of it."""
    name = "synapse rights"
    if acl is None:
        return [Finding(name, "note", "who may do what on the queue cannot be read")]
    found = []
    if readers := _readers(acl):
        said = f"{readers} may READ the queue and so the annotations of every submission"
        found.append(Finding(name, "note", said, "SUBMIT alone is enough to submit"))
    else:
        found.append(Finding(name, "ok", "only those who may score can read annotations"))
    if not any("SUBMIT" in kinds for kinds in _rows(acl).values()):
        found.append(Finding(name, "note", "nobody may submit yet", "give teams SUBMIT on the queue"))
    return found


def _shown(acl: Mapping[str, Any] | None, project: str | None, options: SynapseOptions) -> list[str]:
    """What participants will see of the queue, as it is set up now."""
    shown = []
    if root := (options.logs or project) if options.send_logs else None:
        shown.append(
            f"teams see a status file of each submission in a folder of their own in {root}, named after their number: "
            "where it stands, why, and the scores that the phase lets them know"
        )
    if options.send_messages:
        begun = "that an evaluation has begun and how it ended" if options.begun_messages else "how it ended"
        shown.append(f"teams get a message {begun}")
    if acl is None:
        shown.append("who reads annotations on Synapse is not known: the queue's access list cannot be read")
    elif readers := _readers(acl):
        shown.append(f"{readers} may READ the queue: they see the status and all annotations of every submission")
    else:
        shown.append(
            "teams with SUBMIT alone see neither status nor annotations on Synapse; their client's submit() says 403 "
            "after it has submitted, unless it is called with silent=True"
        )
    return shown
