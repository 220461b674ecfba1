"""The quota of a challenge on Synapse: enforced by workers when they claim, or kept by Synapse in the queue's rounds.

Both count alike: all of a team's submissions to the queue but INVALID and REJECTED ones, days and weeks from 00:00 UTC
(org.sagebionetworks.evaluation.model.EvaluationRoundLimit).
"""

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.clock import DAY, read, utc_now, written
from sandscore.base.errors import OrganiserFault
from sandscore.queue.homes.synapse.synapse_errors import Refused, told
from sandscore.queue.homes.synapse.synapse_listing import ListedSubmission, team_key
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.new_submission import OverQuota, quota_of, refusal
from sandscore.records.challenge import Challenge, SlotCounts

_LIMITS = {"day": "DAILY", "week": "WEEKLY", "total": "TOTAL"}
_AHEAD = datetime.timedelta(seconds=5)
"""A round cannot begin in the past, by the clock of Synapse."""
_LONGEST = 3650 * DAY
"""A phase that does not say when it closes."""


def limits_of(quota: SlotCounts) -> dict[str, int]:
    """As rounds have them."""
    found = {_LIMITS[name]: getattr(quota, name) for name in _LIMITS}
    return {kind: most for kind, most in found.items() if most is not None}


def quota_words(quota: SlotCounts) -> str:
    """For people."""
    words = {"day": "a day", "week": "a week", "total": "in all"}
    return ", ".join(
        f"{getattr(quota, name)} {told}" for name, told in words.items() if getattr(quota, name) is not None
    )


def over_quota(
    challenge: Challenge, phase: str | None, mine: ListedSubmission, listed: Iterable[ListedSubmission]
) -> OverQuota | None:
    """Why the submission comes too late in its day, its week or the whole challenge: its team's earlier ones count."""
    quota, _ = quota_of(challenge, phase)
    if not limits_of(quota) or mine.now.record.pardoned or mine.now.record.attempt:
        return None
    before = [_came(one) for one in listed if team_key(one) == team_key(mine) and one.age < mine.age and _counts(one)]
    return refusal(quota, before, _came(mine))


def _counts(one: ListedSubmission) -> bool:
    return one.now.raw.get("status") not in ("INVALID", "REJECTED")


def _came(one: ListedSubmission) -> datetime.datetime:
    try:
        return read(str(one.submission.created_on))
    except ValueError:
        return utc_now()


class RoundLimit(Struct, frozen=True, rename="camel"):
    """At most so many in a day, a week, a month or the whole round."""

    limit_type: str
    maximum_submissions: int


class EvaluationRound(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A round of a queue, as Synapse has it; outside of its rounds a queue takes nothing."""

    round_start: str
    round_end: str
    limits: list[RoundLimit] | None = None
    evaluation_id: str = ""
    id: str | None = None
    etag: str | None = None

    @property
    def begins(self) -> datetime.datetime:
        return read(self.round_start)

    def is_over(self, now: datetime.datetime) -> bool:
        return read(self.round_end) <= now

    @property
    def held(self) -> dict[str, int]:
        return {one.limit_type: one.maximum_submissions for one in self.limits or ()}


class _RoundPage(Struct, frozen=True, rename="camel"):
    page: list[EvaluationRound] | None = None
    next_page_token: str | None = None


async def read_rounds(session: Session, evaluation_id: str) -> list[EvaluationRound]:
    """All rounds of the queue."""
    found: list[EvaluationRound] = []
    token, what = None, f"reading the rounds of queue {evaluation_id}"
    while True:
        body = json.dumps({"nextPageToken": token} if token else {})
        asking = session.client.rest_post_async(f"/evaluation/{evaluation_id}/round/list", body=body)
        answer = await session.call(what, asking)
        with told(what, 0):
            page = msgspec.convert(answer, _RoundPage, strict=False)
        found += page.page or []
        token = page.next_page_token
        if not token:
            return found


def kept_by_rounds(rounds: Sequence[EvaluationRound], quota: SlotCounts, now: datetime.datetime) -> bool:
    """Whether every round that is still to end has these limits."""
    wanted = limits_of(quota).items()
    left = [one for one in rounds if not one.is_over(now)]
    return bool(left) and all(wanted <= one.held.items() for one in left)


async def write_rounds(session: Session, evaluation_id: str, challenge: Challenge, phase: str | None) -> None:
    """The quota into every round that is still to end, or into a new one; asked again it changes nothing."""
    quota, _ = quota_of(challenge, phase)
    wanted = limits_of(quota)
    if not wanted:
        raise OrganiserFault("challenge.toml has no [quota] that could be written into the queue's rounds")
    now = utc_now()
    left = [one for one in await read_rounds(session, evaluation_id) if not one.is_over(now)]
    for one in left:
        if (limits := one.held | wanted) != one.held:
            await _store(session, evaluation_id, replace(one, limits=_as_list(limits)))
    if not left:
        await _store(session, evaluation_id, _new_round(challenge, phase, wanted))
    if not kept_by_rounds(await read_rounds(session, evaluation_id), quota, now):
        raise OrganiserFault(f"Synapse has not taken the quota into the rounds of queue {evaluation_id}")


def _new_round(challenge: Challenge, name: str | None, limits: Mapping[str, int]) -> EvaluationRound:
    phase = next((one for one in challenge.phases if one.name == name), None)
    begins = utc_now() + _AHEAD
    if phase is not None and phase.opens is not None:
        begins = max(begins, phase.opens)
    ends = phase.closes if phase is not None and phase.closes is not None else begins + _LONGEST
    if ends <= begins:
        raise OrganiserFault(
            f"the phase '{name}' closes at {written(ends)}: there is no round left to write its quota to"
        )
    return EvaluationRound(_precise(begins), _precise(ends), _as_list(limits))


def _precise(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_list(limits: Mapping[str, int]) -> list[RoundLimit]:
    return [RoundLimit(kind, most) for kind, most in limits.items()]


async def _store(session: Session, evaluation_id: str, one: EvaluationRound) -> None:
    """A second try may find that the first was stored: whether it was is looked at afterwards."""
    path = f"/evaluation/{evaluation_id}/round"
    body = msgspec.json.encode(replace(one, evaluation_id=evaluation_id)).decode()
    store = partial(session.client.rest_put_async, f"{path}/{one.id}") if one.id else None
    storing = (store or partial(session.client.rest_post_async, path))(body=body)
    try:
        await session.call(f"writing the rounds of queue {evaluation_id}", storing)
    except Refused as fault:
        if fault.status == 403:
            raise OrganiserFault(f"{fault}; to write rounds the account needs UPDATE on the queue") from None
        if fault.status not in (400, 409, 412):
            raise
