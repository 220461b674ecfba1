"""Score cards for the ranking tests, made from per-note counts written down or drawn with a seed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sandscore.ranking.card_reading import RankedCard, card_entry

Rows = Sequence[tuple[int, int, int]]
GOLD = "0123456789ab"


def card_content(name: str, rows: Rows | Mapping[str, Rows], **changes: Any) -> dict[str, Any]:
    """A card as JSON values; ``rows`` are per-note (tp, fp, fn), of instance_strict unless they name measures.

    ``patients`` gives each note's patient; other keywords replace fields of the card.
    """
    measures = rows if isinstance(rows, Mapping) else {"instance_strict": rows}
    notes = [f"note-{i}" for i in range(len(next(iter(measures.values()))))]
    patients = changes.pop("patients", notes)
    gold = changes.pop("gold", GOLD)
    totals = {m: [sum(column) for column in zip(*of, strict=True)] for m, of in measures.items()}
    tp, fp, fn = next(iter(totals.values()))
    made: dict[str, Any] = {
        "sandscore": "0.1.0",
        "signature": f"date|challenge|gold:{gold}|predictions:{len(str(rows)):012x}|v0.1.0",
        "task": "date",
        "profile": "challenge",
        "team": f"team {name}",
        "submission": name,
        "image": None,
        "dataset": "example",
        "created": None,
        "notes": len(notes),
        "gold_annotations": tp + fn,
        "predicted_annotations": tp + fp,
        "text_checked": True,
        "measures": {m: _score(*of) for m, of in totals.items()},
        "per_label": {},
        "errors": None,
        "note_leak": None,
        "confidence": None,
        "per_note": {note: {m: list(of[i]) for m, of in measures.items()} for i, note in enumerate(notes)},
        "units": dict(zip(notes, patients, strict=True)),
        "run": None,
        "problems": {},
    }
    return made | changes


def entry(name: str, rows: Rows | Mapping[str, Rows], **changes: Any) -> RankedCard:
    """The same as a card that was read."""
    return as_entry(card_content(name, rows, **changes))


def as_entry(card: dict[str, Any], path: str | None = None) -> RankedCard:
    return card_entry(json.dumps(card).encode(), path or f"{card['submission']}.json")


def drawn_rows(skill: float, notes: int, seed: int, hardness: int = 1) -> list[tuple[int, int, int]]:
    """A system that finds each annotation with this chance; all seeds share the same gold."""
    gold = np.random.default_rng(hardness).poisson(5, notes)
    stream = np.random.default_rng([seed, notes])
    tp, fp = stream.binomial(gold, skill), stream.poisson(0.7, notes)
    return [(int(a), int(b), int(c)) for a, b, c in zip(tp, fp, gold - tp, strict=True)]


def _score(tp: int, fp: int, fn: int) -> dict[str, Any]:
    def over(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    ratios = {"precision": over(tp, tp + fp), "recall": over(tp, tp + fn), "f1": over(2 * tp, 2 * tp + fp + fn)}
    return {"tp": tp, "fp": fp, "fn": fn, **ratios, "f1_ci": None}
