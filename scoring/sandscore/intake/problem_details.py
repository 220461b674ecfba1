"""Refusals over HTTP: one code each, with its status, the exit code of our contract, and a sentence.

As RFC 9457 has them: programs read ``code`` and ``exit_code``, people ``detail``. What failed around us is said without
paths, names or reasons: those are the organiser's.
"""

import datetime
import math
from collections.abc import Mapping

from msgspec import Struct
from starlette.responses import JSONResponse

from sandscore.base.byte_sources import TooLong
from sandscore.base.clock import utc_now
from sandscore.base.errors import ParticipantFault, SandscoreError, UsageFault
from sandscore.queue.new_submission import KeyReused, OverQuota, PhaseClosed

MEDIA_TYPE = "application/problem+json"


class ProblemKind(Struct, frozen=True):
    """What a code means."""

    status: int
    title: str
    exit_code: int


KINDS: Mapping[str, ProblemKind] = {
    "bad_request": ProblemKind(400, "The request cannot be read", 2),
    "unauthorized": ProblemKind(401, "No valid token", 2),
    "phase_closed": ProblemKind(403, "The phase takes no submissions", 65),
    "forbidden": ProblemKind(403, "The request did not come from our own page", 2),
    "not_found": ProblemKind(404, "There is nothing here", 66),
    "not_allowed": ProblemKind(405, "The method does not fit", 2),
    "too_slow": ProblemKind(408, "The body came too slowly", 75),
    "ended": ProblemKind(409, "The submission has ended already", 65),
    "key_reused": ProblemKind(409, "The key names another submission", 2),
    "length_required": ProblemKind(411, "The length of the body is not said", 2),
    "too_large": ProblemKind(413, "The body is too large", 65),
    "media_type": ProblemKind(415, "The body is of another kind", 2),
    "invalid": ProblemKind(422, "The submission is not as it must be", 65),
    "over_quota": ProblemKind(429, "No slot is free", 65),
    "throttled": ProblemKind(429, "Too many wrong tokens", 75),
    "under_way": ProblemKind(429, "The team is handing in something else just now", 75),
    "unavailable": ProblemKind(503, "Not just now", 75),
}


class Refusal(Exception):
    """A request that is not done."""

    def __init__(self, code: str, detail: str, *, after: float | None = None, allow: str | None = None) -> None:
        super().__init__(detail)
        self.code, self.detail, self.kind = code, detail, KINDS[code]
        self.headers = {"www-authenticate": "Bearer"} if self.kind.status == 401 else {}
        if after is not None:
            self.headers["retry-after"] = str(max(1, math.ceil(after)))
        if allow is not None:
            self.headers["allow"] = allow


def refusal_of(fault: SandscoreError) -> Refusal:
    """A sentence of ours as an answer; what is not the team's own is told in general."""
    if isinstance(fault, OverQuota):
        wait = datetime.timedelta(days=365) if fault.opens is None else fault.opens - utc_now()
        return Refusal("over_quota", str(fault), after=wait.total_seconds())
    if isinstance(fault, PhaseClosed):
        return Refusal("phase_closed", str(fault))
    if isinstance(fault, KeyReused):
        return Refusal("key_reused", str(fault))
    if isinstance(fault, TooLong):
        return Refusal("too_large", "the file has more bytes than are allowed")
    if isinstance(fault, ParticipantFault | UsageFault):
        return Refusal("invalid", str(fault))
    return Refusal("unavailable", "something failed on our side; try again in a minute", after=60)


def problem_response(refused: Refusal) -> JSONResponse:
    kind = refused.kind
    told = {
        "type": f"urn:sandscore:{refused.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": refused.detail,
        "code": refused.code,
        "exit_code": kind.exit_code,
    }
    return JSONResponse(told, kind.status, refused.headers, MEDIA_TYPE)
