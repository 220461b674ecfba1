"""The pages of a team in a real browser, from the log in to the receipt; and without script."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from intake.served import Server, serving
from playwright.sync_api import Browser, Page, expect, sync_playwright
from queue_samples import CHALLENGE, RIGHT, annotations, opened, queue

from sandscore.intake.team_registry import TeamRegistry
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
