"""Claims on Synapse: each step one change of the status, fenced by the claim's nonce and by the etag.

Leases of others' claims: whether one has run out, judged without comparing clocks of two machines.
"""

import datetime
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.clock import LONGEST_SECONDS, read, uptime, utc_now, wait_after, written
from sandscore.base.process_identity import gone
from sandscore.disclosure.released import CALLED_BACK
from sandscore.queue.homes.synapse import status_record
from sandscore.queue.homes.synapse.synapse_ledger import noted
from sandscore.queue.homes.synapse.synapse_statuses import Change, Seen, Statuses
from sandscore.queue.settings import QueueSettings
from sandscore.records.released_view import Released, view_of
from sandscore.records.submission import CANCELLED, Claim, Committed, Signal, Status, Submission, Verdict


class SynapseLeases:
    """Remembers since when each claim has shown no sign of life."""

    def __init__(self) -> None:
        self._pulses: dict[str, tuple[tuple[str, int], float]] = {}

    def wait(self, now: Seen) -> float | None:
        """Seconds until a claim may succeed; 0 at once; None never, or not by us."""
        if now.record.help or now.status is None:
            return None
        if now.status is Status.RECEIVED:
            self._pulses.pop(now.id, None)
            return 0.0 if now.cancel else _until(now.record.after)
        if now.status not in (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED) or not now.record.nonce:
            return None
        return self._left(now)

    def _left(self, now: Seen) -> float:
        """Unchanged for as long as the lease lasts, on our own clock; at once if its process died on this machine."""
        pulse, since = self._pulses.get(now.id, (None, 0.0))
        if pulse != now.record.pulse:
            pulse, since = now.record.pulse, uptime()
            self._pulses[now.id] = pulse, since
        if gone(now.record.owner):
            return 0.0
        return max(0.0, since + now.record.lease - uptime())


def after(seconds: float) -> str:
    """The time a back-off ends, for people and for the next worker."""
    return (utc_now() + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _until(moment: str) -> float:
    """Never longer than the longest back-off, whatever a clock said when it was written."""
    try:
        left = (read(moment) - utc_now()).total_seconds() if moment else 0.0
    except (ValueError, TypeError):
        return 0.0
    return min(max(0.0, left), LONGEST_SECONDS)


OURS = "a failure of ours, which costs no quota"
"""All that an annotation says of it: what exactly failed names paths and machines."""
HELD = (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED)
_BEATS = 3
"""A lease is renewed as often within its time."""


Ending = Callable[[Claim, Verdict], None]
"""Is told of an end that the worker does not know of, before it is written."""


class _Found(Struct):
    """What an edit saw when it was asked last."""

    now: Seen | None = None


class SynapseClaims:
    """What workers do to a status: written when it is claimed and when it ends, and in between only as often as the
    lease needs it. ``running`` lists what workers have; ``by`` names the state whose workers these are."""

    def __init__(
        self,
        statuses: Statuses,
        running: Callable[[], Awaitable[Mapping[str, Seen]]],
        leases: SynapseLeases,
        settings: QueueSettings,
        *,
        annotate_scores: bool,
        by: str = "",
    ) -> None:
        self._statuses, self._running, self._leases, self._settings = statuses, running, leases, settings
        self._annotate_scores, self._by = annotate_scores, by
        self._renewed: dict[str, float] = {}

    async def claim(
        self,
        submission: Submission,
        owner: str,
        seconds: float,
        first: Seen | None,
        refused: Released[str] | None = None,
        ending: Ending = lambda *_: None,
    ) -> Claim | Verdict | None:
        """``refused``: why a quota does not let it be evaluated. ``ending`` is told before it ends here; then the
        verdict comes back."""
        nonce = secrets.token_hex(12)
        taken: list[int] = []
        over: list[Verdict] = []

        def edit(now: Seen) -> Change | None:
            taken.clear()
            over.clear()
            if self._leases.wait(now) != 0.0:
                return None
            if now.cancel or refused is not None:
                over.append(Verdict(Status.REJECTED, CALLED_BACK if now.cancel else refused))
                ending(Claim(submission, now.record.attempt, owner, nonce, seconds), over[0])
                return ended(replace(now, record=replace(now.record, nonce=nonce, by=self._by)), over[0])
            lost = now.record.losses + (now.status is not Status.RECEIVED)
            if lost >= self._settings.most_losses:
                return _handed_back(now, "the workers stopped without a word", helpless=True)
            taken.append(now.record.attempt + 1)
            record = replace(
                now.record,
                attempt=taken[0],
                nonce=nonce,
                owner=owner[-80:],
                lease=seconds,
                beat=0,
                losses=lost,
                after="",
                day=written(utc_now())[:10],
                by=self._by,
            )
            return Change(record, Status.EVALUATION_IN_PROGRESS, can_cancel=True, cancel=False)

        asked = uptime()
        stored = await self._statuses.change(submission.id, edit, first)
        if not stored or not taken:
            return over[0] if stored and over else None
        self._renewed[nonce] = asked
        held = replace(submission, status=Status.EVALUATION_IN_PROGRESS, attempt=taken[0])
        return Claim(held, taken[0], owner, nonce, seconds)

    async def heartbeat(self, claim: Claim) -> Signal:
        """The wish to cancel stays until the claim ends: a beat must not wipe it out. A list says whether there is
        one; the status itself is written when a third of the lease is over, and asked where the list is not clear."""
        listed = (await self._running()).get(claim.submission.id)
        since = uptime() - self._renewed.get(claim.nonce, -math.inf)
        if listed is not None and _held(listed, claim) and since < claim.lease_seconds / _BEATS:
            return Signal.CANCEL if listed.cancel else Signal.GO_ON
        found, asked = _Found(), uptime()

        def edit(now: Seen) -> Change | None:
            found.now = now
            return Change(replace(now.record, beat=now.record.beat + 1)) if _held(now, claim) else None

        if not await self._statuses.change(claim.submission.id, edit, listed):
            self._renewed.pop(claim.nonce, None)
            return Signal.LOST
        self._renewed[claim.nonce] = asked
        return Signal.CANCEL if found.now is not None and found.now.cancel else Signal.GO_ON

    async def commit(self, claim: Claim, verdict: Verdict, ending: Ending = lambda *_: None) -> Committed:
        found = _Found()

        def edit(now: Seen) -> Change | None:
            found.now = now
            if not _held(now, claim):
                return None
            if now.cancel:
                over = Verdict(Status.REJECTED, CALLED_BACK, seconds=verdict.seconds)
                ending(claim, over)
                return ended(now, over)
            return ended(now, verdict, self._annotate_scores)

        stored = await self._statuses.change(claim.submission.id, edit)
        self._renewed.pop(claim.nonce, None)
        now = found.now
        if now is None or (not stored and not (_of(now, claim) and now.status is not None and now.status.final)):
            return Committed.STALE
        reason = verdict.reason_text if stored and not now.cancel else CANCELLED if stored else _reason(now)
        return Committed.CANCELLED if reason == CANCELLED else Committed.DONE

    async def release(
        self,
        claim: Claim,
        reason: str,
        *,
        our_fault: bool,
        rehearsed: bool = False,
        ending: Ending = lambda *_: None,
    ) -> bool | Verdict:
        """The verdict where it was called back meanwhile."""
        over: list[Verdict] = []

        def edit(now: Seen) -> Change | None:
            over.clear()
            if not _held(now, claim):
                return None
            if now.cancel:
                over.append(Verdict(Status.REJECTED, CALLED_BACK))
                ending(claim, over[0])
                return ended(now, over[0])
            now = replace(now, record=replace(now.record, rehearsed=now.record.rehearsed or rehearsed))
            failures = now.record.failures + our_fault
            wait = wait_after(failures, self._settings.first_wait_seconds) if our_fault else 0.0
            helpless = our_fault and failures >= self._settings.most_failures
            record = replace(now.record, failures=failures, losses=0, after=after(wait) if wait else "")
            return _handed_back(replace(now, record=record), OURS if our_fault else reason, helpless=helpless)

        stored = await self._statuses.change(claim.submission.id, edit)
        return over[0] if stored and over else stored


def _of(now: Seen, claim: Claim) -> bool:
    return (now.record.attempt, now.record.nonce) == (claim.attempt, claim.nonce)


def _held(now: Seen, claim: Claim) -> bool:
    """A lease that ran out but that nobody took over is still ours to renew."""
    return now.status in HELD and _of(now, claim)


def ended(now: Seen, verdict: Verdict, scores: bool = False) -> Change:
    """The nonce stays, so that the same result can be recognised when it is brought again."""
    scored = verdict.status == Status.SCORED
    told = status_record.scores(view_of(verdict.feedback) or {}) if scores and scored else {}
    shown = {
        "reason": status_record.text(verdict.reason_text),
        "finished": status_record.text(written(utc_now())),
        "signature": status_record.text(verdict.signature),
        **noted(now.annotations, verdict.lines),
        **status_record.with_marks(told),
    }
    version, fed = now.record.version + scored, scored and verdict.feedback is not None
    spent = round(verdict.seconds, 1)
    record = replace(now.record, failures=0, losses=0, after="", help=False, version=version, fed=fed, spent=spent)
    annotations = status_record.without_scores(now.annotations) | shown
    return Change(record, verdict.status, can_cancel=False, annotations=annotations)


def _handed_back(now: Seen, reason: str, *, helpless: bool) -> Change:
    record = replace(now.record, nonce="", owner="", lease=0.0, day="", by="", help=helpless)
    return Change(record, Status.RECEIVED, can_cancel=True, annotations={"reason": status_record.text(reason)})


def _reason(now: Seen) -> str | None:
    found = now.annotations.get("reason")
    return str(found[0]) if found else None
