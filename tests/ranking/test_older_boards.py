"""Boards that were made before boards named all their rules go on verifying: ``old_boards`` was written then.

They rank by Holm's tests and percentile intervals, and were 0.1.0's to the digit; nobody makes them anew.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sandscore.base.errors import ParticipantFault
from sandscore.ranking.verification import verify
from sandscore.site.publication import publish

BOARDS = Path(__file__).parent / "old_boards"
KINDS = ["plain", "broken-ties", "two-sites", "borda"]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    shutil.copytree(BOARDS / "plain", tmp_path / "plain")
    return tmp_path / "plain" / "board.json"


def edited(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_it_verifies(kind: str) -> None:
    assert verify(BOARDS / kind / "board.json").cards == (8 if kind == "two-sites" else 4)


def test_a_rule_that_is_not_named_is_the_first_one(plain: Path) -> None:
    content = json.loads(plain.read_text())
    for name in ("tie_rule", "interval"):
        del content["config"][name]
    assert verify(edited(plain, content)).cards == 4


def test_the_rule_that_is_named_counts(plain: Path) -> None:
    content = json.loads(plain.read_text())
    content["config"]["interval"] = "bca"
    with pytest.raises(ParticipantFault, match="/rows/0/measures/instance_strict/f1_ci/0"):
        verify(edited(plain, content))


def test_a_newer_field_on_an_older_board_is_a_contradiction(plain: Path) -> None:
    content = json.loads(plain.read_text())
    content["rows"][0]["chosen_ci"] = [0.1, 0.2]
    with pytest.raises(ParticipantFault, match="/rows/0/chosen_ci"):
        verify(edited(plain, content))


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_published_as_ever(kind: str, tmp_path: Path) -> None:
    assert "index.html" in publish([BOARDS / kind / "board.json"], tmp_path / "site").changed
