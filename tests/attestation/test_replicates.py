"""With a public seed, sums over resampled patients give every patient's counts back: boards hold none."""

import json
from pathlib import Path

import numpy as np
from ranking_cards import card_content, drawn_rows

from sandscore.cli.main import run

PATIENTS, DRAWS = 40, 100


def test_sums_over_resampled_patients_are_equations() -> None:
    """The draws are known from the seed; the counts are what the equations are solved for."""
    chance = np.random.default_rng(15)
    counts = chance.integers(0, 30, (PATIENTS, 3))
    draws = chance.multinomial(PATIENTS, [1 / PATIENTS] * PATIENTS, size=DRAWS)
    solved = np.linalg.lstsq(draws.astype(float), (draws @ counts).astype(float), rcond=None)[0]
    assert np.rint(solved).astype(int).tolist() == counts.tolist()


def test_no_board_holds_anything_as_long_as_its_draws(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    for number in range(3):
        content = card_content(f"s{number}", {"instance_strict": drawn_rows(0.5 + 0.1 * number, PATIENTS, number)})
        (tmp_path / "c" / f"s{number}.json").write_text(json.dumps(content))
    rules = tmp_path / "challenge.toml"
    data = '[data]\nnotes = "public"\ngold = "public"\n'
    rules.write_text(f'challenge = "c"\nresamples = {DRAWS}\nrandomisations = 99\n{data}')
    cards = sorted(map(str, (tmp_path / "c").iterdir()))
    assert run(["rank", *cards, "--challenge", str(rules), "-o", str(tmp_path / "board.json")]) == 0
    board = json.loads((tmp_path / "board.json").read_bytes())
    assert len(board["rows"]) == 3
    assert longest(board) < min(PATIENTS, DRAWS), "no list of draws, and none of patients"


def longest(value: object) -> int:
    """Of all lists and objects inside."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return max([len(value), *map(longest, inner)])
    return 0
