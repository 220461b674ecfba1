"""Notices to teams, in sentences. Nothing here comes from gold or notes but what the feedback mode lets out."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from sandscore.disclosure.released import CALLED_BACK, OVER_QUOTA
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.released_view import Audience, Released
from sandscore.records.submission import CANCELLED, Claim, Event, Notice, Status, Submission, Verdict

_SUBJECTS = {
    Event.STARTED: "is being evaluated",
    Event.SCORED: "was scored",
    Event.FAILED: "could not be evaluated just now",
    Event.INVALID: "is invalid",
    Event.CANCELLED: "was cancelled",
    Event.NEEDS_ORGANISER: "waits for the organisers",
}


_TOO_MANY = "The team has as many failed submissions as it may have for now."


def started(claim: Claim) -> Notice:
    return _notice(claim.submission, claim.attempt, Event.STARTED, sentence="Evaluation has begun.")


def ended(claim: Claim, verdict: Verdict) -> Notice:
    """Of a verdict that was committed: the submission as it is since."""
    one = replace(claim.submission, status=verdict.status)
    if verdict.status == "SCORED":
        return scored(one, claim.attempt, verdict.feedback)
    return _over(one, claim.attempt, verdict.reason)


def ended_unseen(submission: Submission) -> Notice | None:
    """Of what was refused or called back before any worker had it; None where that is not how it ended."""
    if submission.status is not Status.REJECTED:
        return None
    reason = next((ours for ours in (CALLED_BACK, OVER_QUOTA) if ours.view == submission.reason), None)
    return None if reason is None else _over(submission, submission.attempt, reason)


def _over(submission: Submission, attempt: int, reason: Released[str] | None) -> Notice:
    """Without a score. What a quota refuses is told to whoever hears of what was cancelled."""
    refused = submission.status is Status.REJECTED and reason is not None and reason.view != CANCELLED
    event = Event.INVALID if submission.status is Status.INVALID else Event.CANCELLED
    if reason is OVER_QUOTA:
        return _notice(submission, attempt, event, happened="was refused", sentence=_TOO_MANY)
    return _notice(submission, attempt, event, happened="was refused" if refused else None, reason=reason)


def scored(submission: Submission, attempt: int, feedback: Released[Mapping[str, object]] | None) -> Notice:
    return _notice(submission, attempt, Event.SCORED, feedback=feedback)


def failed(claim: Claim, reason: str, helpless: bool) -> Notice:
    """A fault of ours costs the team nothing; what it was is for the organisers alone."""
    event = Event.NEEDS_ORGANISER if helpless else Event.FAILED
    what_next = "The organisers will look into it." if helpless else "It will be tried again."
    told = f"This was not your fault, and it costs nothing. {what_next}"
    waits = replace(claim.submission, status=Status.RECEIVED, needs_organiser=helpless)
    return _notice(waits, claim.attempt, event, reason, sentence=told)


def _notice(
    submission: Submission,
    attempt: int,
    event: Event,
    detail: str | None = None,
    happened: str | None = None,
    **parts: Any,
) -> Notice:
    from sandscore.disclosure.gate import release
    from sandscore.disclosure.notice_view import NoticeItem

    subject = f"Your submission {submission.id} for the task {submission.task} {happened or _SUBJECTS[event]}"
    item = NoticeItem(subject=subject, team=submission.team, submission=submission.id, **parts)
    words = release(item, Audience.TEAM, DisclosurePolicy())  # the strictest: its parts have passed theirs
    return Notice(submission, attempt, event, words, detail)
