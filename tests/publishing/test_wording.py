"""Values as a reader sees them; expected texts by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sandscore.publishing import wording


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
    assert wording.shown(text) == expected


def test_a_note_keeps_its_lines() -> None:
    assert wording.shown("one\ntwo\u200b", "\n\t") == Markup(
        'one\ntwo<span class="odd" title="zero width space">U+200B</span>'
    )
    assert "U+000A" in wording.shown("one\ntwo")


@given(st.text())
def test_nothing_unseen_gets_through(text: str) -> None:
    for made in (wording.shown(text), wording.plain(text)):
        assert all(c.isprintable() or c.isspace() for c in made)
        assert not set(made) & set("\u200b\u202a\u202e\u2066\u2028\ufeff\x00\n")


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    assert wording.shown(text.replace("\x00", "")).striptags().count("<") <= text.count("<")
    assert "<" not in wording.shown(text).replace('<span class="odd"', "").replace("</span>", "")


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (0.0, "0 %"), (0.004, "<1 %"), (0.5, "50 %"), (0.996, ">99 %"), (1.0, "100 %")],
)
def test_percent_never_rounds_to_certainty(value: float | None, expected: str) -> None:
    assert wording.percent(value) == expected


@pytest.mark.parametrize(
    ("k", "expected"),
    [(None, "–"), (2.5, "2.5 (tied)"), (3.5, "3.5 (3–5)"), (20001.0, "20\u202f001 (>20)")],
)
def test_bayes_factor_with_its_band(k: float | None, expected: str) -> None:
    assert wording.bayes_factor(k) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (wording.ratio(None), "–"),
        (wording.ratio(2 / 3), "0.667"),
        (wording.p_value(0.0004), "<0.001"),
        (wording.p_value(0.05), "0.050"),
        (wording.places((2, 2)), "2"),
        (wording.places((1, 10)), "1–10"),
        (wording.place(2.5), "2.5"),
        (wording.difference(-0.0125), "−0.013"),
        (wording.seconds(75.0), "75.0 s"),
        (wording.seconds(600.0), "10 min"),
        (wording.seconds(9000.0), "2.5 h"),
        (wording.memory(300 << 20), "300 MiB"),
        (wording.day("2026-11-02T23:59:00Z"), "2026-11-02"),
        (wording.day("last week"), "last week"),
        (wording.day(None), "–"),
    ],
)
def test_values(call: str, expected: str) -> None:
    assert call == expected
