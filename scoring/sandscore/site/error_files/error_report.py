"""The content of the error files, as values."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

OUTSIDE = "O"


class ErrorRow(Struct, frozen=True):
    """One line of a table: what went wrong with which span of which note.

    ``annotation`` is the gold type and ``prediction`` the predicted one, ``O`` where there is none.
    """

    error_type: str
    annotation: str
    prediction: str
    token: str
    full_text: str
    sample_id: str
    explanation: str
    start: int
    end: int


class ErrorRatios(Struct, frozen=True):
    """Precision and recall; None where undefined."""

    precision: float | None
    recall: float | None


class Discarded(Struct, frozen=True):
    """A note that was left out, and why."""

    note: str
    reason: str


class EntityAlignment(Struct, frozen=True):
    """What became of foreign types: notes left out, and types that the map does not know with their number."""

    discarded: tuple[Discarded, ...] = ()
    unmapped: Mapping[str, int] | None = None


class ErrorReport(Struct, frozen=True):
    """All that the error files say about one submission.

    ``labels`` and ``matrix`` are the confusion matrix, rows gold, columns predicted, ``O`` last.
    ``config`` names how the spans were compared.
    """

    overall: ErrorRatios
    f_score: float | None
    per_type: Mapping[str, ErrorRatios]
    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]
    false_positives: Sequence[ErrorRow]
    false_negatives: Sequence[ErrorRow]
    samples: int
    entities: int
    config: Mapping[str, Any]
    alignment: EntityAlignment = EntityAlignment()
    created: str | None = None


def metrics(report: ErrorReport) -> dict[str, Any]:
    """The structure of ``metrics.json``."""
    overall, per_type, alignment = report.overall, report.per_type, report.alignment
    return {
        "precision": overall.precision,
        "recall": overall.recall,
        "f1_score": report.f_score,
        "details": {
            "pii_precision": overall.precision,
            "pii_recall": overall.recall,
            "pii_f1_score": report.f_score,
            "entity_precision_dict": {name: ratios.precision for name, ratios in per_type.items()},
            "entity_recall_dict": {name: ratios.recall for name, ratios in per_type.items()},
            "total_samples": report.samples + len(alignment.discarded),
            "total_entities": report.entities,
            "samples_evaluated": report.samples,
            "samples_discarded": len(alignment.discarded),
            "discarded": [{"note": one.note, "reason": one.reason} for one in alignment.discarded],
            "unmapped_types": dict(alignment.unmapped or {}),
            "timestamp": report.created,
            "config": dict(report.config),
        },
    }
