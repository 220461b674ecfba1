"""Every page: no violation axe knows of, in light and dark, wide and narrow; valid HTML; nothing from outside."""

import re
from pathlib import Path

import html5lib
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from published_pages import opened

PAGES = [
    "index.html",
    "how-to-read.html",
    "address/index.html",
    "date/index.html",
    "address/system-0.html",
    "date/system-0.html",
    "report.html",
]
POLICY = "default-src 'none'; style-src 'sha256-"


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_axe_finds_nothing(browser: Browser, site: Path, scheme: str, width: int) -> None:
    axe = Axe()
    with opened(browser, site / PAGES[0], color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        for name in PAGES:
            page.goto((site / name).as_uri())
            found = axe.run(page)
            assert found.violations_count == 0, f"{name}: {found.generate_report()}"


@pytest.mark.browser
def test_axe_finds_nothing_in_what_opens(browser: Browser, site: Path) -> None:
    with opened(browser, site / "address" / "index.html") as page:
        page.get_by_text("Columns", exact=True).click()
        page.get_by_role("button", name="Submission").click()
        for numbers in page.get_by_text("The numbers").all():
            numbers.click()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_search_engine_is_told_what_a_page_is(site: Path, name: str) -> None:
    """Once, in words of the page; a board and its submissions begin with who leads, or where they stand."""
    text = (site / name).read_text(encoding="utf-8")
    (told,) = re.findall('<meta name="description" content="(.*)">', text)
    shown = " ".join(re.sub("<.*?>", "", text[text.index("<body") :]).split())
    assert told
    assert " ".join(re.split(r"(?<=\.) ", told)[0].split()) in shown or name in {"how-to-read.html", "report.html"}


@pytest.mark.parametrize("name", PAGES)
def test_parses_without_a_complaint(site: Path, name: str) -> None:
    html5lib.HTMLParser(strict=True).parse((site / name).read_bytes())


def test_the_parser_does_complain() -> None:
    with pytest.raises(html5lib.html5parser.ParseError):
        html5lib.HTMLParser(strict=True).parse(b"<!DOCTYPE html><html><p><div></p></html>")


def test_every_page_forbids_everything_from_outside(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) == 1 + 1 + (1 + 8) + (1 + 3) + 1
    for path in pages:
        text = path.read_text(encoding="utf-8")
        head = text[: text.index("<style>")]
        assert f'http-equiv="Content-Security-Policy" content="{POLICY.replace(chr(39), "&#39;")}' in head
        assert "://" not in text


@pytest.mark.browser
def test_the_policy_is_in_force(browser: Browser, site: Path) -> None:
    window = browser.new_context()
    page = window.new_page()
    page.goto((site / "index.html").as_uri())
    page.evaluate(
        """() => new Promise((done) => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'owned'";
            document.head.append(script);
            const image = document.createElement("img");
            image.onerror = done;
            image.src = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";
            document.body.append(image);
        })"""
    )
    assert page.title() != "owned"
    window.close()
