"""The report of the i2b2 2014 script: the numbers it makes of its counts, and how it prints them."""

from math import isnan, nan

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Floats, Ints
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


def report(counts: Ints) -> SetReport:
    """The numbers of one evaluation from each common document's hits, false ones and misses; 0/0 counts as 0."""
    tp, fp, fn = counts.reshape(-1, 3).T
    total = Counts(*counts.reshape(-1, 3).sum(axis=0).tolist())
    return SetReport(
        total,
        len(counts),
        total.precision or 0.0,
        total.recall or 0.0,
        _mean(_ratios(tp, tp + fp)),
        _mean(_ratios(tp, tp + fn)),
    )


def _ratios(parts: Ints, wholes: Ints) -> Floats:
    return np.divide(parts, wholes, out=np.zeros(len(parts)), where=wholes > 0)


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


def _mean(values: Floats) -> tuple[float, float]:
    """Mean and population standard deviation, summed as numpy sums, whose last digits show in print."""
    return (float(values.mean()), float(values.std())) if len(values) else (nan, nan)
