"""nervaluate's ratios and its summary report."""

from collections.abc import Mapping
from typing import Any

_HEADERS = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")
_DIGITS = 2


def metrics(counts: Mapping[str, int], schema: str) -> dict[str, Any]:
    """The original's result; half a credit for a partial one, and a plain 0 over nothing."""
    correct, incorrect, partial, missed, spurious = (counts[kind] for kind in _HEADERS[:5])
    actual = correct + incorrect + partial + spurious
    possible = correct + incorrect + partial + missed
    credit = correct + 0.5 * partial if schema in ("partial", "ent_type") else correct
    precision = credit / actual if actual > 0 else 0
    recall = credit / possible if possible > 0 else 0
    f1 = 2 * (precision * recall) / (precision + recall) if precision + recall > 0 else 0
    values = (correct, incorrect, partial, missed, spurious, precision, recall, f1)
    return dict(zip(_HEADERS, values, strict=True)) | {"actual": actual, "possible": possible}


def report(overall: dict[str, dict[str, Any]], entities: dict[str, dict[str, Any]], scenario: str) -> str:
    """``summary_report``: every schema overall, or one schema type by type."""
    if scenario == "overall":
        rows = dict(sorted(overall.items()))
    else:
        rows = {label: tally[scenario] for label, tally in entities.items()}
    width = max(len(name) for name in (_HEADERS[0], *rows))
    heads = "".join(f" {name:>11}" for name in (*_HEADERS[:7], "f1-score"))
    title = "all" if scenario == "overall" else scenario
    lines = [f"Scenario: {title}\n\n{'':>{width}} {heads}\n"]
    for name, row in rows.items():
        numbers = [f"{row[kind]:>11}" for kind in _HEADERS[:5]]
        numbers += [f"{row[kind]:>11.{_DIGITS}f}" for kind in _HEADERS[5:]]
        lines.append(f"{name:>{width}}  {' '.join(numbers)}")
    return "\n".join(lines) + "\n"
