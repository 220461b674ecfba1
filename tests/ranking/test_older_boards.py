"""Boards that were made before boards named all their rules go on verifying: ``old_boards`` was written then.

They rank by Holm's tests and percentile intervals, and were 0.1.0's to the digit; nobody makes them anew.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import card_content, drawn_rows, entry

from sandscore.base.errors import ParticipantFault
from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.records.ranking_rules import BoardRules, CardRule
from sandscore.site.publication import PublicationSettings, publish
from sandscore.verification.board_verification import verify

BOARDS = Path(__file__).parent / "old_boards"
PUBLIC = parse_challenge(b'challenge = "c"\n[data]\nnotes = "public"\ngold = "public"\n', "challenge.toml")
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cards", ["none", "totals", "notes"])
def test_it_is_published_as_ever_and_goes_on_verifying(kind: str, cards: CardRule, tmp_path: Path) -> None:
    settings = PublicationSettings(PUBLIC if cards == "notes" else None, cards)
    assert "index.html" in publish([BOARDS / kind / "board.json"], tmp_path / "site", settings).changed
    (board,) = (tmp_path / "site").glob("*/board.json")
    verified = verify(board)
    assert verified.level == ("recomputed" if cards == "notes" else "totals")
    said = json.loads(board.read_text())
    said["rows"][1]["expected"] = 0.5
    if verified.level == "recomputed":
        with pytest.raises(ParticipantFault, match="make"):
            verify(edited(board, said))


@pytest.mark.parametrize("of_all", [True, False])
def test_a_board_that_says_nothing_of_its_pairs_is_older(of_all: bool, tmp_path: Path) -> None:
    """Until boards had the differences' intervals; where some pairs have them, the rest is a contradiction."""
    entries = [entry(f"s{at}", drawn_rows(0.6 + 0.1 * at, 20, at)) for at in range(3)]
    board = json.loads(as_json(rank(entries, BoardRules(resamples=100, randomisations=199))))
    for row, one in zip(board["rows"], sorted(entries, key=lambda e: e.submission, reverse=True), strict=True):
        assert row["submission"] == one.submission
        content = json.dumps(
            card_content(one.submission, drawn_rows(0.6 + 0.1 * int(one.submission[1]), 20, int(one.submission[1])))
        )
        (tmp_path / f"{one.submission}.json").write_text(content)
    assert verify(edited(tmp_path / "board.json", board)).cards == 3
    for pair in board["pairwise"][0 if of_all else 1 :]:
        del pair["delta_ci"], pair["patients"]
    path = edited(tmp_path / "board.json", board)
    if of_all:
        assert verify(path).cards == 3
    else:
        with pytest.raises(ParticipantFault, match="/pairwise/1/delta_ci is absent"):
            verify(path)
