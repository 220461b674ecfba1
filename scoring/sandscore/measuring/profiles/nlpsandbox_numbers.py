"""What the NLP Sandbox client counts, rounds and prints."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sandscore.measuring.profiles.nlpsandbox_reading import Instance, Side, Token
from sandscore.records.counts import Counts

Entry = TypeVar("Entry", Instance, Token)
Printed = int | float
_ROW = "{:<25}{:<15}{:<15}{:<20}"


class Ratios(NamedTuple):
    """As printed: rounded, F1 made of the rounded two; None is the client's NaN."""

    f1: Printed | None
    precision: Printed | None
    recall: Printed | None


@dataclass(slots=True)
class Tally:
    """Counts per note; a hit belongs to the note of the prediction."""

    per_note: dict[str, list[int]] = field(default_factory=dict)

    def add(self, note: str, kind: int) -> None:
        self.per_note.setdefault(note, [0, 0, 0])[kind] += 1

    @property
    def total(self) -> Counts:
        rows = self.per_note.values()
        return Counts(*(sum(row[kind] for row in rows) for kind in range(3)))


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


def tallies(gold: Side, predicted: Side) -> dict[str, Tally]:
    """The four passes; entries meet by key, so each is matched at most once."""
    return {
        "instance_relax": _tally(gold.instances, predicted.instances, _within_two),
        "instance_strict": _tally(gold.instances, predicted.instances, _same_length),
        "type": _tally(gold.instances, predicted.instances, _same_type),
        "token": _tally(gold.tokens, predicted.tokens, _same_length),
    }


def rounded(counts: Counts) -> Ratios:
    """Two digits each; the integer 0 where there is nothing to divide by."""
    precision = round(counts.tp / (counts.tp + counts.fp), 2) if counts.tp + counts.fp else 0
    recall = round(counts.tp / (counts.tp + counts.fn), 2) if counts.tp + counts.fn else 0
    if precision + recall == 0:
        return Ratios(0, precision, recall)
    return Ratios(round(2 * ((precision * recall) / (precision + recall)), 2), precision, recall)


def type_is_nan(name: str, predicted: Iterable[Instance]) -> bool:
    """Dates and persons always; addresses when no prediction names a type; the later tasks never."""
    if name == "address":
        return not any(isinstance(entry.type, str) and entry.type for entry in predicted)
    return name in {"date", "person"}


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


def _tally(gold: Mapping[str, Entry], predicted: Mapping[str, Entry], matches: Callable[[Entry, Entry], bool]) -> Tally:
    tally = Tally()
    hits = set()
    for key, entry in predicted.items():
        wanted = gold.get(key)
        if wanted is not None and matches(entry, wanted):
            hits.add(key)
        tally.add(entry.note, 0 if key in hits else 1)
    for key, entry in gold.items():
        if key not in hits:
            tally.add(entry.note, 2)
    return tally


def _within_two(predicted: Instance, gold: Instance) -> bool:
    return bool(abs(predicted.length - gold.length) <= 2)


def _same_length(predicted: Instance | Token, gold: Instance | Token) -> bool:
    return bool(abs(predicted.length - gold.length) == 0)


def _same_type(predicted: Instance, gold: Instance) -> bool:
    return bool(predicted.type == gold.type) and _same_length(predicted, gold)
