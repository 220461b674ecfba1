"""The list of tasks: what is said of each where all are listed, read from the table as plain values.

Typed rows (``task.py``) say all that is known of a task. They need msgspec, and importing that takes as long as the
rest of a list together.
"""

import os.path
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

TABLE = os.path.join(os.path.dirname(__file__), "tasks.json")  # noqa: PTH118, PTH120 (all that needs no pathlib)
SPAN_MEASURES = ("token", "instance_strict", "instance_relax")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class ListedTask:
    """A task as lists show it."""

    __slots__ = ("array", "id", "label", "label_required", "measures", "path")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.id: str = row["id"]
        self.array: str = row["array"]
        self.label: str | None = row.get("label")
        self.label_required: bool = row.get("label_required", False)
        self.path = path_of(self.array)
        self.measures = measures_of(self.label, hipaa=row.get("hipaa", False))


def listed_tasks() -> list[ListedTask]:
    """Those of our table, in its order."""
    import json

    with open(TABLE, "rb") as file:  # noqa: PTH123
        return [ListedTask(row) for row in json.load(file)]


def path_of(array: str) -> str:
    """Where an annotator answers for a task."""
    return f"/{array}"


def measures_of(label: str | None, *, hipaa: bool) -> tuple[str, ...]:
    """What a task is scored by: extents, the label, and HIPAA's two where it is about them."""
    labels = (snake_case(label),) if label else ()
    return SPAN_MEASURES + labels + (("hipaa_phi", "hipaa_phi_only") if hipaa else ())


@cache
def snake_case(name: str) -> str:
    """``dateFormat`` as ``date_format``."""
    return _WORD_START.sub("_", name).lower()
