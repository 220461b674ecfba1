"""Writes the JSON Schemas of what the harness itself writes or reads as a record, from their pydantic models.

Run it after changing a model: ``.venv/bin/python tools/publish_record_schemas.py``. A test holds both equal.
"""

import json
from pathlib import Path

from pydantic import BaseModel

from sandscore.base.whole_files import write_file
from sandscore.records.board import Board
from sandscore.records.challenge import Challenge
from sandscore.records.run_record import RunRecord
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import TotalsCard

PUBLISHED: dict[str, tuple[type[BaseModel], str]] = {
    "board": (Board, "A board: the ranking of one task and phase"),
    "scorecard": (Scorecard, "A score card: what one submission scored on one data set"),
    "totals": (TotalsCard, "A card of totals: a score card as it is published without a count for each note"),
    "run": (RunRecord, "run.json: how one run of an annotator went"),
    "challenge": (Challenge, "The configuration of a challenge (challenge.toml, as JSON)"),
}


def schema_text(name: str) -> str:
    """The published file of that name."""
    model, title = PUBLISHED[name]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:sandscore:schema:{name}",
    }
    return json.dumps(head | model.model_json_schema() | {"title": title}, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for schema in PUBLISHED:
        target = Path(__file__).resolve().parent.parent / "schemas" / f"{schema}.schema.json"
        write_file(target, schema_text(schema).encode())
