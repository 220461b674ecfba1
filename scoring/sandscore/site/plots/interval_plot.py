"""Scores below each other, each with its interval."""

from collections.abc import Sequence

from sandscore.site.page_text import ratio
from sandscore.site.plots import palette
from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import NARROW, WIDE, Canvas, PlotForm, ruled
from sandscore.site.plots.svg import Plot, plot
from sandscore.site.standings import Line, Scale, scale_over

SHOWN = 25
_ROW, _TOP, _BOTTOM, _VALUE, _EDGE = 26, 4, 26, 56, 16


def interval_plot(rows: Sequence[Line]) -> Plot | None:
    """The first rows of a board; None where nothing has a score."""
    lines = [line for line in rows[:SHOWN] if line.score is not None]
    if not lines:
        return None
    label = f"Scores with 95 % intervals, best first: {ratio(lines[0].score)} to {ratio(lines[-1].score)}"
    scale = scale_over([(line.score, line.interval) for line in lines])
    return plot(lambda form: _drawn(form, lines, scale), "intervals", label, WIDE, NARROW)


class IntervalSection(BoardPlot):
    """How far apart the first rows are."""

    template = "intervals.html"
    place = 1

    @staticmethod
    def figure(given: PlottedBoard) -> Plot | None:
        lines = given.standings.lines
        return interval_plot(lines) if given.standings.drawn and len(given.board.rows) > 1 else None


def _drawn(form: PlotForm, lines: Sequence[Line], scale: Scale) -> Canvas:
    height = _ROW * len(lines)
    canvas = Canvas(form.width, _TOP + height + _BOTTOM)
    left = form.label + _VALUE
    axes = canvas.axes(left, _TOP, form.width - left - _EDGE, height)
    axes.set(xlim=(scale.low, scale.high), ylim=(len(lines) - 0.5, -0.5), yticks=[])
    ruled(axes, "x", form.width // 110)
    if leading := lines[0].interval:
        axes.axvspan(*leading, color=palette.BAND, linewidth=0)
    spans = [(at, *line.interval) for at, line in enumerate(lines) if line.interval]
    axes.hlines(
        [at for at, _, _ in spans],
        [low for _, low, _ in spans],
        [high for _, _, high in spans],
        color=palette.SPAN,
        linewidth=5,
        capstyle="round",
        clip_on=False,
    )
    axes.scatter(
        [line.score or 0 for line in lines],
        range(len(lines)),
        s=81,
        color=palette.DOT,
        edgecolor=palette.RAISED,
        linewidth=1.5,
        urls=[canvas.key(_said(line)) for line in lines],
        clip_on=False,
        zorder=3,
    )
    for at, line in enumerate(lines):
        middle = _TOP + _ROW * (at + 0.5)
        canvas.name(0, middle, line.title.label, form.label - 8)
        canvas.write(form.label + _VALUE - 14, middle, ratio(line.score), ha="right", weight="bold")
    return canvas


def _said(line: Line) -> str:
    ends = f", interval {ratio(line.interval[0])} to {ratio(line.interval[1])}" if line.interval else ""
    return f"{line.title.label}: {ratio(line.score)}{ends}"
