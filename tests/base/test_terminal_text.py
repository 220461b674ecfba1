"""The printer of other people's text: nothing plays tricks, and columns stand under one another; widths by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandscore.base.terminal_text import (
    cited,
    clipped,
    disarmed,
    hanging,
    markdown,
    one_line,
    padded,
    plain_cell,
    plain_lines,
    printable,
    table,
    width,
    wrapped,
)

TRICKS = ["\x1b[31m", "\x00", "a\rb", "\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\ud800", "\x9b2J"]
WORDS = st.text(st.characters(categories=["L", "N", "P", "S", "M"], include_characters=" "), max_size=30)


@pytest.mark.parametrize("text", TRICKS, ids=ascii)
def test_nothing_plays_tricks_on_a_terminal(text: str) -> None:
    for made in (printable(text), plain_cell(text), one_line(text), cited(text)):
        assert made.isprintable()


def test_escapes_say_what_was_there() -> None:
    assert printable("a\x1b[31mb\u202e") == "a\\x1b[31mb\\u202e"
    assert plain_cell("a\x1bb") == "a\N{REPLACEMENT CHARACTER}b"
    assert (
        plain_lines(b"one\r\ntwo\ttabs\x1b[2J\xff")
        == "one\ntwo\ttabs\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}"
    )


def test_words_in_sentences_are_short() -> None:
    assert cited("x" * 61) == f"'{'x' * 57}...'"
    assert len(one_line("x" * 1000)) == 200
    assert len(one_line("x" * 1000, None)) == 1000


def test_markup_and_formulas_are_text() -> None:
    assert markdown("a|b *c* [d](e)\n<f>") == "a\\|b \\*c\\* \\[d\\](e) \\<f\\>"
    assert [disarmed(cell) for cell in ("=1", "-2", "＝1", "'=1", "plain", "")] == [
        "'=1",
        "'-2",
        "'＝1",
        "''=1",
        "plain",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("plain", 5),
        ("北京", 4),
        ("ｗｉｄｅ", 8),
        ("e\u0301", 1),
        ("\u1112\u1161\u11ab", 2),
        ("한글", 4),
        ("\N{GRINNING FACE}", 2),
        ("–…", 2),
        ("", 0),
    ],
)
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_cells_are_cut_and_filled_by_columns_not_by_characters() -> None:
    assert padded("北京", 6) == "北京  "
    assert padded("北京", 6, right=True) == "  北京"
    assert clipped("北京大学", 6) == "北京…"
    assert clipped("北京大学", 8) == "北京大学"
    assert clipped("e\u0301" * 4, 3) == "e\u0301e\u0301…"


def test_lines_break_at_spaces_and_long_words_where_they_must() -> None:
    assert wrapped("one two three", 7) == ["one two", "three"]
    assert wrapped("abcdefgh ij", 3) == ["abc", "def", "gh", "ij"]
    assert wrapped("北京大学", 5) == ["北京", "大学"]
    assert hanging("head  ", "one two three", 14) == "head  one two\n      three"
    assert hanging("head  ", "one two three", None) == "head  one two three"


@given(WORDS, st.integers(2, 12))
def test_no_line_is_too_long_and_no_letter_is_lost(text: str, columns: int) -> None:
    lines = wrapped(text, columns)
    assert all(width(line) <= columns for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_table_stands_straight_under_wide_characters() -> None:
    lines = table([("team", "F1"), ("北京", "0.9"), ("Ward", "0.8")], right=(1,))
    assert lines == ["team   F1", "北京  0.9", "Ward  0.8"]


def test_a_table_that_is_too_wide_goes_on_in_the_next_line() -> None:
    rows = [("id", "team", "why"), ("0123456789ab", "Tidewater Text Lab", "the answer is not JSON")]
    assert table(rows, 40, keep=(0,)) == [
        "id            team          why",
        "0123456789ab  Tidewater     the answer",
        "              Text Lab      is not JSON",
    ]
    assert table(rows, None)[1] == "0123456789ab  Tidewater Text Lab  the answer is not JSON"


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=4), st.integers(40, 90))
def test_tables_fit(rows: list[list[str]], limit: int) -> None:
    assert all(width(line) <= limit for line in table([("one", "two", "three"), *rows], limit))
