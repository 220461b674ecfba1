"""Notices to teams, in sentences. Nothing here comes from gold or notes but what the feedback mode lets out."""

from collections.abc import Mapping

from msgspec.structs import replace

from sandscore.records.submission import Claim, Event, Notice, Submission, Verdict

_SUBJECTS = {
    Event.STARTED: "is being evaluated",
    Event.SCORED: "was scored",
    Event.FAILED: "could not be evaluated just now",
    Event.INVALID: "is invalid",
    Event.CANCELLED: "was cancelled",
    Event.NEEDS_ORGANISER: "waits for the organisers",
}


def started(claim: Claim) -> Notice:
    return _notice(claim.submission, claim.attempt, Event.STARTED, "Evaluation has begun.")


def ended(claim: Claim, verdict: Verdict) -> Notice:
    """Of a verdict that was committed."""
    if verdict.status == "SCORED":
        return scored(claim.submission, claim.attempt, verdict.feedback or {})
    event = Event.INVALID if verdict.status == "INVALID" else Event.CANCELLED
    return _notice(claim.submission, claim.attempt, event, verdict.reason or "")


def scored(submission: Submission, attempt: int, feedback: Mapping[str, object]) -> Notice:
    return _notice(submission, attempt, Event.SCORED, "\n".join(_lines(feedback)) or "The score is not shown yet.")


def failed(claim: Claim, reason: str, helpless: bool) -> Notice:
    """A fault of ours costs the team nothing; what it was is for the organisers alone."""
    event = Event.NEEDS_ORGANISER if helpless else Event.FAILED
    what_next = "The organisers will look into it." if helpless else "It will be tried again."
    told = f"This was not your fault, and it costs nothing. {what_next}"
    return replace(_notice(claim.submission, claim.attempt, event, told), detail=reason)


def _lines(feedback: Mapping[str, object]) -> list[str]:
    measures = feedback.get("measures")
    if not isinstance(measures, Mapping):
        return []
    return [f"{name}: {_shown(score)}" for name, score in measures.items()]


def _shown(score: object) -> str:
    """F1, or the value of a measure whose score is another."""
    told = score if isinstance(score, Mapping) else {}
    name, value = ("value", told["value"]) if "value" in told else ("F1", told.get("f1"))
    return f"{name} {value:.4f}" if isinstance(value, float) else f"{name} –"


def _notice(submission: Submission, attempt: int, event: Event, text: str) -> Notice:
    subject = f"Your submission {submission.id} for the task {submission.task} {_SUBJECTS[event]}"
    return Notice(submission, attempt, event, subject, text)
