"""Queues, submissions and their statuses: etags, whole-status PUT, cancellation."""

import re
from typing import Any

from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import World, bundle_json, etag, now

STATUSES = [
    "OPEN",
    "CLOSED",
    "SCORED",
    "INVALID",
    "VALIDATED",
    "EVALUATION_IN_PROGRESS",
    "RECEIVED",
    "REJECTED",
    "ACCEPTED",
]
KEPT = ("id", "entityId", "versionNumber")
GIVEN = ("status", "canCancel", "cancelRequested", "annotations", "submissionAnnotations", "score", "report")


def organised(world: World, request: Request, evaluation_id: str, access: str) -> dict[str, Any]:
    """The queue, if the caller may do this to it; a queue that does not exist is a 403 as well."""
    evaluation = world.evaluations.get(evaluation_id)
    if evaluation is None or access not in evaluation["access"].get(request.user, ()):
        raise Refusal(403, f"You lack {access} access to the requested evaluation.")
    return evaluation


def _of_submission(world: World, request: Request, submission_id: str, access: str) -> dict[str, Any]:
    submission = world.submissions.get(submission_id)
    if submission is None:
        raise Refusal(404, f"Submission {submission_id} does not exist")
    organised(world, request, submission["evaluationId"], access)
    return submission


@route("GET", "/repo/v1/evaluation/{}")
def get_evaluation(world: World, request: Request, evaluation_id: str) -> Answer:
    if evaluation_id not in world.evaluations:
        raise Refusal(404, f"Evaluation {evaluation_id} does not exist")
    evaluation = organised(world, request, evaluation_id, "READ")
    return Answer(200, {key: value for key, value in evaluation.items() if key != "access"})


@route("GET", "/repo/v1/evaluation/{}/acl")
def get_acl(world: World, request: Request, evaluation_id: str) -> Answer:
    evaluation = organised(world, request, evaluation_id, "CHANGE_PERMISSIONS")
    rows = [{"principalId": int(who), "accessType": kinds} for who, kinds in evaluation["access"].items()]
    return Answer(200, {"id": evaluation_id, "etag": "0", "resourceAccess": rows})


@route("GET", "/repo/v1/evaluation/{}/submission/bundle/all")
def list_bundles(world: World, request: Request, evaluation_id: str) -> Answer:
    organised(world, request, evaluation_id, "READ_PRIVATE_SUBMISSION")
    wanted, limit, offset = (
        request.query.get("status"),
        int(request.query.get("limit", 10)),
        int(request.query.get("offset", 0)),
    )
    if not 0 <= limit <= 100 or (wanted is not None and wanted not in STATUSES):
        raise Refusal(400, "limit must be 0 to 100 and status one of the enumeration")
    found = [
        {"submission": submission, "submissionStatus": world.statuses[key]}
        for key, submission in sorted(world.submissions.items(), reverse=True)
        if submission["evaluationId"] == evaluation_id and wanted in (None, world.statuses[key]["status"])
    ]
    if world.shuffled is not None:
        world.shuffled.shuffle(found)
    page = found[offset : offset + limit]
    return Answer(200, {"totalNumberOfResults": offset + len(page) + (len(page) == limit), "results": page})


RIGHTS = {
    "canView": "READ",
    "canEdit": "UPDATE",
    "canDelete": "DELETE",
    "canChangePermissions": "CHANGE_PERMISSIONS",
    "canSubmit": "SUBMIT",
    "canViewPrivateSubmissionStatusAnnotations": "READ_PRIVATE_SUBMISSION",
    "canEditSubmissionStatuses": "UPDATE_SUBMISSION",
    "canDeleteSubmissions": "DELETE_SUBMISSION",
}


@route("GET", "/repo/v1/evaluation/{}/permissions")
def get_permissions(world: World, request: Request, evaluation_id: str) -> Answer:
    """Everybody may ask (EvaluationPermissionsManagerImpl.getUserPermissionsForEvaluation)."""
    if evaluation_id not in world.evaluations:
        raise Refusal(404, f"Evaluation of ID {evaluation_id} does not exist yet.")
    held = world.evaluations[evaluation_id]["access"].get(request.user, ())
    found = {name: right in held for name, right in RIGHTS.items()}
    return Answer(200, found | {"canPublicRead": False, "ownerPrincipalId": 1001})


@route("POST", "/repo/v1/evaluation/{}/round/list")
def list_rounds(world: World, request: Request, evaluation_id: str) -> Answer:
    """One a page, so that whoever reads them turns pages."""
    organised(world, request, evaluation_id, "READ")
    found = list(world.rounds.get(evaluation_id, {}).values())
    at = int((request.body or {}).get("nextPageToken") or 0)
    more = {"nextPageToken": str(at + 1)} if at + 1 < len(found) else {}
    return Answer(200, {"page": found[at : at + 1]} | more)


@route("POST", "/repo/v1/evaluation/{}/round")
def post_round(world: World, request: Request, evaluation_id: str) -> Answer:
    """Neither begun in the past nor across another (EvaluationManagerImpl.createEvaluationRound)."""
    organised(world, request, evaluation_id, "UPDATE")
    given, held = request.body, world.rounds.setdefault(evaluation_id, {})
    if given["roundStart"] < now():
        raise Refusal(400, "Can not create an EvaluationRound with a start date in the past.")
    across = [
        key
        for key, one in held.items()
        if one["roundStart"] < given["roundEnd"] and given["roundStart"] < one["roundEnd"]
    ]
    if across:
        raise Refusal(400, f"This round's date range overlaps with the following round IDs: {across}")
    key = world.number()
    held[key] = given | {"id": key, "etag": etag()}
    return Answer(201, held[key])


@route("PUT", "/repo/v1/evaluation/{}/round/{}")
def put_round(world: World, request: Request, evaluation_id: str, key: str) -> Answer:
    organised(world, request, evaluation_id, "UPDATE")
    held = world.rounds[evaluation_id]
    if request.body["etag"] != held[key]["etag"]:
        raise Refusal(412, "the round was updated since you last fetched it")
    held[key] = request.body | {"etag": etag()}
    return Answer(200, held[key])


@route("POST", "/repo/v1/evaluation/submission")
def post_submission(world: World, request: Request) -> Answer:
    """SUBMIT is enough (SubmissionManagerImpl.createSubmission)."""
    given = request.body
    organised(world, request, given["evaluationId"], "SUBMIT")
    entity = world.demand(request.user, given["entityId"], "READ")
    if request.query.get("etag") != entity["etag"]:
        raise Refusal(400, "The supplied eTag is out of date.")
    key, handle = world.number(), world.handles.get(entity.get("dataFileHandleId", ""))
    who = {"id": key, "userId": request.user, "createdOn": now()}
    bundle = {"entityBundleJSON": bundle_json(entity, [handle] if handle else [])}
    world.submissions[key] = {name: value for name, value in given.items() if value is not None} | who | bundle
    status = {"id": key, "etag": etag(), "modifiedOn": now(), "status": "RECEIVED", "statusVersion": 0}
    world.statuses[key] = status | {"entityId": entity["id"], "versionNumber": given["versionNumber"]}
    return Answer(201, world.submissions[key])


@route("GET", "/repo/v1/evaluation/submission/{}")
def get_submission(world: World, request: Request, submission_id: str) -> Answer:
    return Answer(200, _of_submission(world, request, submission_id, "READ_PRIVATE_SUBMISSION"))


@route("GET", "/repo/v1/evaluation/submission/{}/status")
def get_status(world: World, request: Request, submission_id: str) -> Answer:
    _of_submission(world, request, submission_id, "READ_PRIVATE_SUBMISSION")
    return Answer(200, world.statuses[submission_id])


@route("PUT", "/repo/v1/evaluation/submission/{}/status")
def put_status(world: World, request: Request, submission_id: str) -> Answer:
    _of_submission(world, request, submission_id, "READ_PRIVATE_SUBMISSION")
    _of_submission(world, request, submission_id, "UPDATE_SUBMISSION")
    old, new = world.statuses[submission_id], request.body
    if new["status"] not in STATUSES:
        raise Refusal(400, f"no such status: {new['status']}")
    _check_annotations(new.get("submissionAnnotations", {}).get("annotations", {}))
    if new["etag"] != old["etag"]:
        raise Refusal(
            412,
            f"Submission Status: {submission_id} was updated since you last fetched it, "
            "retrieve it again and reapply the update",
        )
    kept = {key: old[key] for key in KEPT} | {key: new[key] for key in GIVEN if key in new}
    fresh = {"etag": etag(), "modifiedOn": now(), "statusVersion": old["statusVersion"] + 1}
    world.statuses[submission_id] = kept | fresh
    world.status_history.append((submission_id, new["status"], _flat(new)))
    return Answer(200, world.statuses[submission_id])


@route("PUT", "/repo/v1/evaluation/submission/{}/cancellation")
def cancel(world: World, request: Request, submission_id: str) -> Answer:
    submission, status = world.submissions[submission_id], world.statuses[submission_id]
    if request.user != submission["userId"] or not status.get("canCancel"):
        raise Refusal(403, "this submission cannot be cancelled")
    world.statuses[submission_id] = status | {"cancelRequested": True, "etag": etag(), "modifiedOn": now()}
    return Answer(204)


def _flat(status: dict[str, Any]) -> dict[str, str]:
    found = status.get("submissionAnnotations", {}).get("annotations", {})
    return {key: str(value["value"][0]) for key, value in found.items() if value["value"]}


def _check_annotations(found: dict[str, Any]) -> None:
    if len(found) > 100:
        raise Refusal(400, "no more than 100 annotations")
    for key, annotation in found.items():
        values = annotation["value"]
        if not re.fullmatch(r"[a-zA-Z0-9,_.]+", key) or len(values) > 100:
            raise Refusal(400, f"Invalid annotation name: '{key}'")
        if annotation["type"] == "STRING" and sum(map(len, values)) > 500:
            raise Refusal(400, f"the values of {key} are longer than 500 characters")
        if annotation["type"] == "LONG" and not all(re.fullmatch(r"-?\d+", str(value)) for value in values):
            raise Refusal(400, f"{key} is not a LONG")
        if annotation["type"] == "DOUBLE":
            _check_doubles(key, values)


def _check_doubles(key: str, values: list[Any]) -> None:
    try:
        [float(value) for value in values]
    except ValueError:
        raise Refusal(400, f"{key} is not a DOUBLE") from None
