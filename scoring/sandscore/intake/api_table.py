"""The table of the API: one row a call, from which both the routes and the OpenAPI document are made."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sandscore.intake.problem_details import KINDS, MEDIA_TYPE

PREFIX = "/api/v1"
Schema = Mapping[str, object]
_TEXT: Schema = {"type": "string"}
_MAYBE: Schema = {"type": ["string", "null"]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{12}$"}


class ApiParameter(Struct, frozen=True):
    """In a path, a query or a header."""

    name: str
    place: str
    description: str
    schema: Schema | None = None
    """Text, where nothing is said."""
    required: bool = False


class ApiCall(Struct, frozen=True):
    """One call: its answer when it goes well, and the codes it may be refused with."""

    method: str
    path: str
    name: str
    summary: str
    answer: Schema
    status: int = 200
    parameters: Sequence[ApiParameter] = ()
    refusals: Sequence[str] = ()
    takes_body: bool = False
    public: bool = False


def _object(required: Sequence[str], **properties: Schema) -> Schema:
    return {"type": "object", "required": list(required), "properties": properties}


_RECEIPT = _object(
    ("log", "position", "sha256", "submission", "task", "phase", "content", "salt"),
    log=_TEXT, position=_COUNT, sha256=_TEXT, submission=_ID, task=_TEXT, phase=_MAYBE, content=_TEXT, salt=_TEXT,
)  # fmt: skip
_VIEW = _object(
    ("id", "team", "task", "phase", "status", "attempt", "created", "finished", "reason", "feedback"),
    id=_ID, team=_TEXT, task=_TEXT, phase=_MAYBE,
    status={"enum": ["RECEIVED", "EVALUATION_IN_PROGRESS", "VALIDATED", "SCORED", "INVALID", "REJECTED", "CLOSED"]},
    attempt=_COUNT, created=_TEXT, finished=_MAYBE, reason=_MAYBE,
    feedback={"type": ["object", "null"]}, receipt={"$ref": "#/components/schemas/Receipt"},
)  # fmt: skip
_WINDOW = _object(("window", "limit", "left", "resets"), window=_TEXT, limit=_COUNT, left=_COUNT, resets=_MAYBE)
_PHASE = _object(
    ("phase", "open", "why_not", "opens", "closes", "tasks", "most_bytes", "quota", "refused", "next_slot"),
    phase=_MAYBE, open={"type": "boolean"}, why_not=_MAYBE, opens=_MAYBE, closes=_MAYBE,
    tasks={"type": "array", "items": _TEXT}, most_bytes={"type": ["integer", "null"]},
    quota={"type": "array", "items": _WINDOW}, refused=_MAYBE, next_slot=_MAYBE,
)  # fmt: skip
_PHASES = _object(
    ("challenge", "team", "now", "images", "phases"),
    challenge=_TEXT, team=_TEXT, now=_TEXT, images={"type": "array", "items": _TEXT},
    phases={"type": "array", "items": _PHASE},
)  # fmt: skip
_PROBLEM = _object(
    ("type", "title", "status", "detail", "code", "exit_code"),
    type=_TEXT, title=_TEXT, status={"type": "integer"}, detail=_TEXT,
    code={"enum": sorted(KINDS)}, exit_code={"type": "integer"},
)  # fmt: skip
SCHEMAS: Mapping[str, Schema] = {
    "Submission": _VIEW, "Receipt": _RECEIPT, "Phases": _PHASES, "Problem": _PROBLEM
}  # fmt: skip


def _named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_ONE = ApiParameter("id", "path", "The submission.", _ID, required=True)
_ALWAYS = ("unauthorized", "throttled", "unavailable")
CALLS: Sequence[ApiCall] = (
    ApiCall(
        "POST", "/submissions", "submit",
        "Hand in: a form with a file, or JSON that names an image by its digest.",
        _named("Submission"), 201,
        (
            ApiParameter("task", "query", "The task.", {"type": "string", "minLength": 1}, required=True),
            ApiParameter("phase", "query", "The phase, where several are open."),
            ApiParameter(
                "Idempotency-Key", "header",
                "Of the team's choice; a request that is sent again with it is the same submission.",
                {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
            ),
        ),
        (
            *_ALWAYS, "bad_request", "phase_closed", "too_slow", "key_reused", "length_required", "too_large",
            "media_type", "invalid", "over_quota", "under_way",
        ),
        takes_body=True,
    ),
    ApiCall(
        "GET", "/submissions", "submissions", "All of the team's submissions, newest first.",
        {"type": "array", "items": _named("Submission")}, refusals=_ALWAYS,
    ),
    ApiCall(
        "GET", "/submissions/{id}", "submission", "One submission: all that the team may see of it.",
        _named("Submission"), parameters=(_ONE,), refusals=(*_ALWAYS, "not_found"),
    ),
    ApiCall(
        "DELETE", "/submissions/{id}", "cancel", "Call it back: it ends REJECTED with the reason cancelled.",
        _named("Submission"), parameters=(_ONE,), refusals=(*_ALWAYS, "not_found", "ended"),
    ),
    ApiCall(
        "GET", "/submissions/{id}/receipt", "receipt", "Proof that it was taken in: its line in the public log.",
        _named("Receipt"), parameters=(_ONE,), refusals=(*_ALWAYS, "not_found"),
    ),
    ApiCall(
        "GET", "/phases", "phases", "Phases, tasks, and what is left of the team's quota.",
        _named("Phases"), refusals=_ALWAYS,
    ),
    ApiCall(
        "GET", "/openapi.json", "document", "This document.",
        {"type": "object"}, refusals=("unavailable",), public=True,
    ),
)  # fmt: skip

_UPLOAD: Schema = _object(("predictions",), predictions={"type": "string", "contentMediaType": "application/json"})
_IMAGE: Schema = {
    **_object(("image",), image={"type": "string", "description": "host/repository@sha256:…, under the team's prefix"}),
    "additionalProperties": False,
}


def openapi_document(version: str) -> Schema:
    """OpenAPI 3.1 for all calls."""
    paths: dict[str, dict[str, object]] = {}
    for call in CALLS:
        paths.setdefault(f"{PREFIX}{call.path}", {})[call.method.lower()] = _operation(call)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sandscore: handing in",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(call: ApiCall) -> Schema:
    by_status: dict[int, list[str]] = {}
    for code in call.refusals:
        by_status.setdefault(KINDS[code].status, []).append(code)
    refused = {
        str(status): {
            "description": "; ".join(f"{KINDS[code].title} (`{code}`)" for code in codes),
            "content": {MEDIA_TYPE: {"schema": _named("Problem")}},
        }
        for status, codes in sorted(by_status.items())
    }
    done = {"description": call.summary, "content": {"application/json": {"schema": call.answer}}}
    made: dict[str, object] = {
        "operationId": call.name,
        "summary": call.summary,
        "parameters": [
            {
                "name": one.name,
                "in": one.place,
                "description": one.description,
                "required": one.required,
                "schema": one.schema or _TEXT,
            }
            for one in call.parameters
        ],
        "responses": {str(call.status): done, **refused},
        "security": [] if call.public else [{"token": []}],
    }
    if call.takes_body:
        content = {"multipart/form-data": {"schema": _UPLOAD}, "application/json": {"schema": _IMAGE}}
        made["requestBody"] = {"required": True, "content": content}
    return made
