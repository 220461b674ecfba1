"""Logs are shown to participants; what they share with hidden notes is not. The rule: 5 words or 24 characters."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandscore.base.terminal_text import plain_lines
from sandscore.containers.note_redaction import redact

NOTE = "The patient was seen by Dr. Olivia Smith\non 14 Mar 2021; MRN 100000000000000000000042, K\u00f6ln."


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        pytest.param("was seen by Dr. Olivia", "[masked]", id="five words"),
        pytest.param("was seen by Dr", "was seen by Dr", id="four words"),
        pytest.param("WAS, seen -- by\tdr/olivia!", "[masked]!", id="other case, other marks between words"),
        pytest.param("x100000000000000000000042y", "x[masked]y", id="24 characters inside a word"),
        pytest.param("x00000000000000000000042y", "x00000000000000000000042y", id="23 characters"),
        pytest.param(
            "a: Olivia Smith on 14 Mar; then patient was seen by dr: c",
            "a: [masked]; then [masked]: c",
            id="two places",
        ),
        pytest.param("K\u00d6LN. and nothing else", "K\u00d6LN. and nothing else", id="a short word of the note"),
        pytest.param("listening on port 8080", "listening on port 8080", id="nothing in common"),
        pytest.param("", "", id="no log"),
    ],
)
def test_masks(log: str, expected: str) -> None:
    masked, count = redact(log, ["another note", NOTE])
    assert masked == expected
    assert count == expected.count("[masked]")


def test_every_window_of_a_note_is_masked() -> None:
    """Wherever 24 characters are cut out of the note, none of its words of the middle survives."""
    for at in range(len(NOTE) - 24):
        assert redact(NOTE[at : at + 24], [NOTE])[0] == "[masked]"


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    assert redact("\u0130\u0130 was seen by dr olivia \u0130", [NOTE])[0] == "\u0130\u0130 [masked] \u0130"


def test_repetitive_logs_and_notes_cost_no_more_than_others() -> None:
    begun = time.monotonic()
    masked, _ = redact("a" * (64 << 10), ["a" * 500_000])
    assert masked == "[masked]"
    assert time.monotonic() - begun < 20


def test_printable_says_nothing_to_a_terminal() -> None:
    assert plain_lines(b"\x1b[31mred\x07\r\nline\ttab \xff \xc3\xa4") == "\ufffd[31mred\ufffd\nline\ttab \ufffd \xe4"


@settings(deadline=None)
@given(st.text(alphabet="ab \u0130", max_size=80), st.lists(st.text(alphabet="ab \u0130", max_size=80), max_size=3))
def test_nothing_of_24_characters_survives(log: str, notes: list[str]) -> None:
    masked, _ = redact(log, notes)
    for part in masked.split("[masked]"):
        for note in notes:
            assert not any(part[at : at + 24] in note for at in range(len(part) - 23))
