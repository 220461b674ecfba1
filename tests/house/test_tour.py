"""docs/tour.md: the functions it names are met, in the order in which it names them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from python_images import BASE

from sandscore.cli.main import run
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import example
from sandscore.task_table.task import find_task

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "scoring" / "sandscore"
EXAMPLE = ROOT / "gold" / "example"
ADDRESSES = ROOT / "submissions" / "address-weak" / "predictions.json"
SERVER = f"{sys.executable} {ROOT / 'submissions' / 'template' / 'server.py'}"


def stations(section: str) -> list[str]:
    """The functions that a section's numbered points begin with."""
    text = (
        (ROOT / "docs" / "tour.md").read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    )
    return re.findall(r"^\d+\. `([\w.]+)`", text, re.MULTILINE)


@contextmanager
def met() -> Iterator[dict[str, None]]:
    """The package's functions in the order of their first call."""
    found: dict[str, None] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            found.setdefault(".".join((*path.relative_to(PACKAGE).with_suffix("").parts, frame.f_code.co_name)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def walked(section: str, *words: str | Path, past: str = "past nothing") -> None:
    """A verb meets the functions of a section in their order; ``past`` begins the names of those that it does not."""
    named = [name for name in stations(section) if not name.startswith(past)]
    assert len(named) >= 4
    with met() as found:
        assert run(list(map(str, words))) == 0
    assert [name for name in found if name in named] == named


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return tmp_path / "card.json"


def test_a_prediction_file_becomes_a_score_card_and_then_a_board(card: Path, tmp_path: Path) -> None:
    given = ("--gold", EXAMPLE / "address.json", "--predictions", ADDRESSES, "--notes", EXAMPLE / "notes.json")
    walked("A prediction file becomes a score card", "score", "address", *given, "-o", card)
    walked(
        "Cards become a board", "rank", card, "--challenge", EXAMPLE / "challenge.toml", "-o", tmp_path / "board.json"
    )


@pytest.fixture
def image() -> Iterator[str]:
    """The template of participants, as an image."""
    subprocess.run([ROOT / "tools" / "base_image.sh"], check=True, capture_output=True)
    name = f"sandscore-tour-{os.getpid()}"
    with docker_client() as client:
        build_image(client, name, example("date-weak", find_task("date")), {"BASE": BASE})
        try:
            yield name
        finally:
            client.images.remove(name, force=True)


@pytest.mark.engine
def test_an_image_becomes_predictions(image: str, tmp_path: Path) -> None:
    given = ("--image", image, "--notes", EXAMPLE / "notes.json", "-o", tmp_path / "run")
    walked("An image becomes predictions", "run", "date", *given)


def test_a_program_takes_the_same_way_past_the_engine(tmp_path: Path) -> None:
    given = ("--command", SERVER, "--notes", EXAMPLE / "notes.json", "-o", tmp_path / "run")
    walked("An image becomes predictions", "run", "date", *given, past="containers.engines.")
