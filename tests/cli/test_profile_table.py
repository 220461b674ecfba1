"""The tables of ``docs/profiles/README.md`` are what the command line says today."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore

from sandscore.profiles.profile_registry import CHALLENGE, PROFILES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "profiles" / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([\w-]+)` \| `([\w:+-]+)` \| (.+) \|$", re.MULTILINE)
TASKS = ("date", "person-name", "address")


@cache
def measures(task: str, submission: str, profile: str) -> dict[str, Any]:
    example = ROOT / "gold" / "example"
    predictions = ROOT / "submissions" / f"{task}-{submission}" / "predictions.json"
    files = ("--gold", example / f"{task}.json", "--notes", example / "notes.json", "--predictions", predictions)
    ran = sandscore("score", task, *files, "--profile", profile, "--format", "json")
    assert ran.code == 0
    found: dict[str, Any] = json.loads(ran.out)["measures"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_every_row(task: str) -> None:
    section = PAGE.split(f"**{task}**")[1].partition("**")[0]
    rows = ROW.findall(section)
    assert {profile for profile, _, _ in rows} == {CHALLENGE, *PROFILES.names} - {"tab"}, "tab needs a tagger's tokens"
    for profile, measure, cells in rows:
        wanted = [
            measures(task, submission, profile)[measure].get(ratio)
            for submission in ("good", "weak")
            for ratio in ("precision", "recall", "f1")
        ]
        written = cells.split(" | ")
        assert [cell == "–" for cell in written] == [value is None for value in wanted], (profile, measure)
        numbers = [(float(cell), value) for cell, value in zip(written, wanted, strict=True) if value is not None]
        assert all(abs(cell - value) <= 0.0005 for cell, value in numbers), (profile, measure)


def test_every_profile_has_its_page() -> None:
    for profile in PROFILES.names:
        assert f"[`{profile}`]({profile}.md)" in PAGE
        assert (ROOT / "docs" / "profiles" / f"{profile}.md").is_file()
