"""The rows per label of a score card, hardest first."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sandscore.records.counts import Counts


class LabelRow(Struct, frozen=True):
    """One label; ``gold`` is how often gold has it."""

    label: str
    counts: Counts

    @property
    def gold(self) -> int:
        return self.counts.tp + self.counts.fn

    @property
    def errors(self) -> int:
        return self.counts.fp + self.counts.fn


class LabelTable(Struct, frozen=True):
    """The measure the rows are counted by, and the rows."""

    measure: str
    rows: Sequence[LabelRow]


def label_table(per_label: Mapping[str, Mapping[str, Any]], measure: str) -> LabelTable | None:
    """By the measure where labels have it, else by one they have; None where no label is counted."""
    names = dict.fromkeys(name for row in per_label.values() for name, counts in row.items() if _counts(counts))
    if not names:
        return None
    chosen = measure if measure in names else next(iter(names))
    rows = [LabelRow(label, counts) for label, row in per_label.items() if (counts := _counts(row.get(chosen)))]
    return LabelTable(chosen, sorted(rows, key=lambda row: (-row.errors, row.label)))


def _counts(given: Any) -> Counts | None:
    if not isinstance(given, Mapping):
        return None
    numbers = [number for name in ("tp", "fp", "fn") if isinstance(number := given.get(name), int)]
    return Counts(*numbers) if len(numbers) == 3 else None
