"""The task table: one row is one thing that can be annotated.

A row says how the annotations are called in JSON, which label they carry and where a service answers
for them. What a label may be stands in the task's JSON Schema and nowhere else.
"""

import json
from functools import cache
from typing import NamedTuple

from sandscore.base.bundled_content import schema_path
from sandscore.base.errors import UsageFault, did_you_mean

_PLACE_ALIASES = (("location-other", "other"),)
SPAN_MEASURES = ("token", "instance_strict", "instance_relax")


class Task(NamedTuple):
    """``label_measure`` names the measure that compares labels; None where a task has no label."""

    id: str
    array: str
    kind: str
    label: str | None = None
    label_measure: str | None = None
    label_required: bool = False
    label_aliases: tuple[tuple[str, str], ...] = ()
    second_label: str | None = None
    confidence_required: bool = False
    hipaa: bool = False

    @property
    def path(self) -> str:
        """Where an annotator answers for this task."""
        return f"/{self.array}"

    @property
    def measures(self) -> tuple[str, ...]:
        label = (self.label_measure,) if self.label_measure else ()
        return SPAN_MEASURES + label + (("hipaa_phi", "hipaa_phi_only") if self.hipaa else ())


_ROWS = (
    Task("date", "textDateAnnotations", "date", "dateFormat", "date_format"),
    Task("person-name", "textPersonNameAnnotations", "person name"),
    Task(
        "address",
        "textPhysicalAddressAnnotations",
        "physical address",
        "addressType",
        "address_type",
        label_aliases=_PLACE_ALIASES,
        hipaa=True,
    ),
    Task(
        "location",
        "textLocationAnnotations",
        "location",
        "locationType",
        "location_type",
        label_required=True,
        label_aliases=_PLACE_ALIASES,
        confidence_required=True,
        hipaa=True,
    ),
    Task(
        "id",
        "textIdAnnotations",
        "identifier",
        "idType",
        "id_type",
        label_required=True,
        confidence_required=True,
    ),
    Task(
        "contact",
        "textContactAnnotations",
        "contact",
        "contactType",
        "contact_type",
        label_required=True,
        confidence_required=True,
    ),
    Task(
        "covid-symptom",
        "textCovidSymptomAnnotations",
        "COVID symptom",
        "condition",
        "condition",
        label_required=True,
        second_label="certainty",
        confidence_required=True,
    ),
    Task("phi", "textAnnotations", "protected health information", "type", "type", label_required=True),
)

TASKS: dict[str, Task] = {task.id: task for task in _ROWS}


def find_task(name: str) -> Task:
    """The task of that id, or a usage error that lists them all."""
    if name not in TASKS:
        raise UsageFault(f"unknown task '{name}'{did_you_mean(name, TASKS)}; the tasks are {', '.join(TASKS)}")
    return TASKS[name]


@cache
def schema_of(task: Task) -> dict[str, object]:
    """The published JSON Schema of the task's annotation files."""
    loaded: dict[str, object] = json.loads(schema_path(task.id).read_text(encoding="utf-8"))
    return loaded
