"""``python -m tools.make_leaderboard``: scores, ranks and publishes the example submissions into ``leaderboard/``.

Score cards go to ``leaderboard/cards/``; the site around them is what ``sandscore publish`` makes of their boards.
``leaderboard/runs/`` holds what ``sandscore run --image`` once measured of the submissions (tools/example_images.py
builds their images); no run is like another, so they are kept. The days on which the made-up teams hand in are
made up too.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.base.whole_files import write_file
from sandscore.challenges.challenge_reading import read_challenge, rules_for
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import read_card
from sandscore.records.challenge import Challenge
from sandscore.scoring.card_building import Identity, Question, dumped, score
from sandscore.site.publication import PublicationSettings, publish
from sandscore.task_table.task import find_task

LEADERBOARD = Path(__file__).resolve().parents[1] / "leaderboard"
RUNS = LEADERBOARD / "runs"
NOTES = example_gold() / "notes.json"
TASKS = ("date", "person-name", "address")
CREATED = {
    "date-weak": "2026-10-05",
    "person-name-weak": "2026-10-06",
    "address-weak": "2026-10-08",
    "date-good": "2026-10-19",
    "address-good": "2026-10-21",
    "person-name-good": "2026-10-23",
}


def card_of(folder: Path, manifest: dict[str, Any]) -> bytes:
    """The score card of an example submission."""
    task = find_task(manifest["task"])
    inputs = Inputs(example_gold() / f"{task.id}.json", folder / "predictions.json", NOTES)
    run = json.loads((RUNS / f"{folder.name}.json").read_text(encoding="utf-8"))
    identity = Identity(manifest["team"], folder.name, dataset="example", created=CREATED[folder.name], run=run)
    return dumped(score(Question(task, (), load_hipaa_map(), identity), load_files(task, inputs)))


def board_of(cards: list[Path], task: str, challenge: Challenge, folder: Path) -> Path:
    """The board of a task, written beside its cards' folder."""
    entries = [replace(entry, listed=entry.path) for entry in map(read_card, cards) if entry.card.task == task]
    rules, phase = rules_for(challenge, task, None)
    path = folder / f"{task}.json"
    write_file(path, as_json(rank(entries, rules, phase)).encode())
    return path


def make(leaderboard: Path) -> None:
    """Cards first, then boards, then the site."""
    (leaderboard / "cards").mkdir(parents=True, exist_ok=True)
    cards = []
    for manifest in sorted(submissions().glob("*/submission.json")):
        card = leaderboard / "cards" / f"{manifest.parent.name}.json"
        write_file(card, card_of(manifest.parent, json.loads(manifest.read_text(encoding="utf-8"))))
        cards.append(card)
    challenge = read_challenge(example_gold() / "challenge.toml")
    with tempfile.TemporaryDirectory() as folder:
        boards = [board_of(cards, task, challenge, Path(folder)) for task in TASKS]
        publish(boards, leaderboard, PublicationSettings(challenge))


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else LEADERBOARD)
