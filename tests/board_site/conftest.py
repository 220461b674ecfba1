"""A published site with everything on it, and one browser to look at it with."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from board_samples import samples, write_board
from playwright.sync_api import Browser, sync_playwright
from published_pages import example_report

from sandscore.site.publication import PublicationSettings, publish

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two boards, one of them in two versions, with hostile names, and a participant's report."""
    folder = tmp_path_factory.mktemp("published")
    earlier = write_board(folder / "earlier", samples()[:4], signature="address|challenge|gold:ba9876543210|v0.1.0")
    boards = [earlier, write_board(folder / "now", samples())]
    boards.append(write_board(folder / "dates", samples(3), task="date"))
    publish(boards, folder / "site", PublicationSettings())
    example_report(folder / "site" / "report.html")
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium; tools/browser.sh installs it."""
    found = shutil.which("chromium")
    if found is None:
        pytest.fail("chromium is not installed: tools/browser.sh installs it on Debian")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield started
        started.close()
