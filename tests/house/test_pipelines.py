"""Every sandscore command in the pipelines of docs/ci.md runs, in a folder as they expect it."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
SECTIONS = dict(zip(*[iter(re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)[1:])] * 2, strict=True))
_STEP = re.compile(r"^ *(?:- run:|-|entry:) (sandscore .*)$", re.MULTILINE)


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Practice notes with gold, what is in use, and what a change has made."""
    practice = tmp_path / "practice"
    practice.mkdir()
    for name in ("notes.json", "date.json"):
        shutil.copy(example_gold() / name, practice)
    shutil.copy(ROOT / "submissions" / "date-weak" / "predictions.json", tmp_path / "baseline.json")
    shutil.copy(ROOT / "submissions" / "date-good" / "predictions.json", tmp_path / "new.json")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("title", "count"), [("GitHub Actions", 3), ("GitLab", 2), ("pre-commit", 1)])
def test_the_commands_of_a_pipeline(title: str, count: int, team: Path) -> None:
    steps = [shlex.split(words)[1:] for words in _STEP.findall(SECTIONS[title])]
    assert len(steps) == count
    for words in steps:
        if title == "pre-commit":  # which hands over the files that changed
            words.append("practice/date.json")
        assert run(words) == 0, words
    assert (team / "card.json").exists() == (title == "GitHub Actions")


def test_a_change_for_the_worse_stops_the_pipeline(team: Path) -> None:
    shutil.copy(team / "baseline.json", team / "worse.json")
    shutil.copy(team / "new.json", team / "baseline.json")
    shutil.copy(team / "worse.json", team / "new.json")
    compare = next(words for words in _STEP.findall(SECTIONS["GitLab"]) if " compare " in words)
    assert run(shlex.split(compare)[1:]) == 1
