"""The session of a browser: a cookie that says whose token opened it, signed, good for twelve hours.

Nothing of it is kept: any server of the queue can read it, and it is worth nothing once the token is revoked. The token
itself is never in it. A form carries a second word, made from the cookie, which no other site can know.
"""

import hashlib
import hmac
import secrets
import time
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response

from sandscore.base.whole_files import told, write_file
from sandscore.intake.live_queue import QueueSide, intake_folder
from sandscore.intake.problem_details import Refusal
from sandscore.intake.team_registry import TokenOwner
from sandscore.queue.queue_layout import OWNER_FILE
from sandscore.queue.workspace import Workspace

HOURS = 12
_KEY, _KEY_BYTES = "session.key", 32
_NAMES = {True: "__Host-sandscore", False: "sandscore"}
_OURS = ("same-origin", "none")


class Sessions:
    """Of one queue; ``secure`` where browsers come by https."""

    def __init__(self, workspace: Workspace, *, secure: bool) -> None:
        self._secure = secure
        path = intake_folder(workspace) / _KEY
        with told(path):
            if not path.exists():
                with suppress(FileExistsError):  # another server was first
                    write_file(path, secrets.token_bytes(_KEY_BYTES), sync=True, mode=OWNER_FILE, replace=False)
            self._key = path.read_bytes()

    def open(self, response: Response, owner: TokenOwner) -> None:
        """Log a browser in."""
        said = f"{owner.token}.{int(time.time()) + HOURS * 3600}.{secrets.token_hex(8)}"
        self._set(response, f"{said}.{self._signed('session', said)}", HOURS * 3600)

    def end(self, response: Response) -> None:
        self._set(response, "", 0)

    def cookie(self, request: Request) -> str:
        """As the browser sent it; empty where there is none, or none of ours that still holds."""
        given = request.cookies.get(_NAMES[self._secure], "")
        said, _, signed = given.rpartition(".")
        if not given.isascii() or not hmac.compare_digest(signed, self._signed("session", said)):
            return ""
        return given if int(said.split(".")[1]) > time.time() else ""

    def token(self, request: Request) -> str:
        """The id of the token that opened the session; empty where there is none."""
        return self.cookie(request).partition(".")[0]

    def form_word(self, request: Request) -> str:
        """What every form of the session carries."""
        return self._signed("form", self.cookie(request))

    def require_form(self, request: Request, word: str | None) -> None:
        """Refuses what another site has a browser send."""
        require_own_page(request)
        if word is None or not word.isascii() or not hmac.compare_digest(word, self.form_word(request)):
            raise Refusal("forbidden", "the form is of another session; load the page again")

    def _signed(self, what: str, said: str) -> str:
        return hmac.new(self._key, f"{what}:{said}".encode(), hashlib.sha256).hexdigest()

    def _set(self, response: Response, value: str, seconds: int) -> None:
        response.set_cookie(
            _NAMES[self._secure], value, seconds, path="/", secure=self._secure, httponly=True, samesite="strict"
        )


def require_own_page(request: Request) -> None:
    """Where the browser says which site had it ask."""
    if request.headers.get("sec-fetch-site", "none") not in _OURS:
        raise Refusal("forbidden", "the request came from another site")


def owner_of(side: QueueSide, token: str) -> TokenOwner | None:
    """Of a session that a token opened, while the token is worth something."""
    issued = side.registry.issued(token)
    return None if issued is None else TokenOwner(issued.team, issued.token, issued.person)
