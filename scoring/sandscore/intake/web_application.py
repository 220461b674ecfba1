"""The ASGI application: the API, the team's pages and the public files, behind one wrapper of headers and log."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.intake.access_log import AccessLog
from sandscore.intake.api_table import PREFIX
from sandscore.intake.housekeeping import keep_house
from sandscore.intake.live_events import TeamEvents
from sandscore.intake.live_queue import LiveQueue, intake_folder
from sandscore.intake.login_session import Sessions
from sandscore.intake.login_throttle import Networks, client_address
from sandscore.intake.problem_details import Refusal, problem_response, refusal_of
from sandscore.intake.served_files import PublicFiles
from sandscore.intake.team_pages import AREA, TeamPages, refused_page
from sandscore.intake.web_api import METHODS, WebApi
from sandscore.queue.workspace import open_workspace

_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "SAMEORIGIN",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_PRIVATE = {"cache-control": "no-store"}
_LASTING = {"strict-transport-security": "max-age=31536000"}
_LOGS = "logs"


def application(root: Path, trusted: Networks, *, secure: bool) -> "FrontDoor":
    """For one queue; ``secure`` where the public address is https."""
    workspace = open_workspace(root)
    queue, log = LiveQueue(root), AccessLog(intake_folder(workspace, _LOGS))
    events, files = TeamEvents(queue), PublicFiles(root)
    pages = TeamPages(queue, Sessions(workspace, secure=secure), events, trusted)

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        working = [asyncio.create_task(events.watch()), asyncio.create_task(keep_house(queue, log))]
        try:
            yield
        finally:
            for one in working:
                one.cancel()
                with suppress(asyncio.CancelledError):
                    await one
            await queue.close()

    made = Starlette(
        routes=[
            *WebApi(queue, trusted).routes(),
            *pages.routes(),
            Route("/{path:path}", files.answer, methods=list(METHODS)),
        ],
        lifespan=living,
        exception_handlers=dict.fromkeys((Refusal, SandscoreError, HTTPException, ClientDisconnect, OSError), _answer),
    )
    made.router.redirect_slashes = False
    return FrontDoor(made, log, trusted, events, secure=secure)


async def _answer(request: Request, fault: Exception) -> Response:
    """In the form that whoever asked can read."""
    refused = _refused(request, fault)
    in_area = request.scope["path"].startswith(AREA)
    return (
        refused_page(refused) if in_area or not request.scope["path"].startswith(PREFIX) else problem_response(refused)
    )


def _refused(request: Request, fault: Exception) -> Refusal:
    if isinstance(fault, Refusal):
        return fault
    if isinstance(fault, HTTPException) and fault.status_code == 405:
        return Refusal("not_allowed", "the method does not fit", allow=(fault.headers or {}).get("Allow"))
    if isinstance(fault, HTTPException):
        return Refusal("not_found", "there is nothing here")
    if isinstance(fault, ClientDisconnect):
        return Refusal("bad_request", "the body is cut short")
    refused = (
        refusal_of(fault)
        if isinstance(fault, SandscoreError)
        else Refusal("unavailable", "no room, or no files", after=60)
    )
    if refused.code == "unavailable":
        warn(str(fault))
    return refused


class FrontDoor:
    """Headers on every answer, and a line in the log."""

    def __init__(self, inside: ASGIApp, log: AccessLog, trusted: Networks, events: TeamEvents, *, secure: bool) -> None:
        self._inside, self._log, self._trusted, self.events = inside, log, trusted, events
        self._headers = _HEADERS | (_LASTING if secure else {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        begun, status, path = time.monotonic(), 0, str(scope["path"])
        private = path.startswith((PREFIX, AREA))

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in (self._headers | (_PRIVATE if private else {})).items():
                    headers[name] = value
                if private and "content-security-policy" not in headers:
                    headers["content-security-policy"] = "default-src 'none'; frame-ancestors 'none'"
            await send(message)

        try:
            await self._inside(scope, receive, answered)
        finally:
            address = client_address(Request(scope), self._trusted)
            self._log.add(address, scope["method"], path, status, time.monotonic() - begun)
