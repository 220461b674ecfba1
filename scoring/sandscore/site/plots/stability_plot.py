"""The plot of each row's places: its rank set, and how often it comes first or among the first."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.records.board import Board, Row
from sandscore.site.page_text import percent, places
from sandscore.site.plots import palette
from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import NARROW, WIDE, Canvas, PlotForm
from sandscore.site.plots.svg import Plot, plot
from sandscore.site.row_titles import row_titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 25
_LARGEST, _STEPS = 9.0, 4
_ROW, _TOP, _BOTTOM = 26, 24, 24
_BLOB = {WIDE: 92, NARROW: 68}
_TOPS = {WIDE: 4, NARROW: 2}


class Podium(Struct, frozen=True):
    """One row, and the shares of resamples in which it is among the first, by "first how many"."""

    row: Row
    label: str
    shares: Sequence[float | None]


class StabilityFigure(Struct, frozen=True):
    """``tops`` heads the shares: among the first how many; ``rows`` counts all the board's."""

    tops: Sequence[int]
    podiums: Sequence[Podium]
    rows: int

    @property
    def last(self) -> int:
        """The last place that one of these rows may hold."""
        rows = [podium.row for podium in self.podiums]
        held = [row.rank for row in rows if row.rank] + [row.rank_set[1] for row in rows if row.rank_set]
        return math.ceil(max(held, default=len(rows)))

    @property
    def headings(self) -> Sequence[str]:
        return ["First" if top == 1 else f"First {top}" for top in self.tops]

    @property
    def said(self) -> str | None:
        """What the circles say."""
        if not self.tops:
            return None
        more = f", or among the first {' or '.join(map(str, self.tops[1:]))}" if self.tops[1:] else ""
        return f"Circles show how often it comes first{more} in the resamples."

    @property
    def left_out(self) -> int:
        return self.rows - len(self.podiums)

    @property
    def limits(self) -> str | None:
        """Which rows are drawn, where it is not all of them."""
        return f"The first {len(self.podiums)} of {self.rows} rows." if self.left_out > 0 else None

    @property
    def plot(self) -> Plot:
        label = "Places that each submission may hold, and how often it comes first; the table below has the numbers"
        return plot(lambda form: _drawn(form, self), "stability", label, WIDE, NARROW)


def stability_of(board: Board) -> StabilityFigure | None:
    """None where the board says nothing of resamples or of places."""
    if board.stability is None or len(board.rows) < 2 or all(row.rank_set is None for row in board.rows):
        return None
    shares, titles = board.stability.p_top, row_titles(board.rows)
    tops = sorted({int(top) for named in shares.values() for top in named})
    tops = [top for top in tops if top < len(board.rows)]
    podiums = []
    for row in board.rows[:SHOWN]:
        told = [shares.get(row.submission, {}).get(str(top)) for top in tops]
        podiums.append(Podium(row, titles[row.submission].label, told))
    return StabilityFigure(tops, podiums, len(board.rows))


class StabilitySection(BoardPlot):
    """Whether it would come out the same again."""

    template = "stability.html"
    place = 3

    @staticmethod
    def figure(given: PlottedBoard) -> StabilityFigure | None:
        return stability_of(given.board)


def _drawn(form: PlotForm, stability: StabilityFigure) -> Canvas:
    height = _ROW * len(stability.podiums)
    canvas = Canvas(form.width, _TOP + height + _BOTTOM)
    headings = stability.headings[: _TOPS[form]]
    right = form.width - _BLOB[form] * len(headings)
    axes = canvas.axes(form.label, _TOP, right - form.label - 14, height)
    last = stability.last
    axes.set(xlim=(0.5, last + 0.5), ylim=(len(stability.podiums) - 0.5, -0.5), yticks=[])
    axes.set_xticks(_ticks(last, form.width // 110))
    axes.grid(True, axis="x", color=palette.RULE, linewidth=1, clip_on=False)
    _draw_places(axes, canvas, stability.podiums)
    canvas.write(form.label, 10, "Places", color=palette.SOFT)
    for at, podium in enumerate(stability.podiums):
        canvas.name(0, _TOP + _ROW * (at + 0.5), podium.label, form.label - 12)
    for column, heading in enumerate(headings):
        left = right + _BLOB[form] * column
        canvas.write(left, 10, heading, color=palette.SOFT)
        _draw_blobs(canvas, left + _LARGEST, [podium.shares[column] for podium in stability.podiums])
    return canvas


def _draw_places(axes: "Axes", canvas: Canvas, podiums: Sequence[Podium]) -> None:
    spans = [(at, *podium.row.rank_set) for at, podium in enumerate(podiums) if podium.row.rank_set]
    axes.hlines(
        [at for at, _, _ in spans],
        [low - 0.4 for _, low, _ in spans],
        [high + 0.4 for _, _, high in spans],
        color=palette.SPAN,
        linewidth=9,
        alpha=0.6,
        clip_on=False,
    )
    ranked = [(at, podium.row, podium.row.rank) for at, podium in enumerate(podiums) if podium.row.rank is not None]
    axes.scatter(
        [rank for _, _, rank in ranked],
        [at for at, _, _ in ranked],
        s=64,
        color=palette.DOT,
        edgecolor=palette.RAISED,
        linewidth=1.5,
        urls=[canvas.key(f"rank {rank:g}, places {places(row.rank_set)}") for _, row, rank in ranked],
        clip_on=False,
        zorder=3,
    )


def _draw_blobs(canvas: Canvas, x: float, shares: Sequence[float | None]) -> None:
    """Circles as large as the shares, in a column, to a quarter of a pixel: a page has many, and few sizes."""
    axes = canvas.axes(x - _LARGEST, _TOP, 2 * _LARGEST, _ROW * len(shares))
    axes.set(xlim=(-1, 1), ylim=(len(shares) - 0.5, -0.5))
    axes.set_axis_off()
    for radius in sorted({found for share in shares if (found := _radius(share))}, reverse=True):
        places = [at for at, share in enumerate(shares) if _radius(share) == radius]
        axes.scatter(
            [0] * len(places),
            places,
            s=(2 * radius) ** 2,
            color=palette.SPAN,
            linewidth=0,
            clip_on=False,
        )
    for at, share in enumerate(shares):
        canvas.write(x + _LARGEST + 5, _TOP + _ROW * (at + 0.5), percent(share))


def _radius(share: float | None) -> float:
    return round(_LARGEST * math.sqrt(share or 0.0) * _STEPS) / _STEPS


def _ticks(last: int, most: int) -> list[int]:
    """The first place, the last, and round ones between that crowd neither."""
    from matplotlib.ticker import MaxNLocator

    between = MaxNLocator(most, integer=True).tick_values(1, last)
    return [1, *(int(tick) for tick in between if 1 + last * 0.1 < tick < last * 0.9), last]
