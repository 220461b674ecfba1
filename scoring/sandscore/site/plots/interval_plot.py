"""Scores below each other, each with its interval."""

from collections.abc import Sequence

from msgspec import Struct

from sandscore.site.page_text import ratio
from sandscore.site.plots import palette
from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import NARROW, WIDE, Canvas, PlotForm, ruled
from sandscore.site.plots.svg import Plot, plot
from sandscore.site.standings import Line, Scale, scale_of, scale_over

SHOWN = 25
VISIBLE = 24
"""Pixels that the interval of a row that leads has at least, on the wide drawing: what lies too far off is cut away."""
_ROW, _TOP, _BOTTOM, _VALUE, _EDGE = 26, 4, 26, 56, 16


class IntervalFigure(Struct, frozen=True):
    """The first rows that have a score, of so many; ``meaning`` says what stands for what."""

    lines: Sequence[Line]
    rows: int
    meaning: str

    @property
    def scale(self) -> Scale:
        return visible_scale(self.lines)

    @property
    def said(self) -> str:
        """What is drawn, and how many rows lie beyond an edge of it."""
        beyond = [line for line in self.lines if _beyond(line, self.scale)]
        if not beyond:
            return self.meaning
        count = f"{len(beyond)} row{'s' if len(beyond) > 1 else ''}"
        return f"{self.meaning} {count} beyond the edge {'have' if len(beyond) > 1 else 'has'} an arrow for a dot."

    @property
    def limits(self) -> str | None:
        """Which rows are drawn, where it is not all of them."""
        drawn = len(self.lines)
        return f"The first {drawn} of {self.rows} rows; the table above has them all." if self.rows > drawn else None

    @property
    def plot(self) -> Plot:
        first, last = self.lines[0].score, self.lines[-1].score
        label = f"Scores with 95 % intervals, best first: {ratio(first)} to {ratio(last)}"
        return plot(lambda form: _drawn(form, self.lines, self.scale), "intervals", label, WIDE, NARROW)


class IntervalSection(BoardPlot):
    """How far apart the first rows are."""

    template = "intervals.html"
    place = 1

    @staticmethod
    def figure(given: PlottedBoard) -> IntervalFigure | None:
        lines = [line for line in given.standings.lines[:SHOWN] if line.score is not None]
        drawn = given.standings.drawn and lines and len(given.board.rows) > 1
        return IntervalFigure(lines, len(given.board.rows), given.said.drawn) if drawn else None


def visible_scale(lines: Sequence[Line]) -> Scale:
    """Of all scores and intervals, as far as the narrowest interval of those who lead stays visible beside them."""
    whole = scale_over([(line.score, line.interval) for line in lines])
    leading = [line for line in lines if line.row.rank_set is not None and line.row.rank_set[0] == 1]
    widths = [line.interval[1] - line.interval[0] for line in leading if line.interval]
    narrowest = min((width for width in widths if width > 0), default=0.0)
    room = narrowest * (WIDE.width - WIDE.label - _VALUE - _EDGE) / VISIBLE
    if not narrowest or whole.high - whole.low <= room:
        return whole
    ends = [end for line in leading for end in (line.score, *(line.interval or ())) if end is not None]
    first = scale_of(ends, whole.low, whole.high)
    room = max(room, first.high - first.low)
    worse = [line.score for line in lines if line.score is not None and line.score > max(ends)]
    if worse:
        return Scale(first.low, min(whole.high, first.low + room))
    return Scale(max(whole.low, first.high - room), first.high)


def _beyond(line: Line, scale: Scale) -> int:
    """-1 where the score lies before the scale, 1 behind it."""
    score = line.score or 0.0
    return -1 if score < scale.low else int(score > scale.high)


def _drawn(form: PlotForm, lines: Sequence[Line], scale: Scale) -> Canvas:
    height = _ROW * len(lines)
    canvas = Canvas(form.width, _TOP + height + _BOTTOM)
    left = form.label + _VALUE
    axes = canvas.axes(left, _TOP, form.width - left - _EDGE, height)
    axes.set(xlim=(scale.low, scale.high), ylim=(len(lines) - 0.5, -0.5), yticks=[])
    ruled(axes, "x", form.width // 110)
    if leading := lines[0].interval:
        axes.axvspan(*leading, color=palette.BAND, linewidth=0)
    inside = [(at, line) for at, line in enumerate(lines) if not _beyond(line, scale)]
    spans = [
        (at, max(scale.low, line.interval[0]), min(scale.high, line.interval[1]))
        for at, line in enumerate(lines)
        if line.interval and line.interval[1] >= scale.low and line.interval[0] <= scale.high
    ]
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
        [line.score or 0 for _, line in inside],
        [at for at, _ in inside],
        s=81,
        color=palette.DOT,
        edgecolor=palette.RAISED,
        linewidth=1.5,
        urls=[canvas.key(_said(line)) for _, line in inside],
        clip_on=False,
        zorder=3,
    )
    for at, line in enumerate(lines):
        middle = _TOP + _ROW * (at + 0.5)
        canvas.name(0, middle, line.title.label, form.label - 8)
        canvas.write(form.label + _VALUE - 14, middle, ratio(line.score), ha="right", weight="bold")
        if side := _beyond(line, scale):
            edge = left + 1 if side < 0 else form.width - _EDGE - 1
            canvas.write(edge, middle, "◂" if side < 0 else "▸", ha="left" if side < 0 else "right", color=palette.DOT)
    return canvas


def _said(line: Line) -> str:
    ends = f", interval {ratio(line.interval[0])} to {ratio(line.interval[1])}" if line.interval else ""
    return f"{line.title.label}: {ratio(line.score)}{ends}"
