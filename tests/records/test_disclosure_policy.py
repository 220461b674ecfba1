"""The policy of disclosure, rule by rule as the specification's defaults have it."""

from datetime import UTC, datetime

import pytest

from sandscore.base.errors import OrganiserFault
from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.disclosure.policy_choice import policy_for
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import DisclosurePolicy


def challenge(text: str = "") -> Challenge:
    return parse_challenge(b'challenge = "c"\n' + text.encode(), "challenge.toml")


def policy(text: str, phase: str | None = None) -> DisclosurePolicy:
    return policy_for(challenge(text), "date", phase)


def shown(found: DisclosurePolicy) -> tuple[str, str, str]:
    return found.logs, found.problems, found.cards


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("", ("rehearsal", "codes", "totals")),
        ("[data]\n", ("rehearsal", "codes", "totals")),
        ('[data]\nnotes = "public"\ngold = "public"\n', ("full", "full", "notes")),
        ('[data]\nnotes = "public"\ngold = "retired"\n', ("full", "full", "notes")),
        ('[data]\nnotes = "public"\n', ("rehearsal", "codes", "totals")),
        ('[data]\nnotes = "teams"\n', ("full", "full", "totals")),
        ('[data]\ngold = "public"\n', ("rehearsal", "codes", "totals")),
        ('[data]\nlogs = "none"\ncards = "none"\n', ("none", "codes", "none")),
        ('[data]\nlogs = "full"\naccept_disclosure = true\n', ("full", "codes", "totals")),
    ],
)
def test_defaults(data: str, expected: tuple[str, str, str]) -> None:
    assert shown(policy(data)) == expected


def test_a_phase_overrides_the_challenge() -> None:
    text = '[data]\nnotes = "teams"\n[[phases]]\nname = "a"\n[[phases]]\nname = "b"\nnotes = "hidden"\nlogs = "none"\n'
    assert shown(policy(text, "a")) == ("full", "full", "totals")
    assert shown(policy(text, "b")) == ("none", "codes", "totals")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[data]\nlogs = "full"\n', 3),
        ('[data]\nproblems = "full"\n', 3),
        ('[data]\nnotes = "teams"\ncards = "notes"\n', 4),
        ('[data]\nnotes = "public"\ncards = "notes"\n', 4),
        ('[data]\nnotes = "public"\n[publication]\ntext = true\n', 5),
        ('[[phases]]\nname = "a"\nlogs = "full"\n', 4),
        ('[[phases]]\nname = "a"\nopens = 2026-12-01T00:00:00\n', 4),
        ('[[phases]]\nname = "a"\nopens = 2026-12-02T00:00:00Z\ncloses = 2026-12-01T00:00:00Z\n', 2),
    ],
)
def test_what_tells_more_than_the_data_allow_is_refused_at_its_line(text: str, line: int) -> None:
    with pytest.raises(OrganiserFault, match=rf"^challenge\.toml, line {line}: ") as refused:
        challenge(text)
    assert refused.value.exit_code == 78


def test_accepting_disclosure_lifts_the_refusal() -> None:
    found = policy('[data]\naccept_disclosure = true\ncards = "notes"\n[publication]\ntext = true\n')
    assert (found.cards, found.text) == ("notes", True)


def test_text_is_not_shown_where_nothing_is_said_of_the_data() -> None:
    assert not policy("[publication]\ntext = true\n").text


def test_dates_have_an_offset() -> None:
    found = policy('[[phases]]\nname = "a"\ncloses = 2026-12-01T02:00:00+02:00\n')
    assert found.closes == datetime(2026, 12, 1, tzinfo=UTC)


def test_full_feedback_is_rounded_until_every_phase_with_the_same_data_has_ended() -> None:
    text = '[[phases]]\nname = "a"\nended = true\n[[phases]]\nname = "b"\n'
    assert policy(text, "a").feedback == "rounded"
    assert policy_for(challenge(text), "date", "a", ["a"]).feedback == "full"
    assert policy_for(challenge(text), "date", "a", ["a", "b"]).feedback == "rounded"
    assert policy('[data]\ngold = "public"\n' + text, "b").feedback == "full"


def test_failures_and_registries() -> None:
    found = challenge('[quota.failures]\nday = 3\n[images]\nregistries = ["r.example.org/{team}"]\n')
    assert found.quota.failures is not None
    assert found.quota.failures.day == 3
    assert found.images.registries == ("r.example.org/{team}",)
