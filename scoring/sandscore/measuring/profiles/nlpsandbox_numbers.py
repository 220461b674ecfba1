"""What the NLP Sandbox client rounds and prints."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sandscore.records.counts import Counts

Printed = int | float
_ROW = "{:<25}{:<15}{:<15}{:<20}"


class Ratios(NamedTuple):
    """As printed: rounded, F1 made of the rounded two; None is the client's NaN."""

    f1: Printed | None
    precision: Printed | None
    recall: Printed | None


@dataclass(frozen=True, slots=True)
class Pass:
    """One of the client's four passes; ``kind`` and ``mode`` are what it prints for it."""

    measure: str
    kind: str
    mode: str


PASSES = (
    Pass("instance_relax", "instance", "relax"),
    Pass("instance_strict", "instance", "strict"),
    Pass("type", "", "strict"),
    Pass("token", "token", "strict"),
)
"""In the order in which the tables are printed; the second pass over types is named after the task."""


def rounded(counts: Counts) -> Ratios:
    """Two digits each; the integer 0 where there is nothing to divide by."""
    precision = round(counts.tp / (counts.tp + counts.fp), 2) if counts.tp + counts.fp else 0
    recall = round(counts.tp / (counts.tp + counts.fn), 2) if counts.tp + counts.fn else 0
    if precision + recall == 0:
        return Ratios(0, precision, recall)
    return Ratios(round(2 * ((precision * recall) / (precision + recall)), 2), precision, recall)


def type_is_nan(name: str, predictions_name_types: bool) -> bool:
    """Dates and persons always; addresses when no prediction names a type; the later tasks never."""
    return not predictions_name_types if name == "address" else name in {"date", "person"}


def output(name: str, ratios: Mapping[str, Ratios]) -> dict[str, Any]:
    """The client's JSON output: nine entries for the location, three for the type."""
    entries = {row: _entries(ratios[row.measure]) for row in PASSES}
    location = [
        entry | {"type": row.kind, "mode": row.mode} for row, three in entries.items() if row.kind for entry in three
    ]
    return {f"{name}_location": location, f"{name}_type": entries[PASSES[2]]}


def table(name: str, ratios: Mapping[str, Ratios]) -> str:
    """The four tables that the client prints."""
    lines = []
    for row in PASSES:
        values = ("nan" if value is None else value for value in ratios[row.measure])
        lines += [
            _ROW.format(row.kind or name, "F1", "Precision", "Recall"),
            "-" * 75,
            _ROW.format(row.mode, *values),
            "\n",
        ]
    return "\n".join(lines)


def _entries(ratios: Ratios) -> list[dict[str, Any]]:
    return [
        {"metric": metric, "value": value} for metric, value in zip(("F1", "precision", "recall"), ratios, strict=True)
    ]
