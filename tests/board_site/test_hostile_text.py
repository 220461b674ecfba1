"""Names, labels and texts with markup, quotes, right-to-left and invisible characters show as text, everywhere."""

from pathlib import Path

import pytest
from board_samples import HOSTILE
from playwright.sync_api import Browser
from published_pages import example_report, opened

SHOWN = HOSTILE.replace("\u202e", "U+202E").replace("\u200b", "U+200B")
FOREIGN = "img, script:not(head script, #proof), iframe, object, [onerror], [style]"
ELEMENTS = f"[...document.querySelectorAll('{FOREIGN}')].length"


@pytest.mark.browser
@pytest.mark.parametrize("wanted", ["index.html", "address/index.html", "address/img-*.html", "report.html"])
def test_shows_as_text(browser: Browser, site: Path, wanted: str) -> None:
    (path,) = site.glob(wanted)
    with opened(browser, path) as page:
        assert SHOWN in page.inner_text("main")
        assert page.title() != "owned"
        assert page.evaluate(ELEMENTS) == 0
        assert not {"\u202e", "\u200b"} & {*page.inner_text("body"), *page.title()}


@pytest.mark.browser
def test_every_place_of_a_report_shows_it(browser: Browser, site: Path) -> None:
    with opened(browser, site / "report.html") as page:
        assert page.get_by_role("heading", level=1).inner_text() == SHOWN
        assert SHOWN in page.locator(".lede").inner_text()
        assert page.get_by_role("rowheader", name=SHOWN).count() == 1
        assert SHOWN in page.locator("summary").first.inner_text()
        for side in page.locator(".text").all():
            assert SHOWN in side.inner_text()


@pytest.mark.browser
def test_a_name_can_be_searched_for_as_it_is_seen(browser: Browser, site: Path) -> None:
    with opened(browser, site / "address" / "index.html") as page:
        page.get_by_label("Filter by name").fill("onerror=")
        assert page.locator("#board tbody tr:visible").count() == 1


def test_no_file_is_called_what_a_submission_calls_itself(site: Path) -> None:
    names = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-./") for name in names)


def test_a_spreadsheet_is_given_no_formula(tmp_path: Path, site: Path) -> None:
    table = (site / "address" / "board.csv").read_text(encoding="utf-8")
    assert not [cell for line in table.splitlines() for cell in line.split(",") if cell.startswith(("=", "+", "@"))]


def test_text_stays_out_where_the_licence_does_not_allow_it(tmp_path: Path) -> None:
    example_report(tmp_path / "report.html", allow_text=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Port Ansel" not in page
    assert "3 Elm" not in page
    assert "does not say that their text may be shown" in page
