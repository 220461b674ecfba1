"""What the NLP Sandbox client counts, rounds and prints."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from sandscore.measuring.profiles.nlpsandbox_reading import Instance, Side
from sandscore.records.counts import Counts

Printed = int | float
_Entries = Mapping[str, tuple[Any, ...]]
_ROW = "{:<25}{:<15}{:<15}{:<20}"


class Ratios(NamedTuple):
    """As printed: rounded, F1 made of the rounded two; None is the client's NaN."""

    f1: Printed | None
    precision: Printed | None
    recall: Printed | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts per note; a hit belongs to the note of the prediction."""

    per_note: dict[str, Counts]

    @property
    def total(self) -> Counts:
        return sum(self.per_note.values(), Counts())


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
    relax, strict, same_type = _instance_hits(gold.instances, predicted.instances)
    instances = gold.instances, predicted.instances
    return {
        "instance_relax": _tally(*instances, relax),
        "instance_strict": _tally(*instances, strict),
        "type": _tally(*instances, same_type),
        "token": _tally(gold.tokens, predicted.tokens, predicted.tokens.keys() & gold.tokens.keys()),
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
        return not any(isinstance(kind, str) and kind for _, _, kind, _ in predicted)
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


def _instance_hits(
    gold: Mapping[str, Instance], predicted: Mapping[str, Instance]
) -> tuple[list[str], list[str], list[str]]:
    relax, strict, same_type = [], [], []
    for key, (_, _, kind, length) in predicted.items():
        if key not in gold:
            continue
        _, _, gold_kind, gold_length = gold[key]
        difference = abs(length - gold_length)
        if difference <= 2:
            relax.append(key)
        if difference == 0:
            strict.append(key)
            if kind == gold_kind:
                same_type.append(key)
    return relax, strict, same_type


def _tally(gold: _Entries, predicted: _Entries, hits: Collection[str]) -> Tally:
    hit, hit_gold = _by_note(map(predicted.__getitem__, hits)), _by_note(map(gold.__getitem__, hits))
    given, wanted = _by_note(predicted.values()), _by_note(gold.values())
    notes = given.keys() | wanted.keys()
    return Tally({n: Counts(hit[n], given[n] - hit[n], wanted[n] - hit_gold[n]) for n in notes})


def _by_note(entries: Iterable[tuple[Any, ...]]) -> Counter[str]:
    return Counter(map(itemgetter(0), entries))
