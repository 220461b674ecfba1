"""Cards say of which phase they are; a board stands for one. Cards and scores by hand (``ranking_cards``)."""

import json
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HALF, RIGHT, hand_in, queue
from ranking_cards import card_content

from sandscore import api
from sandscore.base.errors import ParticipantFault
from sandscore.cli.main import run

ROWS = {"a": [(3, 1, 0), (2, 0, 1)], "b": [(1, 1, 2), (2, 2, 2)], "c": [(2, 2, 1), (2, 1, 1)]}
PHASES = """
challenge = "year"
resamples = 100
randomisations = 99
data = {notes = "public", gold = "public"}

[[phases]]
name = "open"

[[phases]]
name = "final"
"""


@pytest.fixture
def cards(tmp_path: Path) -> dict[str, Path]:
    """a and b are of the phase open, c of final, d of no phase: as 0.1.0 wrote its cards."""
    made: dict[str, Path] = {}
    for name, phase in {"a": "open", "b": "open", "c": "final", "d": None}.items():
        content: dict[str, Any] = card_content(name, ROWS.get(name, ROWS["b"]))
        made[name] = tmp_path / f"{name}.json"
        made[name].write_text(json.dumps(content | ({"phase": phase} if phase else {})))
    return made


def test_a_mixture_is_refused_and_its_phases_are_named(
    cards: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rank", *map(str, cards.values())]) == 65
    said = capsys.readouterr().err
    assert f"'final' ({cards['c']}), 'open' ({cards['a']}); --phase chooses one" in said
    with pytest.raises(ParticipantFault, match="several phases"):
        api.rank([str(path) for path in cards.values()])


@pytest.mark.parametrize(("phase", "rows"), [("open", ["a", "b", "d"]), ("final", ["c", "d"])], ids=["open", "final"])
def test_one_phase_is_chosen(cards: dict[str, Path], tmp_path: Path, phase: str, rows: list[str]) -> None:
    output = tmp_path / "board.json"
    assert run(["rank", *map(str, cards.values()), "--phase", phase, "-o", str(output)]) == 0
    board = json.loads(output.read_bytes())
    assert (board["phase"], sorted(row["submission"] for row in board["rows"])) == (phase, rows)
    assert run(["verify", str(output)]) == 0


def test_the_only_phase_needs_no_choice(cards: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "challenge.toml").write_text(PHASES)
    board = api.rank([str(cards["a"]), str(cards["b"])], tmp_path / "challenge.toml").board
    assert board.phase == "open"


def test_a_phase_that_no_card_is_of(cards: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rank", str(cards["a"]), str(cards["c"]), "--phase", "spring"]) == 65
    assert "no card is of the phase 'spring'; they are of final, open" in capsys.readouterr().err


def test_cards_of_two_phases_may_be_compared(cards: dict[str, Path]) -> None:
    assert run(["compare", str(cards["a"]), str(cards["c"])]) == 0


@pytest.mark.slow
def test_a_queues_cards_name_their_phase_and_an_export_does_not_mix(tmp_path: Path) -> None:
    workspace = queue(tmp_path, PHASES)
    for team, phase, spans in (("A", "open", RIGHT), ("B", "open", HALF), ("A", "final", HALF)):
        hand_in(workspace, spans, team, phase=phase)
    root, out = workspace.root, tmp_path / "export"
    assert run(["queue", "work", str(root), "--once"]) == 0
    assert run(["queue", "export", str(root), "-o", str(out)]) == 0
    exported = sorted((out / "cards" / "date").glob("*.json"))
    assert sorted(json.loads(path.read_bytes())["phase"] for path in exported) == ["final", "open", "open"]
    assert {json.loads(path.read_bytes())["phase"] for path in workspace.cards.glob("*.json")} == {"final", "open"}
    assert run(["rank", *map(str, exported)]) == 65
    assert run(["rank", *map(str, exported), "--phase", "open", "-o", str(tmp_path / "open.json")]) == 0
    board = json.loads((tmp_path / "open.json").read_bytes())
    # by hand: everything right is 1, two of three without a mistake 2*2/(2*2+1) = 4/5
    assert [row["measures"]["instance_strict"]["f1"] for row in board["rows"]] == [1.0, 0.8]
