"""The page holds the numbers twice, and no label can become part of it."""

import json
import re

import pytest

from sandscore.base.errors import UsageFault
from sandscore.site.error_files.confusion_page import page

HOSTILE = "</script><img src=x onerror=alert(1)>"


def drawn(html: str) -> list[dict[str, object]]:
    """The traces the page hands to Plotly."""
    call = html[html.rindex("Plotly.newPlot(") :]
    start = call.index("[{")
    traces: list[dict[str, object]] = json.JSONDecoder().raw_decode(call[start:])[0]
    return traces


def test_a_hostile_label_stays_text() -> None:
    html = page([HOSTILE, "O"], [[1, 2], [3, 4]])
    ours = html[html.rindex("Plotly.newPlot(") :]
    assert "<img" not in ours
    assert html.count("</script>") == html.count("<script")
    assert drawn(html)[0]["x"] == ["&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;", "O"]


def test_the_numbers_are_also_a_table() -> None:
    html = page(["city", "O"], [[5, 6], [7, 0]])
    cells = re.findall(r"<td>(\d+)</td>", html)
    assert cells == ["5", "6", "7", "0"]
    assert drawn(html)[0]["z"] == [[5, 6], [7, 0]]


def test_the_page_is_whole_and_always_the_same() -> None:
    one, two = (page(["city", "O"], [[1, 0], [0, 0]]) for _ in range(2))
    assert one == two
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", one)


def test_without_plotly_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.io", None)
    with pytest.raises(UsageFault, match="sandscore\\[reports\\]"):
        page(["O"], [[0]])
