"""Precision against recall as the bar for confidence is lowered."""

from collections.abc import Sequence
from dataclasses import dataclass

from sandscore.records.scorecard import ConfidenceCurve

HEIGHT = 240
_TOP, _BOTTOM = 18, 212
_MOST = 150


@dataclass(frozen=True, slots=True)
class CurvePoint:
    confidence: float
    precision: float
    recall: float
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Points from the surest prediction on; a long curve is thinned out evenly."""

    points: Sequence[CurvePoint]
    levels: Sequence[tuple[str, str]]


def curve_plot(confidence: ConfidenceCurve | None) -> CurvePlot | None:
    """None where there is no curve to draw."""
    rows = [row for row in (confidence.curve or ()) if row[1] is not None] if confidence else []
    if len(rows) < 2:
        return None
    step = -(-len(rows) // _MOST)
    kept = [*rows[:-1:step], rows[-1]]
    points = [
        CurvePoint(sure, precision, recall or 0.0, f"{100 * (recall or 0.0):.2f}%", _pixel(precision))
        for sure, precision, recall in kept
        if precision is not None
    ]
    return CurvePlot(points, [(f"{level / 4:g}", _pixel(level / 4)) for level in range(5)])


def _pixel(share: float) -> str:
    return f"{_BOTTOM - (_BOTTOM - _TOP) * share:.1f}"
