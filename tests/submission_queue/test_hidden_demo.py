"""The demo's challenge with hidden notes: the same from the same seed, and what its teams get."""

import json
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.cli.demo import _hidden
from sandscore.queue.hidden_demo import make_hidden_demo

pytestmark = pytest.mark.usefixtures("near_children")


def test_the_same_seed_makes_the_same_files(tmp_path: Path) -> None:
    made = [make_hidden_demo(tmp_path / str(at), tmp_path, seed).challenge.parent for at, seed in enumerate((8, 8, 9))]
    files = [sorted((path.name, path.read_bytes()) for path in folder.iterdir()) for folder in made]
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_its_teams_get_codes_and_rounded_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _hidden(tmp_path, example_gold())
    said = capsys.readouterr().out
    assert "does-not-fit-notes" in said
    assert '"feedback": "rounded"' in said
    assert "bits at most" in said
    notes = json.loads((tmp_path / "hidden/notes.json").read_bytes())
    assert not any(note["text"][:20] in said or note["identifier"] in said.split() for note in notes)
