"""``score --html``: the report is written, and shows notes only where the challenge allows it."""

import json
from pathlib import Path

import pytest
from cli.running import sandscore

from sandscore.base.bundled_content import example_gold, submissions

GOLD = example_gold()
WORDS = ["score", "date", "--gold", GOLD / "date.json", "--notes", GOLD / "notes.json"]
WORDS += ["--predictions", submissions() / "date-good" / "predictions.json"]
SENTENCE = "May advance diet as tolerated"
"""From a note, outside every annotation."""


def page(path: Path, *more: object) -> str:
    ran = sandscore(*WORDS, "--html", path, *more)
    assert ran.code == 0, ran.err
    return path.read_text(encoding="utf-8")


def test_text_needs_the_licence(tmp_path: Path) -> None:
    notes = (GOLD / "notes.json").read_text(encoding="utf-8")
    assert SENTENCE.lower() in notes.lower()
    assert SENTENCE.lower() not in page(tmp_path / "without.html").lower()
    assert SENTENCE.lower() in page(tmp_path / "with.html", "--challenge", GOLD / "challenge.toml").lower()


def test_published_report_holds_no_note_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDSCORE_SALT", "pepper")
    ids = [note["identifier"] for note in json.loads((GOLD / "notes.json").read_text(encoding="utf-8"))]
    assert any(note in page(tmp_path / "home.html") for note in ids), "at home the worst notes are named"
    shown = page(tmp_path / "r.html", "--publish", "--challenge", GOLD / "challenge.toml")
    assert SENTENCE.lower() not in shown.lower()
    assert not any(note in shown for note in ids)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = sandscore(*WORDS, "--html", tmp_path / "file" / "r.html")
    assert (ran.code, len(ran.err.splitlines()[-1:])) == (2, 1)
    assert "bug of ours" not in ran.err
