"""The pages of a team in a real browser, from the log in to the receipt; and without script."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from intake.served import Server, serving
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from queue_samples import CHALLENGE, RIGHT, annotations, hand_in, opened, queue

from sandscore.intake.team_registry import TeamRegistry
from sandscore.intake.web_server import STOP_SECONDS
from sandscore.queue.attempt_files import TEAM as SHOWN
from sandscore.queue.workspace import Workspace

pytestmark = pytest.mark.browser

TEAM = "Tide<b>water</b> & Søn"
PREFIX = "registry.example.org/tide"
CONFIGURATION = f"""{CHALLENGE}
title = "Dates <i>in</i> notes"
[quota]
day = 9
[images]
registries = ["registry.example.org/{{team}}"]
teams = {{"{TEAM}" = "tide"}}
"""


class Place:
    """A queue, its server and a token."""

    def __init__(self, workspace: Workspace, server: Server, token: str) -> None:
        self.workspace, self.server, self.token = workspace, server, token

    def rehearsed(self, submission: str, log: str) -> None:
        """As a worker leaves an image's run on the practice notes."""
        folder = self.workspace.rehearsal(submission) / SHOWN
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text(log, encoding="utf-8")
        with opened(self.workspace) as database, database.writing() as connection:
            connection.execute("UPDATE submission SET rehearsed=1 WHERE id=?", (submission,))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = shutil.which("chromium")
    if found is None:
        pytest.fail("chromium is not installed: tools/browser.sh installs it on Debian")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    workspace = queue(tmp_path_factory.mktemp("door"), CONFIGURATION)
    registry = TeamRegistry(workspace)
    registry.add(TEAM, None, "test")
    with serving(workspace.root) as server:
        yield Place(workspace, server, registry.issue(TEAM, "Ada", "test"))


def looked_at(page: Page) -> None:
    """By axe; and nothing is wider than the window."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def logged_in(page: Page, place: Place) -> None:
    page.goto(f"{place.server.url}/team")
    page.get_by_label("Token").fill("0" * 12 + "." + "A" * 43)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("worth nothing")
    looked_at(page)
    page.get_by_label("Token").fill(place.token)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hand in")


def handed_in(page: Page, label: str) -> str:
    page.get_by_role("button", name=label).click()
    page.wait_for_url(re.compile("/team/submissions/[0-9a-f]{12}$"))
    return page.url.rpartition("/")[2]


def test_a_team_hands_in_and_watches(browser: Browser, place: Place, tmp_path: Path) -> None:
    window = browser.new_context(viewport={"width": 375, "height": 800}, color_scheme="dark")
    page = window.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda said: wrong.append(str(said)))
    logged_in(page, place)
    wrong.clear()  # of the refused log in a browser says 401 itself
    expect(page.get_by_text(TEAM).first).to_be_visible()
    expect(page.get_by_text("9 of 9 left")).to_be_visible()
    looked_at(page)
    page.get_by_label("Image by its digest").fill(f"{PREFIX}/system@sha256:{'a' * 64}")
    image = handed_in(page, "Hand in the image")
    place.rehearsed(image, "<script>alert(1)</script> \u202eready")
    page.reload()
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    expect(page.get_by_text("\u202e")).to_have_count(0)
    page.get_by_role("button", name="Call it back").click()
    expect(page.get_by_text("REJECTED")).to_be_visible()
    looked_at(page)
    page.get_by_role("link", name="All your submissions").click()
    expect(page.get_by_text("9 of 9 left")).to_be_visible()
    given = tmp_path / 'x"><img src=x>.json'
    given.write_bytes(annotations(RIGHT))
    page.get_by_label("File: choose it").set_input_files(given)
    made = handed_in(page, "Hand in the file")
    expect(page.get_by_text("RECEIVED")).to_be_visible()
    subprocess.run(
        [sys.executable, "-m", "sandscore", "queue", "work", str(place.workspace.root), "--once"], check=True
    )
    expect(page.get_by_text("SCORED")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("row", name=re.compile("instance_strict"))).to_contain_text("1")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    looked_at(page)
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the receipt").click()
    assert json.loads(Path(saved.value.path()).read_text())["submission"] == made
    page.get_by_role("button", name=re.compile("Log out")).click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert wrong == []
    window.close()


class Watcher:
    """A page of a submission that stays open, and the row that it is about."""

    def __init__(self, page: Page, place: Place, submission: str) -> None:
        self.page, self._place, self._submission = page, place, submission

    def becomes(self, status: str) -> None:
        """As a worker commits it, in one step."""
        with opened(self._place.workspace) as database, database.writing() as connection:
            connection.execute("UPDATE submission SET status=? WHERE id=?", (status, self._submission))

    def shows(self, status: str) -> None:
        expect(self.page.locator("#live strong").first).to_have_text(status, timeout=20_000)


@pytest.fixture
def watcher(browser: Browser, place: Place) -> Iterator[Watcher]:
    submission = hand_in(place.workspace, team=TEAM)
    window = browser.new_context()
    page = window.new_page()
    logged_in_plainly(page, place)
    yield Watcher(page, place, submission)
    window.close()


@pytest.fixture
def opened_page(watcher: Watcher) -> Watcher:
    """After the server has seen all that has changed so far."""
    watcher.page.wait_for_timeout(2500)
    with watcher.page.expect_response("**/team/events"):
        watcher.page.goto(f"{watcher.page.url}/submissions/{watcher._submission}")
    return watcher


def test_a_change_just_after_a_page_began_to_listen_is_shown(opened_page: Watcher) -> None:
    opened_page.becomes("SCORED")
    opened_page.shows("SCORED")


def test_a_change_before_a_page_listens_is_shown(watcher: Watcher) -> None:
    def late(route: Route) -> None:
        watcher.becomes("SCORED")
        route.continue_()

    watcher.page.route("**/team/events", late)
    watcher.page.goto(f"{watcher.page.url}/submissions/{watcher._submission}")
    watcher.shows("SCORED")


def test_a_page_that_could_not_fetch_a_change_tries_again(opened_page: Watcher) -> None:
    asked: list[Route] = []

    def answered(route: Route) -> None:
        asked.append(route)
        if len(asked) == 1:
            route.abort()
        elif len(asked) == 2:
            route.fulfill(status=502)
        else:
            route.continue_()

    opened_page.page.route("**/team/submissions/*", answered)
    opened_page.becomes("SCORED")
    opened_page.shows("SCORED")
    assert len(asked) == 3


def test_a_page_listens_again_after_a_proxy_that_had_no_server(opened_page: Watcher, place: Place) -> None:
    """A browser gives up where the answer is 502; and a server that is told to stop does not wait for open pages."""
    begun = time.monotonic()
    place.server.stop()
    assert time.monotonic() - begun < STOP_SECONDS / 2
    place.server.start()
    refused: list[Route] = []

    def once_refused(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route)
            route.fulfill(status=502)

    opened_page.page.route("**/team/events", once_refused)
    opened_page.page.wait_for_timeout(100)
    opened_page.becomes("SCORED")
    opened_page.shows("SCORED")
    opened_page.becomes("INVALID")
    opened_page.shows("INVALID")
    assert len(refused) == 1


def test_a_page_whose_session_is_over_asks_no_more(opened_page: Watcher, place: Place) -> None:
    opened_page.page.context.clear_cookies()
    with opened_page.page.expect_response("**/team/login"):
        opened_page.becomes("SCORED")
    asked: list[str] = []
    opened_page.page.on("request", lambda request: asked.append(request.url))
    opened_page.page.wait_for_timeout(2500)
    assert asked == []


def test_without_script(browser: Browser, place: Place, tmp_path: Path) -> None:
    window = browser.new_context(java_script_enabled=False, viewport={"width": 375, "height": 800})
    page = window.new_page()
    logged_in_plainly(page, place)
    given = tmp_path / "p.json"
    given.write_bytes(annotations(RIGHT))
    page.get_by_label("File: choose it").set_input_files(given)
    handed_in(page, "Hand in the file")
    assert page.locator("noscript meta[http-equiv=refresh], meta[http-equiv=refresh]").count() == 1
    page.get_by_role("button", name="Call it back").click()
    expect(page.get_by_text("REJECTED")).to_be_visible()
    window.close()


def logged_in_plainly(page: Page, place: Place) -> None:
    page.goto(f"{place.server.url}/team")
    page.get_by_label("Token").fill(place.token)
    page.get_by_role("button", name="Log in").click()


def test_what_another_site_has_a_browser_send_is_refused(place: Place) -> None:
    ask = place.server.ask
    token = f"token={place.token}".encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    status, headers, _ = ask("POST", "/team/login", token, kind | {"sec-fetch-site": "cross-site"})
    assert status == 403
    status, headers, _ = ask("POST", "/team/login", token, kind)
    said = headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=43200"} <= {part.strip() for part in said.split(";")}
    assert place.token.partition(".")[2] not in said
    cookie = {"cookie": said.partition(";")[0]}
    status, _, body = ask("POST", "/team/logout", b"csrf=" + b"0" * 64, kind | cookie)
    assert (status, b"another session" in body) == (403, True)
    assert ask("GET", "/team", None, cookie)[0] == 200
    forged = {"cookie": cookie["cookie"][:-1] + ("0" if cookie["cookie"][-1] != "0" else "1")}
    assert ask("GET", "/team", None, forged)[0] == 303
    assert ask("GET", "/api/v1/phases", None, cookie)[0] == 401, "a cookie is for pages alone"
