"""Every card that is written obeys the published schema, and holds what later stages need."""

import json
from typing import Any

import msgspec
import pytest
from corpora import corpora
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scoring_helpers import card_of

from sandscore.base.bundled_content import schema_path
from sandscore.scoring.card_building import dumped
from sandscore.task_table.task import TASKS, Task

SCHEMA: Any = json.loads(schema_path("scorecard").read_text(encoding="utf-8"))


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@settings(max_examples=up_to(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_cards_obey_their_schema(task: Task, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = json.loads(dumped(card_of(task, notes)))
    Draft202012Validator(SCHEMA).validate(card)
    assert set(card["measures"]) == set(task.measures)
    assert list(card["per_note"]) == list(card["units"]) == [n["id"] for n in notes]
    assert all("f1_ci" in m and m["f1_ci"] is None for m in card["measures"].values())
    label = [name for name, m in card["measures"].items() if "conditional_accuracy" in m]
    assert label == ([task.label_measure] if task.label_measure else [])


def test_signature_names_what_must_be_equal() -> None:
    card = card_of(TASKS["address"], [{"id": "n", "text": "x", "gold": [], "predictions": []}])
    task, profile, gold, predictions, hipaa, version = card.signature.split("|")
    assert (task, profile, version) == ("address", "challenge", f"v{card.sandscore}")
    for part, name in ((gold, "gold:"), (predictions, "predictions:"), (hipaa, "map:")):
        assert part.startswith(name)
        assert len(part) == len(name) + 12


def test_written_card_is_read_back() -> None:
    from sandscore.records.scorecard import Scorecard

    card = card_of(TASKS["date"], [{"id": "n", "text": "x", "gold": [], "predictions": []}])
    assert Scorecard.model_validate(msgspec.json.decode(dumped(card))).model_dump() == card.model_dump()
