"""The record of a run on cards: kept as it came, whatever wrote it; and what it cost, where it says so in numbers."""

import json

import pytest
from pydantic import ValidationError

from sandscore.records.carried_run import CarriedRun, RunCost
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import dumped

NEWER = (
    '{"zeal":[1,{"b":null,"a":1e-3}],"outcome":"finished","seconds":{"total":2.5,"more":1},"model_extra":{"x":1},'
    '"cost":"dear","_fields_set":[],"__class__":"none","é":"\\u2028","peak_memory_bytes":1048576,"aa":true}'
)
"""Fields that no version writes, names that mean something to Python, and no order."""
CARD = (
    '{"sandscore":"0.1.0","signature":"s","task":"date","profile":"challenge","notes":0,"gold_annotations":0,'
    '"predicted_annotations":0,"text_checked":true,"measures":{},"per_note":{},"units":{},"run":RUN}'
)


@pytest.mark.parametrize("run", [NEWER, "{}", '{"seconds":"fast"}', "null"])
def test_a_card_is_written_as_it_was_read(run: str) -> None:
    card = Scorecard.model_validate_json(CARD.replace("RUN", run), strict=True)
    again = dumped(card)
    assert list(json.loads(again)["run"] or {}) == list(json.loads(run) or {}), "in the same order"
    for text in (again, card.model_dump_json(exclude_unset=True)):
        assert json.loads(text) == json.loads(CARD.replace("RUN", run))
    assert json.dumps(card.model_dump(mode="json")["run"]) == json.dumps(json.loads(run))


@pytest.mark.parametrize("run", ["[]", '"finished"', "7", "true"])
def test_what_is_no_object_is_no_run(run: str) -> None:
    with pytest.raises(ValidationError):
        Scorecard.model_validate_json(CARD.replace("RUN", run), strict=True)


@pytest.mark.parametrize(
    ("run", "cost"),
    [
        ({}, RunCost()),
        ({"seconds": {"total": 2}, "cpu_seconds": 0.5, "peak_memory_bytes": 7}, RunCost(2.0, 0.5, 7.0)),
        ({"seconds": {"total": True}, "cpu_seconds": False, "peak_memory_bytes": "7"}, RunCost()),
        ({"seconds": {}, "cpu_seconds": None, "peak_memory_bytes": [7]}, RunCost()),
        ({"seconds": 2, "cpu_seconds": 0}, RunCost(cpu_seconds=0.0)),
        ({"seconds": ["total"]}, RunCost()),
    ],
)
def test_what_a_run_cost(run: dict[str, object], cost: RunCost) -> None:
    assert CarriedRun.model_validate(run).cost == cost
