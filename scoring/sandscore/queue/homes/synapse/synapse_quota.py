"""The quota of a challenge on Synapse: enforced by workers when they claim, or kept by Synapse in the queue's rounds.

Both count alike: all of a team's submissions to the queue but INVALID and REJECTED ones, days and weeks from 00:00 UTC
(org.sagebionetworks.evaluation.model.EvaluationRoundLimit).
"""

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sandscore.base.clock import DAY, read, utc_now, written
from sandscore.base.errors import OrganiserFault
from sandscore.queue.homes.synapse.synapse_errors import Refused
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


async def read_rounds(session: Session, evaluation_id: str) -> list[dict[str, Any]]:
    """All rounds of the queue."""
    found: list[dict[str, Any]] = []
    token: str | None = None
    while True:
        body = json.dumps({"nextPageToken": token} if token else {})
        asking = session.client.rest_post_async(f"/evaluation/{evaluation_id}/round/list", body=body)
        page = await session.call(f"reading the rounds of queue {evaluation_id}", asking)
        found += page.get("page") or []
        token = page.get("nextPageToken")
        if not token:
            return found


def round_limits(one: Mapping[str, Any]) -> dict[str, int]:
    return {str(limit["limitType"]): int(limit["maximumSubmissions"]) for limit in one.get("limits") or ()}


def is_over(one: Mapping[str, Any], now: datetime.datetime) -> bool:
    return read(str(one["roundEnd"])) <= now


def kept_by_rounds(rounds: Sequence[Mapping[str, Any]], quota: SlotCounts, now: datetime.datetime) -> bool:
    """Whether every round that is still to end has these limits."""
    wanted = limits_of(quota).items()
    left = [one for one in rounds if not is_over(one, now)]
    return bool(left) and all(wanted <= round_limits(one).items() for one in left)


async def write_rounds(session: Session, evaluation_id: str, challenge: Challenge, phase: str | None) -> None:
    """The quota into every round that is still to end, or into a new one; asked again it changes nothing."""
    quota, _ = quota_of(challenge, phase)
    wanted = limits_of(quota)
    if not wanted:
        raise OrganiserFault("challenge.toml has no [quota] that could be written into the queue's rounds")
    now = utc_now()
    left = [one for one in await read_rounds(session, evaluation_id) if not is_over(one, now)]
    for one in left:
        limits = round_limits(one) | wanted
        if limits != round_limits(one):
            await _store(session, evaluation_id, {**one, "limits": _as_list(limits)})
    if not left:
        await _store(session, evaluation_id, _new_round(evaluation_id, challenge, phase, wanted))
    if not kept_by_rounds(await read_rounds(session, evaluation_id), quota, now):
        raise OrganiserFault(f"Synapse has not taken the quota into the rounds of queue {evaluation_id}")


def _new_round(evaluation_id: str, challenge: Challenge, name: str | None, limits: Mapping[str, int]) -> dict[str, Any]:
    phase = next((one for one in challenge.phases if one.name == name), None)
    begins = utc_now() + _AHEAD
    if phase is not None and phase.opens is not None:
        begins = max(begins, phase.opens)
    ends = phase.closes if phase is not None and phase.closes is not None else begins + _LONGEST
    if ends <= begins:
        raise OrganiserFault(
            f"the phase '{name}' closes at {written(ends)}: there is no round left to write its quota to"
        )
    times = {"roundStart": _precise(begins), "roundEnd": _precise(ends)}
    return {"evaluationId": evaluation_id, "limits": _as_list(limits), **times}


def _precise(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_list(limits: Mapping[str, int]) -> list[dict[str, object]]:
    return [{"limitType": kind, "maximumSubmissions": most} for kind, most in limits.items()]


async def _store(session: Session, evaluation_id: str, one: Mapping[str, Any]) -> None:
    """A second try may find that the first was stored: whether it was is looked at afterwards."""
    client, path = session.client, f"/evaluation/{evaluation_id}/round"
    key = one.get("id")
    body = json.dumps(dict(one))
    storing = client.rest_put_async(f"{path}/{key}", body=body) if key else client.rest_post_async(path, body=body)
    try:
        await session.call(f"writing the rounds of queue {evaluation_id}", storing)
    except Refused as fault:
        if fault.status == 403:
            raise OrganiserFault(f"{fault}; to write rounds the account needs UPDATE on the queue") from None
        if fault.status not in (400, 409, 412):
            raise
