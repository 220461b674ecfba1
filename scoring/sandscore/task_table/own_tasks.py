"""Tasks that an organiser defined: from the definition in a challenge, on a card or on a board to a task, and back."""

import re
from typing import TYPE_CHECKING

from msgspec import Struct, field

from sandscore.base.errors import ParticipantFault
from sandscore.task_table.task import ALL_TASKS, TASKS, Task, find_task

if TYPE_CHECKING:
    from sandscore.records.board import Board
    from sandscore.records.scorecard import Scorecard
    from sandscore.records.task_definition import TaskDefinition

_RESERVED = ("notes", ALL_TASKS.id)
"""What files beside gold are called."""


def own_task(name: str, definition: "TaskDefinition") -> Task:
    """The task behind a definition."""
    from sandscore.records.task_definition import plain_label

    return Task(
        id=name,
        array=definition.array,
        kind=definition.kind or name.replace("-", " "),
        label=definition.label,
        labels=tuple(map(plain_label, definition.labels)),
        aliases=tuple((plain_label(alias), plain_label(label)) for alias, label in definition.aliases.items()),
        label_required=definition.label_required,
        confidence_required=definition.confidence_required,
        types=definition.types,
        own=True,
    )


class OwnDefinition(Struct, frozen=True, omit_defaults=True):
    """A definition with labels as they are compared, of which only what was said is written."""

    array: str
    kind: str
    label: str | None = None
    labels: tuple[str, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)
    label_required: bool = False
    confidence_required: bool = False
    types: tuple[str, ...] = ()


def definition_of(task: Task) -> OwnDefinition | None:
    """The definition that a card of this task carries; None for a task of our table."""
    if not task.own:
        return None
    return OwnDefinition(
        task.array, task.kind, task.label, task.labels, dict(task.aliases), task.label_required,
        task.confidence_required, task.types,
    )  # fmt: skip


def definition_hash(task: Task) -> str | None:
    """The SHA-256 of the definition, for the signature."""
    from hashlib import sha256

    from msgspec import json

    said = definition_of(task)
    return None if said is None else sha256(json.encode([task.id, said], order="sorted")).hexdigest()


def carried_task(record: "Scorecard | Board") -> Task:
    """The task of a card or board, which carries its definition where the task is an organiser's own."""
    if record.task == ALL_TASKS.id:
        return ALL_TASKS
    return own_task(record.task, record.definition) if record.definition else find_task(record.task)


def why_not_own(name: str, definition: "TaskDefinition") -> str | None:
    """Why an organiser cannot define this task, in a sentence."""
    if name in TASKS:
        return f"'{name}' is a built-in task and cannot be defined again; leave out 'array' to change its ranking rules"
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name) or name in _RESERVED:
        return f"'{name}' is no id for a task: small letters, digits and hyphens, a letter first, not 'notes', 'all'"
    same = next((task.id for task in TASKS.values() if task.array == definition.array), None)
    if same is not None:
        return f"the array '{definition.array}' belongs to the task {same} already"
    return None


def refuse_unlike_ours(name: str, definition: "TaskDefinition | None", path: str) -> None:
    """A card that redefines a task of our table is not believed."""
    said = why_not_own(name, definition) if definition else None
    if said is not None:
        raise ParticipantFault(f"{path}: {said}")
