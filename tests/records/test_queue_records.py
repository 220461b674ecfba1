"""Numbers and words of a queue's records that others have written down: they stay as they are."""

import pytest

from sandscore.records.submission import Event, Status


def test_events_are_the_numbers_that_organisers_add_up() -> None:
    assert {event.name: event.value for event in Event} == {
        "STARTED": 1, "SCORED": 2, "FAILED": 4, "INVALID": 8, "CANCELLED": 16, "NEEDS_ORGANISER": 32,
    }  # fmt: skip
    assert Event.SCORED not in Event.STARTED | Event.FAILED


@pytest.mark.parametrize("status", list(Status))
def test_what_is_final_and_what_counts(status: Status) -> None:
    assert status.final == (status.value in {"SCORED", "INVALID", "REJECTED", "CLOSED"})
    assert status.counts == (status.value not in {"INVALID", "REJECTED"})
