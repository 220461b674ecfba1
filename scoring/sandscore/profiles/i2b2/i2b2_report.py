"""The report of the i2b2 2014 script: the numbers it makes of its counts, and how it prints them."""

from collections.abc import Sequence
from math import isnan, nan

from msgspec import Struct

from sandscore.records.counts import Counts

_ROW = "{:<25}{:<15}{:<15}{:<20}"


class SetReport(Struct, frozen=True):
    """Ratios over all documents (micro) and over documents (macro, with standard deviations)."""

    total: Counts
    documents: int
    precision: float
    recall: float
    macro_precision: tuple[float, float]
    macro_recall: tuple[float, float]

    @property
    def f1(self) -> float:
        return harmonic(self.precision, self.recall, 0.0)

    @property
    def macro_f1(self) -> float:
        return harmonic(self.macro_precision[0], self.macro_recall[0], nan)

    @property
    def micro(self) -> dict[str, float | None]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}

    @property
    def macro(self) -> dict[str, float | None]:
        values = {
            "precision": self.macro_precision[0],
            "precision_sd": self.macro_precision[1],
            "recall": self.macro_recall[0],
            "recall_sd": self.macro_recall[1],
            "f1": self.macro_f1,
        }
        return {name: None if isnan(value) else value for name, value in values.items()}


def report(counts: Sequence[Counts]) -> SetReport:
    """The numbers of one evaluation from each common document's counts; 0/0 counts as 0."""
    total = sum(counts, Counts())
    return SetReport(
        total,
        len(counts),
        total.precision or 0.0,
        total.recall or 0.0,
        _mean([each.precision or 0.0 for each in counts]),
        _mean([each.recall or 0.0 for each in counts]),
    )


def harmonic(precision: float, recall: float, of_nothing: float) -> float:
    """F1; micro and macro differ in what they call that of two zeros."""
    if precision + recall == 0:
        return of_nothing
    return 2 * ((precision * recall) / (precision + recall))


def table(label: str, made: SetReport) -> str:
    """The summary that the script prints for one evaluation."""
    rows = (
        (f"{label} ({made.documents})", "Measure", "Macro (SD)", "Micro (Primary)"),
        ("Total", "Precision", _with_deviation(made.macro_precision), f"{made.precision:.4}"),
        ("", "Recall", _with_deviation(made.macro_recall), f"{made.recall:.4}"),
        ("", "F1", f"{made.macro_f1:.4}", f"{made.f1:.4}"),
    )
    lines = [_ROW.format(*row) for row in rows]
    return "\n".join([lines[0], "-" * 75, *lines[1:], "\n"])


def _with_deviation(value: tuple[float, float]) -> str:
    return f"{value[0]:.4} ({value[1]:.2})"


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Mean and population standard deviation, summed as numpy sums, whose last digits show in print."""
    if not values:
        return nan, nan
    import numpy as np

    array = np.array(values)
    return float(array.mean()), float(array.std())
