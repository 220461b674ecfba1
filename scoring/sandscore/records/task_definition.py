"""The definition of an organiser's own task, as a challenge or a task file holds it and cards and boards carry it."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from sandscore.records.strict_record import StrictRecord

_WORDS = r"^[^\s\x00-\x1f\x7f-\x9f](?:[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$"
TaskId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
Words = Annotated[str, Field(min_length=1, max_length=100, pattern=_WORDS)]
_ARRAY = r"^text[A-Za-z0-9]{1,80}Annotations$"
TAKEN = ("start", "length", "text", "confidence", "noteId", "entityId")
"""Properties of every annotation."""


def _called_as_arrays_are(array: object) -> object:
    """What the pattern says, in words: files, containers and the submission schema know a list by such a name."""
    if isinstance(array, str) and not re.fullmatch(_ARRAY, array):
        raise ValueError(
            "must be 'text', a name in ASCII letters and digits, 'Annotations': 'textMedicationAnnotations'"
        )
    return array


ArrayName = Annotated[str, Field(pattern=_ARRAY), BeforeValidator(_called_as_arrays_are)]


class TaskFacts(StrictRecord):
    """What an organiser says of a task of their own."""

    array: ArrayName | None = Field(
        default=None, description="The list in the JSON files, and the path where a service answers."
    )
    kind: Words | None = Field(default=None, description="What is annotated, in words; else the task's id.")
    label: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")] | None = Field(
        default=None, description="The property that holds the label; its measure is called so in snake_case."
    )
    labels: tuple[Words, ...] = Field(default=(), description="What the label may be; empty is free text.")
    aliases: dict[Words, Words] = Field(default_factory=dict, description="Other spellings, each with its label.")
    label_required: bool = False
    confidence_required: bool = False
    types: tuple[Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")], ...] = Field(
        default=(), description="What foreign formats call it; else its id in capitals."
    )

    @model_validator(mode="after")
    def _holds_together(self) -> "TaskFacts":
        if self.array is None and self.model_fields_set & (TaskFacts.model_fields.keys() - {"array"}):
            raise ValueError("a task of its own needs 'array', as in array = 'textDrugAnnotations'")
        if self.label is None and (self.labels or self.aliases or self.label_required):
            raise ValueError("'labels', 'aliases' and 'label_required' need 'label', the property that holds it")
        if self.label in TAKEN:
            raise ValueError(f"'{self.label}' is no name for a label: every annotation has such a property already")
        spelt = [plain_label(label) for label in (*self.labels, *self.aliases)]
        twice = next((label for label in spelt if spelt.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"the label '{twice}' stands twice; case makes no difference")
        strange = next((label for label in self.aliases.values() if plain_label(label) not in spelt), None)
        if strange is not None:
            raise ValueError(f"an alias stands for '{strange}', which 'labels' does not list")
        return self


class TaskDefinition(TaskFacts):
    """A task that an organiser defined, as a task file holds it and as cards and boards carry it."""

    array: ArrayName


def plain_label(label: str) -> str:
    """A label as it is shown and compared: ASCII capitals are small letters."""
    return label.lower() if label.isascii() else label
