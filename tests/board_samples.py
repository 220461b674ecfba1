"""Boards to publish: submissions of chosen skill over made-up notes, ranked by the ranking itself."""

import json
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from ranking_cards import card_content, drawn_rows

from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import RankedCard, read_card
from sandscore.records.board import BoardPolicy
from sandscore.records.ranking_rules import BoardRules

MEASURES = ("instance_strict", "token", "instance_relax", "address_type")
NOTES = 60
PUBLIC = BoardPolicy(notes="public", gold="public", cards="notes", feedback="full", ended=False)
QUICK = BoardRules(resamples=200, randomisations=1999)
HOSTILE = "<img src=x onerror=document.title='owned'>\"'&amp;\u202e\u200b"
"""Markup, both quotes, an entity, a right-to-left override and a zero-width space, all in one name."""


class Sample(Struct, frozen=True):
    """One submission: the share of gold it finds, and what it calls itself."""

    name: str
    skill: float
    team: str | None = "A team"
    created: str | None = None


def samples(count: int = 8) -> list[Sample]:
    """Good and bad ones in turn, a few days apart; the last but one has a hostile name and team."""
    first = date(2026, 1, 5)
    made = [
        Sample(f"system-{i}", 0.9 - 0.05 * (i * 3 % count), f"Team {i}", f"{first + timedelta(3 * i)}")
        for i in range(count)
    ]
    made[-2] = replace(made[-2], name=HOSTILE, team=HOSTILE)
    return made


def write_board(folder: Path, entrants: Sequence[Sample], **changes: Any) -> Path:
    """Cards and the board made from them, in a folder; the board's path."""
    (folder / "cards").mkdir(parents=True)
    entries = [_entry(folder, at, sample, changes) for at, sample in enumerate(entrants)]
    path = folder / "board.json"
    path.write_text(as_json(rank(entries, QUICK).model_copy(update={"policy": PUBLIC})), encoding="utf-8")
    return path


def _entry(folder: Path, at: int, sample: Sample, changes: dict[str, Any]) -> RankedCard:
    path = folder / "cards" / f"{at}.json"
    path.write_text(json.dumps(card(at, sample) | changes), encoding="utf-8")
    return replace(read_card(path), listed=f"cards/{at}.json")


def card(at: int, sample: Sample) -> dict[str, Any]:
    """A score card as ``sandscore score --publish`` writes it: notes go by sixteen hexadecimal digits."""
    rows = {name: drawn_rows(sample.skill, NOTES, at + place) for place, name in enumerate(MEASURES)}
    made = card_content(sample.name, rows, task="address", team=sample.team, created=sample.created)
    notes = [f"{note:016x}" for note in range(NOTES)]
    made["per_note"] = dict(zip(notes, made["per_note"].values(), strict=True))
    made["units"] = {note: notes[place // 2] for place, note in enumerate(notes)}
    fp, fn = made["measures"]["instance_strict"]["fp"], made["measures"]["instance_strict"]["fn"]
    made["errors"] = {"missed": fn - 1, "spurious": fp - 1, "boundary": 1, "wrong_label": 2}
    counted = {"instance_strict": {"tp": 7, "fp": 1 + at, "fn": 2}}
    made["per_label"] = {"city": counted, HOSTILE: counted}
    made["confidence"] = {
        "average_precision": 0.8,
        "best_threshold": 40.0,
        "curve": [[90.0, 0.97, 0.4], [40.0, 0.9, 0.7], [10.0, 0.8, 0.8]],
    }
    made["note_leak"] = 0.25
    made["run"] = {"seconds": {"total": 12.5 + at}, "peak_memory_bytes": 300 << 20}
    return made
