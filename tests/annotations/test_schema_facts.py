"""Our schemas beside the annotation shapes NLP Sandbox released.

The facts below are those of the released OpenAPI definitions (Apache-2.0): versions 0.3.1 and 1.0.0 for the three
challenge tasks, 1.2.0 for the later tools. Only the widenings and restrictions named here are ours.
"""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandscore.annotations.label_codes import allowed
from sandscore.task_table.task import TASKS
from sandscore.task_table.task_schema import schema_of

PLACES = ["city", "country", "department", "hospital", "organization", "other", "room", "state", "street", "zip"]
BASE = ["start", "length", "text"]
RELEASED: dict[str, tuple[list[str], dict[str, list[str] | None]]] = {
    "date": (BASE, {"dateFormat": None}),
    "person-name": (BASE, {}),
    "address": (BASE, {"addressType": PLACES}),
    "location": ([*BASE, "confidence", "locationType"], {"locationType": PLACES}),
    "id": (
        [*BASE, "confidence", "idType"],
        {
            "idType": [
                "account",
                "bio_id",
                "device",
                "health_plan",
                "id_number",
                "license",
                "medical_record",
                "ssn",
                "vehicle",
                "other",
            ]
        },
    ),
    "contact": (
        [*BASE, "confidence", "contactType"],
        {"contactType": ["email", "fax", "ip_address", "phone", "url", "other"]},
    ),
    "covid-symptom": (
        [*BASE, "confidence", "condition", "certainty"],
        {
            "condition": [
                "fever",
                "chill",
                "cough",
                "fatigue",
                "nasal_obstruction",
                "loss_of_appetite",
                "diarrhea",
                "abdominal_pain",
                "nausea",
                "vomiting",
                "sore_throat",
                "headache",
                "myalgia",
                "loss_of_taste",
                "loss_of_smell",
                "dyspnea",
                "chest_pain",
                "delirium",
                "hypersomnia",
                "cyanosis",
            ],
            "certainty": ["positive", "negated", "possible"],
        },
    ),
}


def annotation_rule(task_id: str) -> Any:
    schema: Any = schema_of(TASKS[task_id])
    return schema["$defs"]["annotation"]


@pytest.mark.parametrize("task_id", RELEASED)
def test_required_enum_and_range_as_released(task_id: str) -> None:
    required, labels = RELEASED[task_id]
    rule = annotation_rule(task_id)
    assert sorted(rule["required"]) == sorted(required)
    assert set(rule["properties"]) == {*BASE, "confidence", "entityId", *labels}
    for name, values in labels.items():
        assert allowed(TASKS[task_id], name) == (tuple(values) if values else None)
        assert rule["properties"][name]["type"] == "string"
    assert rule["properties"]["confidence"] == {"type": "number", "minimum": 0, "maximum": 100}
    assert "additionalProperties" not in rule


@pytest.mark.parametrize("task_id", TASKS)
def test_stricter_than_released(task_id: str) -> None:
    """Where released schemas let anything through: start at least 0, length at least 1, both below 2^31,
    and every record must have the task's list."""
    schema: Any = schema_of(TASKS[task_id])
    properties = annotation_rule(task_id)["properties"]
    assert (properties["start"]["minimum"], properties["start"]["maximum"]) == (0, 2147483647)
    assert (properties["length"]["minimum"], properties["length"]["maximum"]) == (1, 2147483647)
    assert schema["$defs"]["oneNote"]["required"] == [TASKS[task_id].array]


@pytest.mark.parametrize("task_id", ["address", "location", "id", "contact", "covid-symptom"])
def test_wider_than_released_only_in_how_enum_labels_are_written(task_id: str) -> None:
    """Any ASCII case, surrounding white space, the alias location-other, and "" for no label: nothing else."""
    task = TASKS[task_id]
    for field, values in RELEASED[task_id][1].items():
        validator = Draft202012Validator(annotation_rule(task_id)["properties"][field])
        for value in values or []:
            assert all(validator.is_valid(v) for v in (value, value.upper(), f"\t {value.title()}\u00a0\n"))
            assert not any(validator.is_valid(v) for v in (f"{value}s", f"x{value}", f"{value} {value}"))
        assert all(validator.is_valid(v) for v in ("", " ", "\u3000\r\n"))
        assert validator.is_valid("Location-Other") == bool(task.aliases and field == task.label)
        assert not any(validator.is_valid(v) for v in (None, 3, "\u017ftate", "\u200b", "none"))


@pytest.mark.parametrize("task_id", TASKS)
def test_schemas_are_schemas_and_agree_with_the_table(task_id: str) -> None:
    task, schema = TASKS[task_id], schema_of(TASKS[task_id])
    Draft202012Validator.check_schema(schema)
    rule = annotation_rule(task_id)
    assert ("confidence" in rule["required"]) == task.confidence_required
    if task.label:
        assert (task.label in rule["required"]) == task.label_required
    assert {task.label, task.second_label} - {None} == set(rule["properties"]) - {*BASE, "confidence", "entityId"}
