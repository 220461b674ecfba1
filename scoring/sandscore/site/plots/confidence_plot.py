"""Precision against recall as the bar for confidence is lowered."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.records.scorecard import ConfidenceCurve
from sandscore.site.page_text import ratio
from sandscore.site.plots import palette
from sandscore.site.plots.canvas import SMALL, Canvas, PlotForm, ruled
from sandscore.site.plots.svg import Plot, plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 200, 46, 10, 14, 40
_MOST, _MOST_DOTS = 150, 40


class CurvePoint(Struct, frozen=True):
    confidence: float
    precision: float
    recall: float


class Curve(Struct, frozen=True):
    """Points from the surest prediction on; a long curve is thinned out evenly."""

    points: Sequence[CurvePoint]
    best_threshold: float | None

    def plot(self, name: str) -> Plot:
        first, last = self.points[0], self.points[-1]
        label = (
            f"Precision from {ratio(first.precision)} at recall {ratio(first.recall)} "
            f"to {ratio(last.precision)} at recall {ratio(last.recall)}"
        )
        return plot(lambda form: _drawn(form, self), name, label, SMALL)


def curve_of(confidence: ConfidenceCurve | None) -> Curve | None:
    """None where there is no curve to draw."""
    rows = [row for row in (confidence.curve or ()) if row[1] is not None] if confidence else []
    if confidence is None or len(rows) < 2:
        return None
    best = confidence.best_threshold
    step = -(-len(rows) // _MOST)
    kept = [row for at, row in enumerate(rows) if at % step == 0 or at == len(rows) - 1 or row[0] == best]
    return Curve([CurvePoint(sure, precision or 0.0, recall or 0.0) for sure, precision, recall in kept], best)


def _drawn(form: PlotForm, curve: Curve) -> Canvas:
    """Onto axes drawn once: a site may have a curve on every page, and the axes are always the same."""
    from matplotlib.collections import CircleCollection, RegularPolyCollection
    from matplotlib.lines import Line2D

    backdrop, axes = _frame(form)
    canvas = Canvas(backdrop.width, backdrop.height, backdrop)
    places = [(point.recall, point.precision) for point in curve.points]
    line = Line2D(*zip(*places, strict=True), transform=axes.transData, color=palette.DOT, linewidth=2.5)
    canvas.figure.add_artist(line)
    kinds = [
        (CircleCollection((49,)), [p for p in curve.points if p.confidence != curve.best_threshold]),
        (RegularPolyCollection(4, sizes=(220,)), [p for p in curve.points if p.confidence == curve.best_threshold]),
    ]
    shown = kinds if len(curve.points) <= _MOST_DOTS else kinds[1:]
    for marks, points in (kind for kind in shown if kind[1]):
        marks.set(
            offsets=[(p.recall, p.precision) for p in points],
            offset_transform=axes.transData,
            facecolor=palette.DOT,
            edgecolor=palette.RAISED,
            linewidth=1.5,
            urls=[canvas.key(_said(p)) for p in points],
        )
        canvas.figure.add_artist(marks)
    return canvas


@cache
def _frame(form: PlotForm) -> "tuple[Canvas, Axes]":
    canvas = Canvas(form.width, _TOP + _HEIGHT + _BOTTOM)
    axes = canvas.axes(_LEFT, _TOP, form.width - _LEFT - _RIGHT, _HEIGHT)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    ruled(axes, "x", 5)
    ruled(axes, "y", 5)
    canvas.write(form.width - _RIGHT, canvas.height - 8, "recall →", ha="right", color=palette.SOFT)
    canvas.write(0, canvas.height - 8, "↑ precision", color=palette.SOFT)
    return canvas, axes


def _said(point: CurvePoint) -> str:
    precision, recall = ratio(point.precision), ratio(point.recall)
    return f"confidence {point.confidence:g} and above: precision {precision}, recall {recall}"
