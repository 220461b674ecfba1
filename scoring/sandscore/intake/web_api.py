"""The API for programs: what each call of the table does."""

from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from sandscore import __version__
from sandscore.base.clock import utc_now
from sandscore.intake.api_table import CALLS, PREFIX, ApiCall, openapi_document
from sandscore.intake.live_queue import LiveQueue
from sandscore.intake.login_throttle import Networks, client_address
from sandscore.intake.problem_details import Refusal
from sandscore.intake.request_body import FORM, JSON, BodyStream, FormBody
from sandscore.intake.submission_intake import Offer, admit, take_file, take_image
from sandscore.intake.team_registry import TokenOwner
from sandscore.intake.team_views import cancelled, mine, one_of, phases_of, receipt_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
_IMAGE_BYTES = 4096
_Answer = Callable[[Request, TokenOwner], Awaitable[Response]]


class NamedImage(Struct, forbid_unknown_fields=True):
    """The body that hands in an image."""

    image: str


class WebApi:
    """Routes for the rows of the table; each asks who is there first."""

    def __init__(self, queue: LiveQueue, trusted: Networks) -> None:
        self._queue, self._trusted = queue, trusted

    def routes(self) -> list[Route]:
        """One for each row, and one for whatever else is asked for."""
        found = [Route(f"{PREFIX}{one.path}", self._endpoint(one), methods=[one.method]) for one in CALLS]

        async def nothing(request: Request) -> Response:
            near = [one for one in found if one.matches(request.scope)[0] is not Match.NONE]
            if not near:
                raise Refusal("not_found", "the API has no such address")
            allowed = sorted({method for one in near for method in one.methods or ()})
            raise Refusal("not_allowed", f"it takes {', '.join(allowed)}", allow=", ".join(allowed))

        return [*found, Route(f"{PREFIX}/{{rest:path}}", nothing, methods=list(METHODS))]

    def _endpoint(self, call: ApiCall) -> Callable[[Request], Awaitable[Response]]:
        if call.public:
            return _document
        answer: _Answer = getattr(self, f"_{call.name}")

        async def endpoint(request: Request) -> Response:
            kind, _, token = request.headers.get("authorization", "").partition(" ")
            owner = await known(self._queue, request, token.strip() if kind.lower() == "bearer" else "", self._trusted)
            return await answer(request, owner)

        return endpoint

    async def _submissions(self, request: Request, owner: TokenOwner) -> Response:
        return _json(await self._queue.read(lambda side: mine(side, owner.team)))

    async def _submission(self, request: Request, owner: TokenOwner) -> Response:
        return _json(await self._queue.read(lambda side: one_of(side, owner.team, _id(request))))

    async def _cancel(self, request: Request, owner: TokenOwner) -> Response:
        return _json(await self._queue.write(lambda side: cancelled(side, owner.team, _id(request))))

    async def _receipt(self, request: Request, owner: TokenOwner) -> Response:
        return _json(await self._queue.read(lambda side: receipt_of(side, owner.team, _id(request))))

    async def _phases(self, request: Request, owner: TokenOwner) -> Response:
        return _json(await self._queue.read(lambda side: phases_of(side, owner.team)))

    async def _submit(self, request: Request, owner: TokenOwner) -> Response:
        arrived = utc_now()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in (FORM, JSON) or "content-encoding" in request.headers:
            raise Refusal("media_type", f"the body is {FORM} with a file, or {JSON} with an image, and is not packed")
        image = await _named_image(request) if kind == JSON else None
        offer = Offer(
            owner,
            _required(request, "task"),
            request.query_params.get("phase") or None,
            request.headers.get("idempotency-key"),
            arrived,
            image,
            0 if kind == JSON else declared_length(request),
        )
        admitted = await admit(self._queue, offer)
        if image is not None:
            made = await take_image(self._queue, admitted)
        else:
            body = FormBody(request)
            if await body.fields():
                raise Refusal(
                    "bad_request", "the form has one part, the file 'predictions'; all else is in the address"
                )
            made = await take_file(self._queue, admitted, body.file())
        view = await self._queue.read(lambda side: one_of(side, owner.team, made))
        return _json(view, 201, {"location": f"{PREFIX}/submissions/{made}"})


async def _document(_request: Request) -> Response:
    return JSONResponse(openapi_document(__version__))


async def known(queue: LiveQueue, request: Request, token: str, trusted: Networks) -> TokenOwner:
    """Whose token it is. A wrong one is counted; a right one never waits."""
    owner = await queue.read(lambda side: side.registry.owner(token))
    if owner is not None:
        return owner
    address = client_address(request, trusted)
    wait = await queue.read(lambda side: side.tries.another(address)) if token else None
    if wait is not None:
        raise Refusal("throttled", "too many wrong tokens from this address", after=wait)
    raise Refusal("unauthorized", "the token is missing, or worth nothing")


def declared_length(request: Request) -> int:
    said = request.headers.get("content-length")
    if said is None:
        raise Refusal("length_required", "say how long the body is: Content-Length")
    return int(said)


async def _named_image(request: Request) -> str:
    if declared_length(request) > _IMAGE_BYTES:
        raise Refusal("too_large", f"an image is named in at most {_IMAGE_BYTES:,} bytes")
    try:
        return msgspec.json.decode(await BodyStream(request).whole(_IMAGE_BYTES), type=NamedImage).image
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise Refusal("invalid", 'an image is named as {"image": "host/repository@sha256:…"}') from None


def _required(request: Request, name: str) -> str:
    if not (said := request.query_params.get(name)):
        raise Refusal("invalid", f"say the {name}: ?{name}=…")
    return said


def _id(request: Request) -> str:
    found: str = request.path_params["id"]
    return found


def _json(found: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(found), status, headers, JSON)
