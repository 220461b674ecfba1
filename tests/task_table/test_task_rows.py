"""Rows of the task table and tasks of an organiser's own, one property at a time."""

import json
import re
from typing import Any

import msgspec
import pytest
from msgspec import json as plain_json
from msgspec.structs import fields

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.records.task_definition import TaskDefinition
from sandscore.task_table.own_tasks import definition_hash, definition_of, own_task, refuse_unlike_ours, why_not_own
from sandscore.task_table.task import TASKS, ClientNames, ForeignTypes, I2b2Category, Starter, Task, find_task
from sandscore.task_table.task_list import listed_tasks, snake_case
from sandscore.task_table.task_schema import schema_of

DRUG = TaskDefinition(array="textDrugAnnotations", label="drugClass", labels=("Opioid", "NSAID"), label_required=True)
ROWS = [
    ForeignTypes("brat", ("DRUG",)),
    I2b2Category("DATE"),
    ClientNames(),
    Starter("[0-9]+"),
    Task("drug", "textDrugAnnotations", "drug"),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_row_can_be_a_key_and_says_only_what_differs(row: Any) -> None:
    """Tasks are kept by schema and measure; what programs read of the table holds no defaults."""
    assert hash(row) == hash(type(row)(*(getattr(row, name) for name in row.__struct_fields__)))
    said = json.loads(plain_json.encode(row))
    defaults = {f.name for f in fields(row) if not f.required}
    assert not said.keys() & defaults
    with pytest.raises(AttributeError):
        setattr(row, row.__struct_fields__[0], "else")


def test_measures_of_a_row() -> None:
    spans = ("token", "instance_strict", "instance_relax")
    assert Task("drug", "textDrugAnnotations", "drug").measures == spans
    assert own_task("drug", DRUG).measures == (*spans, "drug_class")
    assert find_task("location").measures == (*spans, "location_type", "hipaa_phi", "hipaa_phi_only")


def test_a_plain_row_promises_nothing() -> None:
    row = Task("new-drug", "textDrugAnnotations", "drug")
    assert (row.label_required, row.confidence_required, row.hipaa, row.any_type, row.own) == (False,) * 5
    assert (row.path, row.plain_types, row.label_fields) == ("/textDrugAnnotations", ("NEW_DRUG",), {})
    assert row.foreign_types("brat") == ForeignTypes("brat", ("NEW_DRUG",))


def test_a_schema_bounds_what_an_annotation_says() -> None:
    annotation = schema_of(own_task("drug", DRUG))["$defs"]["annotation"]
    assert annotation["required"] == ["start", "length", "text", "drugClass"]
    bounds = {name: (rule.get("minimum"), rule.get("maximum")) for name, rule in annotation["properties"].items()}
    assert bounds["start"] == (0, 2**31 - 1)
    assert bounds["length"] == (1, 2**31 - 1)
    assert bounds["confidence"] == (0, 100)
    pattern = annotation["properties"]["drugClass"]["anyOf"][1]["pattern"]
    assert re.fullmatch(pattern, " OPIOID\t")
    assert not re.fullmatch(pattern, "opium")


def test_an_own_task_and_its_definition() -> None:
    task = own_task("drug", DRUG)
    assert task.own
    assert task.labels == ("opioid", "nsaid")
    assert msgspec.to_builtins(definition_of(task)) == {
        "array": "textDrugAnnotations", "kind": "drug", "label": "drugClass", "labels": ("opioid", "nsaid"),
        "label_required": True,
    }  # fmt: skip
    assert len(definition_hash(task) or "") == 64
    assert (definition_of(find_task("date")), definition_hash(find_task("date"))) == (None, None)


@pytest.mark.parametrize(
    ("name", "said"),
    [("date", "is a built-in task"), ("notes", "is no id for a task"), ("Drug", "is no id"), ("a" * 65, "is no id")],
)
def test_names_that_an_own_task_cannot_have(name: str, said: str) -> None:
    assert said in (why_not_own(name, DRUG) or "")
    with pytest.raises(ParticipantFault, match=f"^card.json: '{name}' {said}"):
        refuse_unlike_ours(name, DRUG, "card.json")


def test_an_array_of_ours_cannot_be_taken() -> None:
    taken = TaskDefinition(array="textDateAnnotations")
    assert why_not_own("drug", taken) == "the array 'textDateAnnotations' belongs to the task date already"
    assert why_not_own("drug", DRUG) is None
    refuse_unlike_ours("drug", DRUG, "card.json")
    refuse_unlike_ours("date", None, "card.json")


def test_tasks_are_found_by_id() -> None:
    own = {"drug": own_task("drug", DRUG)}
    assert find_task("drug", own).own
    assert find_task(own["drug"]) is own["drug"]
    with pytest.raises(UsageFault, match=r"unknown task 'dat'.*the tasks are"):
        find_task("dat")


def test_a_list_says_the_same_as_the_rows() -> None:
    shown = ("id", "array", "label", "label_required", "path", "measures")
    sides = ([tuple(getattr(one, name) for name in shown) for one in many] for many in (listed_tasks(), TASKS.values()))
    listed, typed = sides
    assert listed == typed
    assert ("date", "textDateAnnotations", "dateFormat", False, "/textDateAnnotations") in [row[:5] for row in listed]


@pytest.mark.parametrize(
    ("name", "written"), [("dateFormat", "date_format"), ("PHIType", "phi_type"), ("kind", "kind")]
)
def test_snake_case(name: str, written: str) -> None:
    assert snake_case(name) == written
