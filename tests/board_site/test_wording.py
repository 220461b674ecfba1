"""Values as a reader sees them; expected texts by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sandscore.base.terminal_text import in_attribute, on_page
from sandscore.site import page_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("<b>&'\"", "&lt;b&gt;&amp;&#39;&#34;", id="markup"),
        pytest.param(
            "a\u202eb", 'a<span class="odd" title="right-to-left override">U+202E</span>b', id="right to left override"
        ),
        pytest.param("a\x00", 'a<span class="odd" title="control character">U+0000</span>', id="control character"),
        pytest.param("مختبر é 北京", "مختبر é 北京", id="other scripts stay themselves"),
        pytest.param("non\u00a0breaking", "non\u00a0breaking", id="spaces stay"),
    ],
)
def test_shown(text: str, expected: str) -> None:
    assert on_page(text) == expected


def test_a_note_keeps_its_lines() -> None:
    assert on_page("one\ntwo\u200b", "\n\t") == Markup(
        'one\ntwo<span class="odd" title="zero width space">U+200B</span>'
    )
    assert "U+000A" in on_page("one\ntwo")


@given(st.text())
def test_nothing_unseen_gets_through(text: str) -> None:
    for made in (on_page(text), in_attribute(text)):
        assert all(c.isprintable() or c.isspace() for c in made)
        assert not set(made) & set("\u200b\u202a\u202e\u2066\u2028\ufeff\x00\n")


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    assert on_page(text.replace("\x00", "")).striptags().count("<") <= text.count("<")
    assert "<" not in on_page(text).replace('<span class="odd"', "").replace("</span>", "")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (0.0, "0 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.996, ">99 %"), (1.0, "100 %")],
)
def test_percent_never_rounds_to_certainty(value: float | None, expected: str) -> None:
    assert page_text.percent(value) == expected


@pytest.mark.parametrize(
    ("k", "expected"),
    [(None, "–"), (2.5, "2.5 (tied)"), (3.5, "3.5 (3–5)"), (20001.0, "20\u202f001 (>20)")],
)
def test_bayes_factor_with_its_band(k: float | None, expected: str) -> None:
    assert page_text.bayes_factor(k) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (page_text.ratio(None), "–"),
        (page_text.ratio(2 / 3), "0.667"),
        (page_text.p_value(0.0004), "<0.001"),
        (page_text.p_value(0.05), "0.050"),
        (page_text.places((2, 2)), "2"),
        (page_text.places((1, 10)), "1–10"),
        (page_text.place(2.5), "2.5"),
        (page_text.difference(-0.0125), "−0.013"),
        (page_text.seconds(75.0), "75.0 s"),
        (page_text.seconds(600.0), "10 min"),
        (page_text.seconds(9000.0), "2.5 h"),
        (page_text.memory(300 << 20), "300 MiB"),
        (page_text.day("2026-11-02T23:59:00Z"), "2026-11-02"),
        (page_text.day("last week"), "last week"),
        (page_text.day(None), "–"),
    ],
)
def test_values(call: str, expected: str) -> None:
    assert call == expected
