"""The pages of a team: what is open, hand in, how each submission stands; without script too.

They look like the board's, load nothing from elsewhere, and show what the API tells.
"""

import datetime
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path

import jinja2
import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from sandscore import __version__
from sandscore.base.clock import read, utc_now, written
from sandscore.intake.live_events import TeamEvents
from sandscore.intake.live_queue import LiveQueue
from sandscore.intake.login_session import Sessions, owner_of, require_own_page
from sandscore.intake.login_throttle import Networks
from sandscore.intake.problem_details import Refusal
from sandscore.intake.request_body import BodyStream, FormBody
from sandscore.intake.submission_intake import Offer, admit, take_file, take_image
from sandscore.intake.team_registry import TokenOwner
from sandscore.intake.team_views import cancelled, mine, one_of, phases_of, receipt_of, state_of
from sandscore.intake.web_api import declared_length, known
from sandscore.records.submission import Status
from sandscore.site.page_templates import TEMPLATES, policy
from sandscore.site.page_text import FILTERS

AREA = "/team"
_HERE = Path(__file__).resolve().parent / "templates"
_LOGIN_BYTES = 4096
_REFRESH_SECONDS = 30
_OF_ALL = ("id", "team", "task", "phase", "status", "attempt", "created", "finished", "reason", "feedback")
_Answer = Callable[[Request, TokenOwner], Awaitable[Response]]


class TeamPages:
    """Routes of the area; all but the login ask for a session first."""

    def __init__(self, queue: LiveQueue, sessions: Sessions, events: TeamEvents, trusted: Networks) -> None:
        self._queue, self._sessions, self._events, self._trusted = queue, sessions, events, trusted

    def routes(self) -> list[Route]:
        one = f"{AREA}/submissions/{{id}}"
        return [
            Route(AREA, self._page(self._area), methods=["GET"]),
            Route(f"{AREA}/login", self._ask, methods=["GET"]),
            Route(f"{AREA}/login", self._login, methods=["POST"]),
            Route(f"{AREA}/logout", self._logout, methods=["POST"]),
            Route(f"{AREA}/events", self._page(self._stream), methods=["GET"]),
            Route(f"{AREA}/submissions", self._page(self._hand_in), methods=["POST"]),
            Route(one, self._page(self._one), methods=["GET"]),
            Route(f"{one}/cancel", self._page(self._cancel), methods=["POST"]),
            Route(f"{one}/receipt.json", self._page(self._receipt), methods=["GET"]),
        ]

    def _page(self, answer: _Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            token = self._sessions.token(request)
            owner = await self._queue.read(lambda side: owner_of(side, token))
            if owner is None:
                return RedirectResponse(f"{AREA}/login", 303)
            return await answer(request, owner)

        return endpoint

    async def _ask(self, request: Request) -> Response:
        return page("login.html", wrong=None)

    async def _login(self, request: Request) -> Response:
        require_own_page(request)
        fields = await _short_form(request)
        try:
            owner = await known(self._queue, request, fields.get("token", "").strip(), self._trusted)
        except Refusal as refused:
            answer = page("login.html", refused.kind.status, wrong=refused.detail)
            answer.headers.update({name: said for name, said in refused.headers.items() if name == "retry-after"})
            return answer
        response = RedirectResponse(AREA, 303)
        self._sessions.open(response, owner)
        return response

    async def _logout(self, request: Request) -> Response:
        self._sessions.require_form(request, (await _short_form(request)).get("csrf"))
        response = RedirectResponse(f"{AREA}/login", 303)
        self._sessions.end(response)
        return response

    async def _area(self, request: Request, owner: TokenOwner) -> Response:
        state, facts, found = await self._queue.read(
            lambda side: (state_of(side, owner.team), phases_of(side, owner.team), mine(side, owner.team))
        )
        tasks = list(dict.fromkeys(task for phase in facts.phases if phase.open for task in phase.tasks))
        waits = any(not Status(str(one["status"])).final for one in found)
        return page(
            "area.html",
            **self._common(request, owner, facts.challenge, state, waits=waits),
            phases=facts.phases,
            images=facts.images,
            tasks=tasks,
            submissions=found,
            keys=[secrets.token_hex(16), secrets.token_hex(16)],
        )

    async def _one(self, request: Request, owner: TokenOwner) -> Response:
        made: str = request.path_params["id"]
        state, one = await self._queue.read(lambda side: (state_of(side, owner.team), one_of(side, owner.team, made)))
        title = await self._queue.read(
            lambda side: side.workspace.challenge.title or side.workspace.challenge.challenge
        )
        final = Status(str(one["status"])).final
        common = self._common(request, owner, title, state, waits=not final)
        rest = {name: value for name, value in one.items() if name not in (*_OF_ALL, "rehearsal", "receipt")}
        return page("one.html", **common, one=one, final=final, rest=rest)

    async def _cancel(self, request: Request, owner: TokenOwner) -> Response:
        self._sessions.require_form(request, (await _short_form(request)).get("csrf"))
        made: str = request.path_params["id"]
        await self._queue.write(lambda side: cancelled(side, owner.team, made))
        return RedirectResponse(f"{AREA}/submissions/{made}", 303)

    async def _receipt(self, request: Request, owner: TokenOwner) -> Response:
        made: str = request.path_params["id"]
        found = await self._queue.read(lambda side: receipt_of(side, owner.team, made))
        named = {"content-disposition": f'attachment; filename="receipt-{made}.json"'}
        return Response(json.dumps(found, indent=1).encode(), 200, named, "application/json")

    async def _stream(self, request: Request, owner: TokenOwner) -> Response:
        return StreamingResponse(self._events.stream(owner.team), media_type="text/event-stream")

    async def _hand_in(self, request: Request, owner: TokenOwner) -> Response:
        arrived, length = utc_now(), declared_length(request)
        body = FormBody(request)
        fields = await body.fields()
        self._sessions.require_form(request, fields.get("csrf"))
        offer = Offer(
            owner,
            fields.get("task", ""),
            fields.get("phase") or None,
            fields.get("key") or None,
            arrived,
            fields.get("image") or None,
            length,
        )
        admitted = await admit(self._queue, offer)
        if offer.image is not None:
            made = await take_image(self._queue, admitted)
        else:
            made = await take_file(self._queue, admitted, body.file())
        return RedirectResponse(f"{AREA}/submissions/{made}", 303)

    def _common(
        self, request: Request, owner: TokenOwner, challenge: str, state: str, *, waits: bool
    ) -> dict[str, object]:
        """``state``: as it was before anything else on the page was read."""
        return {
            "state": state,
            "team": owner.team,
            "challenge": challenge,
            "csrf": self._sessions.form_word(request),
            "refresh": _REFRESH_SECONDS if waits else None,
        }


async def _short_form(request: Request) -> Mapping[str, str]:
    """A form without a file, of either kind that browsers send."""
    from urllib.parse import parse_qsl

    if request.headers.get("content-type", "").startswith("multipart/"):
        return await FormBody(request).fields()
    body = await BodyStream(request).whole(_LOGIN_BYTES)
    try:
        return dict(parse_qsl(body.decode("ascii"), max_num_fields=16))
    except ValueError:
        raise Refusal("bad_request", "the form cannot be read") from None


def refused_page(refused: Refusal) -> Response:
    """A refusal as a page."""
    made = page("refused.html", refused.kind.status, heading=refused.kind.title, detail=refused.detail)
    made.headers.update(refused.headers)
    return made


def page(template: str, status: int = 200, /, **values: object) -> Response:
    """A page under a policy that allows what stands in it."""
    now = utc_now()
    common = {"team": None, "challenge": "Hand in", "csrf": "", "refresh": None, "version": __version__}
    there = datetime.datetime.now().astimezone()
    told = {"now": written(now), "server_time": f"{there:%H:%M} {there.tzname()}" if there.utcoffset() else None}
    text = _environment().get_template(template).render(common | told | values)
    return HTMLResponse(text.encode("utf-8", "replace"), status, {"content-security-policy": _policy()})


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS | {"utc": _utc, "told": _told, "score": _score})
    made.globals.update(style=_style(), script=_script())
    return made


def _style() -> str:
    return "".join(
        (folder / name).read_text("utf-8") for folder, name in ((TEMPLATES, "site.css"), (_HERE, "area.css"))
    )


def _script() -> str:
    return (_HERE / "area.js").read_text(encoding="utf-8")


@cache
def _policy() -> str:
    ours = policy(_style(), _script()).replace("form-action 'none'", "form-action 'self'")
    return f"{ours}; connect-src 'self'; frame-ancestors 'none'"


def _utc(moment: str) -> str:
    return f"{read(moment).astimezone(datetime.UTC):%Y-%m-%d %H:%M} UTC"


def _told(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _score(told: object) -> str:
    """The F1 of a measure, or whatever else its feedback has."""
    found = told.get("f1", next(iter(told.values()), None)) if isinstance(told, dict) else told
    return f"{found:.4g}" if isinstance(found, int | float) else "–"
