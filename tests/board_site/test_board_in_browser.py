"""A board as a reader meets it: with a mouse, with keys only, on a phone, without JavaScript, in a frame."""

import re
import subprocess
from pathlib import Path

import pytest
from board_samples import Sample, write_board
from playwright.sync_api import Browser, Page
from published_pages import opened

from sandscore.site.publication import publish

pytestmark = pytest.mark.browser
PHONE = {"width": 375, "height": 740}


def names(page: Page) -> list[str]:
    """Submissions of the rows that are shown, from the top."""
    return page.locator("#board tbody tr:visible th a").all_inner_texts()


def scores(page: Page) -> list[float]:
    return [float(text) for text in page.locator("#board tbody td.score b").all_inner_texts()]


def board(site: Path) -> Path:
    return site / "address" / "index.html"


def test_sorts_by_a_column_and_back(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        published = names(page)
        heading = page.get_by_role("columnheader", name="F1", exact=True)
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == "descending"
        assert scores(page) == sorted(scores(page), reverse=True)
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == "ascending"
        assert scores(page) == sorted(scores(page))
        assert page.locator("#board thead [aria-sort]").count() == 1
        page.get_by_role("button", name="Rank").click()
        assert names(page) == published


def test_what_is_undefined_comes_last_either_way(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        leader = names(page)[0]
        for _ in range(2):
            page.get_by_role("button", name="K", exact=True).click()
            assert names(page)[-1] == leader


def test_words_sort_as_words(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        page.get_by_role("button", name="Submission").click()
        plain = [name for name in names(page) if name.startswith("Team ")]
        assert plain == sorted(plain)
        assert len(plain) == 7


def test_filters_by_name_and_says_how_many_are_left(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        page.get_by_label("Filter by name").fill("SYSTEM-3")
        assert names(page) == ["Team 3"]
        assert page.locator("[data-status=board]").inner_text() == "1 of 8 rows shown."
        page.get_by_label("Filter by name").fill("")
        assert len(names(page)) == 8


def test_columns_are_chosen(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        assert page.get_by_role("columnheader", name="P(first)").is_hidden()
        page.get_by_text("Columns", exact=True).click()
        page.get_by_label("P(first)").check()
        assert page.get_by_role("columnheader", name="P(first)").is_visible()
        page.get_by_label("Recall").uncheck()
        assert page.get_by_role("columnheader", name="Recall").is_hidden()


def test_keys_alone_are_enough(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        steps = ["filter", "SUMMARY"]
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            if reached[-1] == "BUTTON" and page.evaluate("document.activeElement.textContent") == "F1":
                break
        assert [stop for stop in reached if stop in steps][-2:] == steps
        page.keyboard.press("Enter")
        page.keyboard.press("Space")
        assert page.get_by_role("columnheader", name="F1", exact=True).get_attribute("aria-sort") == "ascending"
        page.get_by_text("Columns", exact=True).focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        hidden = page.evaluate("document.activeElement.closest('label').textContent.trim()")
        assert page.get_by_role("columnheader", name=hidden, exact=True).is_visible()
        page.keyboard.press("Space")
        assert page.get_by_role("columnheader", name=hidden, exact=True).is_hidden()
        page.keyboard.press("Escape")
        assert page.get_by_label(hidden, exact=True).is_hidden()


def test_theme_is_switched_and_remembered(browser: Browser, site: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    with opened(browser, board(site), color_scheme="light") as page:
        light = page.evaluate(background)
        switch = page.get_by_role("button", name="Theme")
        switch.click()
        assert page.evaluate(background) == light
        switch.click()
        dark = page.evaluate(background)
        assert dark != light
        for patience in (500, 1000, 2000, 4000):  # the browser writes down what it is told in a process of its own
            page.wait_for_timeout(patience)
            page.reload()
            if page.evaluate(background) == dark:
                break
            page.get_by_role("button", name="Theme").click(click_count=2)
        else:
            pytest.fail("the theme is forgotten")
        page.emulate_media(media="print")
        assert page.evaluate(background) == "rgb(255, 255, 255)"
    with opened(browser, board(site), color_scheme="dark") as page:
        assert page.evaluate(background) == dark


@pytest.mark.parametrize("name", ["index.html", "address/index.html", "address/system-1.html", "report.html"])
def test_nothing_is_wider_than_a_phone(browser: Browser, site: Path, name: str) -> None:
    with opened(browser, site / name, viewport=PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        page.set_viewport_size({"width": 320, "height": 600})
        assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_phone_shows_places_name_and_score(browser: Browser, site: Path) -> None:
    with opened(browser, board(site), viewport=PHONE) as page:
        cells = page.locator("#board tbody tr").first.locator("th:visible, td:visible")
        boxes = [cell.bounding_box() for cell in cells.all()]
        assert len(boxes) == 3
        assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 375 for box in boxes)


def test_reads_without_javascript(browser: Browser, site: Path) -> None:
    with opened(browser, board(site), java_script_enabled=False) as page:
        assert len(names(page)) == 8
        assert page.get_by_role("columnheader", name="P(first)").is_visible()
        assert page.get_by_label("Filter by name").is_hidden()
        assert page.get_by_role("button").count() == 0
        page.locator("#board").get_by_role("link", name="Team 0", exact=True).click()
        assert page.get_by_role("heading", level=1).inner_text() == "Team 0"


def test_works_in_a_frame_that_may_do_nothing_but_run_scripts(browser: Browser, site: Path, tmp_path: Path) -> None:
    frame = tmp_path / "frame.html"
    frame.write_text(f"<iframe sandbox='allow-scripts' width=900 height=900 src='{board(site).as_uri()}'></iframe>")
    with opened(browser, frame) as page:
        inner = page.frame_locator("iframe")
        inner.get_by_role("button", name="Submission").click()
        assert inner.locator("#board th.who").first.get_attribute("aria-sort") == "ascending"
        inner.get_by_role("button", name="Theme").click()
        assert inner.get_by_role("button", name="Theme: light").is_visible()


def test_every_link_leads_somewhere(browser: Browser, site: Path) -> None:
    waiting, seen = [(site / "index.html").as_uri()], set[str]()
    with opened(browser, site / "how-to-read.html") as page:
        while waiting:
            address = waiting.pop()
            seen.add(address)
            page.goto(address)
            links = page.evaluate("Array.from(document.links, (a) => a.href)")
            missing = (
                "[...document.querySelectorAll('a[href^=\"#\"]')].filter((a) => !document.querySelector(a.hash)).length"
            )
            assert page.evaluate(missing) == 0
            for link in {link.partition("#")[0] for link in links} - seen - {*waiting}:
                assert link.startswith(site.as_uri())
                waiting += [link] if link.endswith(".html") else []
                assert Path(link.removeprefix("file://")).is_file()
    pages = {path.as_uri() for path in site.rglob("*.html")} - {(site / "report.html").as_uri()}
    assert seen == pages


SIZES = "(svg) => [...svg.querySelectorAll('text')].map((text) => text.getBoundingClientRect().height)"


@pytest.mark.parametrize(("width", "shown"), [(1280, "wide"), (801, "wide"), (799, "narrow"), (375, "narrow")])
def test_every_drawing_shows_in_the_form_that_fits(browser: Browser, site: Path, width: int, shown: str) -> None:
    with opened(browser, board(site), viewport={"width": width, "height": 740}) as page:
        drawings = page.locator("svg.plot:visible")
        assert drawings.count() == 4
        for drawing in drawings.all():
            assert (drawing.get_attribute("class") or "").split() == ["plot", shown]
            box = drawing.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert min(drawing.evaluate(SIZES)) >= 12  # a line of letters of ten pixels or more
        page.emulate_media(media="print")
        assert page.locator("svg.plot.wide:visible").count() == 4


def test_letters_of_drawings_stay_inside_and_apart(browser: Browser, site: Path) -> None:
    inside = """(svg) => {
        const frame = svg.getBoundingClientRect();
        const boxes = [...svg.querySelectorAll("text")].map((text) => text.getBoundingClientRect());
        const out = boxes.filter((box) => box.left < frame.left - 1 || box.right > frame.right + 1);
        const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
        return out.length + boxes.filter((a, at) => boxes.slice(at + 1).some((b) => over(a, b))).length;
    }"""
    for width in (1280, 375):
        with opened(browser, board(site), viewport={"width": width, "height": 740}) as page:
            for name in ("address/index.html", "address/system-0.html", "date/index.html", "report.html"):
                page.goto((site / name).as_uri())
                for drawing in page.locator("svg.plot:visible").all():
                    assert drawing.evaluate(inside) == 0, (name, width, drawing.get_attribute("aria-label"))


def test_drawings_follow_the_theme(browser: Browser, site: Path) -> None:
    ink = "getComputedStyle(document.querySelector('svg.plot text[font-weight]')).fill"
    with opened(browser, board(site), color_scheme="light") as page:
        light = page.evaluate(ink)
        page.emulate_media(color_scheme="dark")
        dark = page.evaluate(ink)
        page.emulate_media(media="print")
        assert (light, dark, page.evaluate(ink)) == ("rgb(29, 35, 40)", "rgb(230, 232, 230)", light)


def test_who_points_at_a_mark_is_told_what_it_is(browser: Browser, site: Path) -> None:
    with opened(browser, board(site)) as page:
        told = page.evaluate(
            """() => {
                const use = document.querySelector('svg.plot.wide title').parentNode.querySelector('use, path');
                use.scrollIntoView({behavior: "instant", block: "center"});
                const box = use.getBoundingClientRect();
                const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
                return hit.closest('g:has(> title)').querySelector('title').textContent;
            }"""
        )
        assert re.fullmatch(r"Team \d: 0\.\d{3}, interval 0\.\d{3} to 0\.\d{3}", told)


def test_the_heading_of_a_long_table_stays_in_sight(browser: Browser, tmp_path: Path) -> None:
    entrants = [Sample(f"s{at}", 0.9 - 0.02 * at) for at in range(30)]
    publish([write_board(tmp_path / "board", entrants)], tmp_path / "site")
    with opened(browser, board(tmp_path / "site")) as page:
        page.locator("#board tbody tr").nth(20).evaluate("(row) => row.scrollIntoView({behavior: 'instant'})")
        box = page.get_by_role("columnheader", name="Rank").bounding_box()
        assert box is not None
        assert box["y"] == pytest.approx(0, abs=1)
        assert page.locator("#board tbody tr").nth(0).bounding_box()["y"] < -400  # type: ignore[index]


NESTED = """() => [...document.querySelectorAll("main *")].filter((one) =>
    /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1).length"""


@pytest.mark.parametrize("width", [375, 768, 1280, 1920])
def test_nothing_scrolls_inside_a_page(browser: Browser, site: Path, width: int) -> None:
    """No box with a scroll bar of its own from top to bottom, and no page wider than its window."""
    with opened(browser, board(site), viewport={"width": width, "height": 700}) as page:
        for name in ("index.html", "address/index.html", "address/system-0.html", "date/index.html"):
            page.goto((site / name).as_uri())
            assert page.evaluate(NESTED) == 0, name
            assert page.evaluate("document.documentElement.scrollWidth") == width, name


@pytest.mark.parametrize(("width", "least"), [(1280, 24), (375, 24)])
def test_the_interval_of_who_leads_can_be_seen(browser: Browser, site: Path, width: int, least: int) -> None:
    with opened(browser, board(site), viewport={"width": width, "height": 700}) as page:
        for name in ("index.html", "address/index.html", "date/index.html"):
            page.goto((site / name).as_uri())
            spans = page.locator(".strip .span").all()
            assert spans
            assert all(box and box["width"] >= least for box in (span.bounding_box() for span in spans))
            assert page.locator(".strip .axis text").count() >= 2 * page.locator(".strip").count()


def test_paper_has_every_row_and_its_headings(browser: Browser, site: Path) -> None:
    """A row that the filter hides is on paper; headings are a group that repeats, in no box that scrolls."""
    with opened(browser, board(site)) as page:
        page.get_by_label("Filter by name").fill("Team 1")
        assert len(names(page)) == 1
        page.emulate_media(media="print")
        assert len(names(page)) == 8
        around = """(head) => [head, ...document.querySelectorAll("main, body, section")].map((one) =>
            getComputedStyle(one)).flatMap((style) => [style.overflow, style.position])"""
        head = page.locator("#board thead")
        assert head.evaluate("(head) => getComputedStyle(head).display") == "table-header-group"
        assert set(head.evaluate(around)) <= {"visible", "static"}
        assert head.locator("th").first.evaluate("(cell) => getComputedStyle(cell).position") == "static"


def test_headings_are_printed_on_every_page(browser: Browser, tmp_path: Path) -> None:
    """Read from the paper: every page of the table begins with its headings, and none holds next to nothing."""
    entrants = [Sample(f"s{at}", 0.9 - 0.01 * at, f"Team {at}") for at in range(40)]
    publish([write_board(tmp_path / "board", entrants)], tmp_path / "site")
    with opened(browser, board(tmp_path / "site")) as page:
        page.pdf(path=tmp_path / "board.pdf", format="A4")
    told = subprocess.run(["pdftotext", "-layout", tmp_path / "board.pdf", "-"], capture_output=True, check=True).stdout
    papers = told.decode().split("\f")[:-1]
    rows = [re.findall(r"^ +(\d+) +\d+–\d+ +\d+ *(?:Team|$)", paper, re.MULTILINE) for paper in papers]
    assert sorted(int(rank) for ranks in rows for rank in ranks) == [*range(1, 41)]
    assert sum(bool(ranks) for ranks in rows) >= 2
    for paper, ranks in zip(papers, rows, strict=True):
        assert bool(ranks) == bool(re.search("Rank +Places +Group +Submission +F1", paper))
        assert len(paper.split()) > 20
