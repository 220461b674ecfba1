"""The page holds the numbers in the look of the site, and no label can become part of it."""

from xml.etree.ElementTree import Element

import html5lib
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from published_pages import opened

from sandscore.site.error_files.confusion_page import MOST_LABELS, Confused, heat_table, page

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e"
LIMIT = 300_000


def parsed(html: str) -> Element:
    root: Element = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(html)
    return root


def test_a_hostile_label_stays_text() -> None:
    root = parsed(page([HOSTILE, "O"], [[1, 2], [3, 4]]))
    assert root.find(".//img") is None
    assert len(root.findall(".//script")) == 1
    head = root.find(".//tbody//th")
    assert head is not None
    assert "".join(head.itertext()) == "</script><img src=x onerror=alert(1)>"[:11] + "…"


def test_the_numbers_are_a_table() -> None:
    """5 of 11 are right; the darkest cell is the fullest, 7 of 7; 5 of 7 is the fourth of five shades."""
    root = parsed(page(["city", "O"], [[5, 6], [7, 0]]))
    cells = [(cell.text, cell.get("class")) for cell in root.iter("td")]
    assert cells == [("5", "y4"), ("6", "n5"), ("7", "n5"), ("0", None)]
    (lead,) = [one for one in root.iter("p") if one.get("class") == "lead"]
    assert (lead.text or "").startswith("5 of 11 annotations of gold are found with their type. 6 are not found; 7 of")


def test_what_is_confused_most_is_said() -> None:
    heat = heat_table(["a", "b", "c", "O"], [[4, 1, 3, 0], [0, 5, 0, 9], [2, 0, 1, 0], [0, 0, 7, 0]])
    assert heat.confused == [Confused("a", "c", 3), Confused("c", "a", 2), Confused("a", "b", 1)]
    assert (heat.right, heat.missed, heat.spurious, heat.total) == (10, 9, 7, 25)


def test_the_rarest_labels_share_a_row() -> None:
    """Label i is found i times and missed once: the first ten are the rarest."""
    count = MOST_LABELS + 10
    labels = [f"l{at}" for at in range(count)] + ["O"]
    matrix = [[at if at == other else int(other == count) for other in range(count + 1)] for at in range(count)]
    heat = heat_table(labels, [*matrix, [0] * (count + 1)])
    assert list(heat.labels) == [*(f"l{at}" for at in range(10, count)), "10 other labels", "O"]
    assert (heat.matrix[-2][-2], heat.matrix[-2][-1]) == (sum(range(10)), 10)
    assert (heat.right, heat.missed) == (sum(range(count)), count)


def test_the_page_is_whole_small_and_always_the_same() -> None:
    labels = [chr(0x202E) * 50 + str(at) for at in range(500)] + ["O"]
    matrix = [[123_456] * 501 for _ in range(501)]
    one, two = (page(labels, matrix) for _ in range(2))
    assert one == two
    assert len(one.encode()) <= LIMIT
    assert "://" not in one
    assert "Content-Security-Policy" in one


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Browser, tmp_path_factory: pytest.TempPathFactory, scheme: str) -> None:
    path = tmp_path_factory.mktemp("errors") / "confusion_matrix.html"
    labels = ["PERSON", "a rather long name of a type", HOSTILE, "O"]
    path.write_text(page(labels, [[90, 2, 0, 11], [0, 12, 1, 3], [4, 0, 7, 0], [3, 1, 0, 0]]), encoding="utf-8")
    with opened(browser, path, color_scheme=scheme, viewport={"width": 700, "height": 700}) as shown:
        found = Axe().run(shown)
        assert found.violations_count == 0, found.generate_report()
