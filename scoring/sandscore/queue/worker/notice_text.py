"""Notices to teams, in sentences. Nothing here comes from gold or notes but what the feedback mode lets out."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from sandscore.disclosure.gate import release
from sandscore.disclosure.notice_view import NoticeItem
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.released_view import Audience, Released
from sandscore.records.submission import Claim, Event, Notice, Status, Submission, Verdict

_SUBJECTS = {
    Event.STARTED: "is being evaluated",
    Event.SCORED: "was scored",
    Event.FAILED: "could not be evaluated just now",
    Event.INVALID: "is invalid",
    Event.CANCELLED: "was cancelled",
    Event.NEEDS_ORGANISER: "waits for the organisers",
}


def started(claim: Claim) -> Notice:
    return _notice(claim.submission, claim.attempt, Event.STARTED, sentence="Evaluation has begun.")


def ended(claim: Claim, verdict: Verdict) -> Notice:
    """Of a verdict that was committed: the submission as it is since."""
    one = replace(claim.submission, status=verdict.status)
    if verdict.status == "SCORED":
        return scored(one, claim.attempt, verdict.feedback)
    event = Event.INVALID if verdict.status == "INVALID" else Event.CANCELLED
    return _notice(one, claim.attempt, event, reason=verdict.reason)


def scored(submission: Submission, attempt: int, feedback: Released[Mapping[str, object]] | None) -> Notice:
    return _notice(submission, attempt, Event.SCORED, feedback=feedback)


def failed(claim: Claim, reason: str, helpless: bool) -> Notice:
    """A fault of ours costs the team nothing; what it was is for the organisers alone."""
    event = Event.NEEDS_ORGANISER if helpless else Event.FAILED
    what_next = "The organisers will look into it." if helpless else "It will be tried again."
    told = f"This was not your fault, and it costs nothing. {what_next}"
    waits = replace(claim.submission, status=Status.RECEIVED, needs_organiser=helpless)
    return _notice(waits, claim.attempt, event, reason, sentence=told)


def _notice(submission: Submission, attempt: int, event: Event, detail: str | None = None, **parts: Any) -> Notice:
    subject = f"Your submission {submission.id} for the task {submission.task} {_SUBJECTS[event]}"
    item = NoticeItem(subject=subject, team=submission.team, submission=submission.id, **parts)
    words = release(item, Audience.TEAM, DisclosurePolicy())  # the strictest: its parts have passed theirs
    return Notice(submission, attempt, event, words, detail)
