"""Numbers and words of a queue's records that others have written down: they stay as they are."""

import pytest

from sandscore.records.submission import Event, Status, Submission, SubmissionKind


def test_events_are_the_numbers_that_organisers_add_up() -> None:
    assert {event.name: event.value for event in Event} == {
        "STARTED": 1, "SCORED": 2, "FAILED": 4, "INVALID": 8, "CANCELLED": 16, "NEEDS_ORGANISER": 32,
    }  # fmt: skip
    assert Event.SCORED not in Event.STARTED | Event.FAILED


@pytest.mark.parametrize("status", list(Status))
def test_what_is_final_and_what_counts(status: Status) -> None:
    assert status.final == (status.value in {"SCORED", "INVALID", "REJECTED", "CLOSED"})
    assert status.counts == (status.value not in {"INVALID", "REJECTED"})


def test_a_submission_that_was_just_taken_in() -> None:
    one = Submission("s", "Team", "date", SubmissionKind.IMAGE, Status.RECEIVED, "2026-01-01T00:00:00Z")
    assert (one.attempt, one.failures, one.version, one.spent) == (0, 0, 0, 0.0)
    assert (one.needs_organiser, one.cancel_requested, one.rehearsed) == (False, False, False)
    assert (one.not_before, one.scores, one.feedback) == (None, {}, None)
