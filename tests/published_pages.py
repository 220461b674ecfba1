"""Pages to look at: opens them as a reader would, and makes a participant's report."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from board_samples import HOSTILE, Sample, card
from playwright.sync_api import Browser, Page

from sandscore.records.document import Annotation, Document
from sandscore.records.scorecard import Scorecard
from sandscore.site.submission_report import write_report

TEXT = f"Seen in Port Ansel, OR.\n{HOSTILE}\nHome: 3 Elm St."


def document(name: str = HOSTILE) -> Document:
    """A note with one annotation right, one under a wrong label, one cut short, one missed, one spurious."""
    gold = (_mark("Port Ansel", "city"), _mark("OR", "state"), _mark("3 Elm St", "street"), _mark("Home", "other"))
    predictions = (_mark("Port Ansel", "city"), _mark("OR", "zip"), _mark("3 Elm", "street"), _mark("Seen", "room"))
    return Document(name, TEXT, gold, predictions)


def example_report(path: Path, *, allow_text: bool = True) -> None:
    """A report of one note, hostile in its name, its text and its labels."""
    made = Scorecard.model_validate(card(1, Sample(HOSTILE, 0.7, HOSTILE)))
    write_report(made, [document()], path, allow_text=allow_text)


@contextmanager
def opened(browser: Browser, address: str | Path, **context: Any) -> Iterator[Page]:
    """The page in a context of its own; nothing it loads, logs or throws may go unseen."""
    said: list[str] = []
    window = browser.new_context(**context)
    window.set_default_timeout(5000)
    page = window.new_page()
    page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: said.append(f"thrown: {error}"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address.as_uri() if isinstance(address, Path) else address)
    yield page
    window.close()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "http://127.0.0.1"))] == []


def _mark(text: str, label: str) -> Annotation:
    return Annotation(TEXT.index(text), len(text), text, label)
