"""File handles: multipart upload, pre-signed addresses, downloads in ranges."""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from submission_queue.standin.evaluations import organised
from submission_queue.standin.routing import Answer, Refusal, Request, route
from submission_queue.standin.world import S3, World

SECRET = b"stand-in"
STAMP = "%Y%m%dT%H%M%SZ"


def storage(base: str) -> str:
    """Another host than the services': the client sends its token to no storage."""
    return base.replace("127.0.0.1", "localhost") + "/storage"


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


@route("POST", "/file/v1/file/multipart")
def start_upload(world: World, request: Request) -> Answer:
    facts = request.body
    if facts["fileSizeBytes"] < 1:
        raise Refusal(400, "a file of zero bytes cannot be uploaded")
    same = (request.user, facts["fileName"], facts["contentMD5Hex"], facts["fileSizeBytes"])
    for upload in world.uploads.values():
        if upload["same"] == same and upload.get("handle") and request.query.get("forceRestart") != "true":
            return Answer(201, _upload_status(upload))
    parts = -(-facts["fileSizeBytes"] // facts["partSizeBytes"])
    upload = {"id": world.number(), "facts": facts, "same": same, "parts": {}, "added": set(), "count": parts}
    world.uploads[upload["id"]] = upload
    return Answer(201, _upload_status(upload))


def _upload_status(upload: dict[str, Any]) -> dict[str, Any]:
    done = upload.get("handle")
    states = "".join("1" if number in upload["added"] else "0" for number in range(1, upload["count"] + 1))
    status = {"uploadId": upload["id"], "state": "COMPLETED" if done else "UPLOADING", "partsState": states}
    return status | ({"resultFileHandleId": done} if done else {})


@route("POST", "/file/v1/file/multipart/{}/presigned/url/batch")
def part_addresses(world: World, request: Request, upload_id: str) -> Answer:
    stamp = f"X-Amz-Date={datetime.now(UTC).strftime(STAMP)}&X-Amz-Expires=900"
    found = [
        {"partNumber": part, "uploadPresignedUrl": f"{storage(request.base)}/part/{upload_id}/{part}?{stamp}"}
        for part in request.body["partNumbers"]
    ]
    return Answer(201, {"partPresignedUrls": found})


@route("PUT", "/storage/part/{}/{}")
def put_part(world: World, request: Request, upload_id: str, part: str) -> Answer:
    if "authorization" in request.headers:
        raise Refusal(400, "Only one auth mechanism allowed")
    world.uploads[upload_id]["parts"][int(part)] = request.data
    return Answer(200, b"")


@route("PUT", "/file/v1/file/multipart/{}/add/{}")
def add_part(world: World, request: Request, upload_id: str, part: str) -> Answer:
    upload, number = world.uploads[upload_id], int(part)
    good = _md5(upload["parts"].get(number, b"")) == request.query["partMD5Hex"]
    if good:
        upload["added"].add(number)
    state = "ADD_SUCCESS" if good else "ADD_FAILED"
    return Answer(201, {"uploadId": upload_id, "partNumber": number, "addPartState": state})


@route("PUT", "/file/v1/file/multipart/{}/complete")
def complete_upload(world: World, request: Request, upload_id: str) -> Answer:
    upload = world.uploads[upload_id]
    if "handle" not in upload:
        data = b"".join(upload["parts"][number] for number in sorted(upload["parts"]))
        if _md5(data) != upload["facts"]["contentMD5Hex"]:
            raise Refusal(400, "the parts do not add up to the file")
        facts = {"contentType": upload["facts"].get("contentType", "")}
        upload["handle"] = world.handle(str(request.user), upload["facts"]["fileName"], data, **facts)
    return Answer(201, _upload_status(upload))


@route("GET", "/file/v1/fileHandle/{}")
def get_handle(world: World, request: Request, handle_id: str) -> Answer:
    if world.owners.get(handle_id) != request.user:
        raise Refusal(403, "Only the creator of a FileHandle can access it directly by its ID")
    return Answer(200, world.handles[handle_id])


@route("POST", "/file/v1/fileHandle/batch")
def handle_batch(world: World, request: Request) -> Answer:
    return Answer(201, {"requestedFiles": [_requested(world, request, one) for one in request.body["requestedFiles"]]})


def _requested(world: World, request: Request, one: dict[str, Any]) -> dict[str, Any]:
    handle = world.handles.get(str(one["fileHandleId"]))
    if handle is None:
        return {"fileHandleId": one["fileHandleId"], "failureCode": "NOT_FOUND"}
    if not _associated(world, request, one, handle["id"]):
        return {"fileHandleId": handle["id"], "failureCode": "UNAUTHORIZED"}
    found = {"fileHandleId": handle["id"], "fileHandle": handle}
    return found | {"preSignedURL": _address(world, request.base, handle)}


def _associated(world: World, request: Request, one: dict[str, Any], handle_id: str) -> bool:
    kind, owner = one["associateObjectType"], str(one["associateObjectId"])
    if kind == "SubmissionAttachment":
        submission = world.submissions.get(owner, {})
        try:
            organised(world, request, submission.get("evaluationId", ""), "READ_PRIVATE_SUBMISSION")
        except Refusal:
            return False
        return f'"{handle_id}"' in submission["entityBundleJSON"]
    if kind == "TableEntity":
        return world.allowed(request.user, owner, "READ")
    if kind == "WikiAttachment":
        return world.owners[handle_id] == request.user
    held = world.entities.get(owner, {}).get("dataFileHandleId") == handle_id
    return held and world.allowed(request.user, owner, "DOWNLOAD")


def _address(world: World, base: str, handle: dict[str, Any]) -> str:
    if handle["concreteType"] != S3:
        return str(handle.get("externalURL", ""))
    date = datetime.now(UTC).strftime(STAMP)
    signed = hmac.new(SECRET, f"{handle['id']}{date}".encode(), "sha256").hexdigest()
    terms = f"X-Amz-Date={date}&X-Amz-Expires={world.url_seconds}&X-Amz-Signature={signed}"
    return f"{storage(base)}/file/{handle['id']}?{terms}"


@route("GET", "/storage/file/{}")
def download(world: World, request: Request, handle_id: str) -> Answer:
    if "authorization" in request.headers:
        raise Refusal(400, "Only one auth mechanism allowed")
    date = request.query["X-Amz-Date"]
    signed = hmac.new(SECRET, f"{handle_id}{date}".encode(), "sha256").hexdigest()
    ends = datetime.strptime(date, STAMP).replace(tzinfo=UTC) + timedelta(seconds=int(request.query["X-Amz-Expires"]))
    if request.query["X-Amz-Signature"] != signed or datetime.now(UTC) > ends:
        raise Refusal(403, "Request has expired")
    data, kind = world.contents[handle_id], "application/octet-stream"
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
    if not wanted:
        return Answer(200, data, kind)
    begin, end = int(wanted[1]), int(wanted[2] or len(data) - 1)
    return Answer(206, data[begin : end + 1], kind, {"Content-Range": f"bytes {begin}-{end}/{len(data)}"})
