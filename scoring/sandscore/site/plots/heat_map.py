"""Every row against every other: how often it is ahead when the patients are drawn again."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.records.board import Board, Pair
from sandscore.site.page_text import percent
from sandscore.site.plots import palette
from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import NARROW, SIZE, WIDE, Canvas, PlotForm
from sandscore.site.plots.svg import Plot, plot
from sandscore.site.row_titles import row_titles

if TYPE_CHECKING:
    from matplotlib.path import Path

SHOWN = 20
ALPHA = 0.05
_SHADES = (0.04, 0.12, 0.21, 0.3, 0.4, 0.5)
_LARGEST, _LEGIBLE, _LOWEST, _TOP, _EDGE, _NUMBER = 40.0, 24.0, 17.0, 26, 8, 28


class HeatCell(Struct, frozen=True):
    """``wins`` is the share of resamples the row is ahead in; ``shade`` −5 … 5 is how blue or orange that is."""

    wins: float
    p: float | None

    @property
    def shade(self) -> int:
        return round((2 * self.wins - 1) * (len(_SHADES) - 1))

    @property
    def apart(self) -> bool:
        """Whether the test tells the two apart."""
        return self.p is not None and self.p <= ALPHA


class HeatMap(Struct, frozen=True):
    """The first rows of the board against each other; None where nothing is known, as on the diagonal."""

    names: Sequence[str]
    cells: Sequence[Sequence[HeatCell | None]]
    left_out: int
    unit: str = "patients"

    @property
    def said(self) -> str:
        """What the cells say."""
        return (
            f"How often the row is ahead of the column, in per cent, when the {self.unit} are drawn again. Blue is "
            f"ahead, orange is behind. {self.frames}"
        )

    @property
    def frames(self) -> str:
        if not any(cell and cell.apart for row in self.cells for cell in row):
            return "The test tells no two of these rows apart, so no cell has a frame."
        return f"A frame: the test tells the two apart (adjusted p at most {ALPHA})."

    @property
    def arrows(self) -> str | None:
        """Of the narrow drawing, where numbers have no room."""
        tells = any(cell and cell.apart for row in self.cells for cell in row)
        return "An arrow in a frame says which way." if tells and self._side(NARROW) < _LEGIBLE else None

    @property
    def limits(self) -> str | None:
        """Which rows are drawn, where it is not all of them."""
        if self.left_out <= 0:
            return None
        return f"The first {len(self.names)} of {len(self.names) + self.left_out} rows; board.json has every pair."

    def _side(self, form: PlotForm) -> float:
        """Of a cell."""
        return min(_LARGEST, (form.width - form.label - _NUMBER - _EDGE) / len(self.names))

    @property
    def plot(self) -> Plot:
        label = (
            f"How often each of {len(self.names)} submissions is ahead of each other; the table below has the numbers"
        )
        return plot(lambda form: _drawn(form, self), "pairs", label, WIDE, NARROW)


def heat_map(board: Board, unit: str = "patients") -> HeatMap | None:
    """None where the board does not say how often one row beats another."""
    titles = row_titles(board.rows)
    rows = [row.submission for row in board.rows[:SHOWN]]
    names = [titles[row].label for row in rows]
    known = pairs_by_name(board)
    cells = [[_cell(known, a, b) for b in rows] for a in rows]
    if not any(cell for row in cells for cell in row):
        return None
    return HeatMap(names, cells, len(board.rows) - len(names), unit)


class HeatSection(BoardPlot):
    """Who beats whom."""

    template = "heatmap.html"
    place = 2

    @staticmethod
    def figure(given: PlottedBoard) -> HeatMap | None:
        return heat_map(given.board, given.said.unit)


def pairs_by_name(board: Board) -> Mapping[tuple[str, str], Pair]:
    return {(pair.a, pair.b): pair for pair in board.pairwise}


def _cell(known: Mapping[tuple[str, str], Pair], a: str, b: str) -> HeatCell | None:
    pair = known.get((a, b)) or known.get((b, a))
    if pair is None or pair.wins is None:
        return None
    return HeatCell(pair.wins if pair.a == a else 1 - pair.wins, pair.adjusted)


def _drawn(form: PlotForm, heat: HeatMap) -> Canvas:
    """Where a cell has no room for its number, an arrow tells ahead from behind."""
    count = len(heat.names)
    label = form.label + _NUMBER
    cell = heat._side(form)
    row = max(_LOWEST, cell)
    canvas = Canvas(form.width, _TOP + row * count + 1)
    axes = canvas.axes(label, _TOP, cell * count, row * count)
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), xticks=[], yticks=[])
    known = [(i, j, one) for i, row in enumerate(heat.cells) for j, one in enumerate(row) if one]
    axes.scatter(
        [j for _, j, _ in known],
        [i for i, _, _ in known],
        s=(row - 3) ** 2,
        marker=_box((cell - 3) / 2, (row - 3) / 2),
        color=[_colour(one) for _, _, one in known],
        edgecolor=[palette.INK if one.apart else (0, 0, 0, 0) for _, _, one in known],
        linewidth=1.25,
        urls=[canvas.key(_said(i, j, one)) if form is WIDE else None for i, j, one in known],
        clip_on=False,
    )
    for at, name in enumerate(heat.names):
        middle = _TOP + row * (at + 0.5)
        canvas.write(20, middle, str(at + 1), ha="right", color=palette.SOFT)
        canvas.name(28, middle, name, form.label - 6)
        if cell >= _LEGIBLE or at == 0 or at % 5 == 4:
            canvas.write(label + cell * (at + 0.5), _TOP - 12, str(at + 1), ha="center", color=palette.SOFT)
    for i, j, one in known:
        _marked(canvas, one, label + cell * (j + 0.5), _TOP + row * (i + 0.5), cell)
    return canvas


def _box(x: float, y: float) -> "Path":
    from matplotlib.path import Path

    return Path([(-x, -y), (x, -y), (x, y), (-x, y), (-x, -y)], closed=True)


def _marked(canvas: Canvas, one: HeatCell, x: float, y: float, cell: float) -> None:
    if cell >= _LEGIBLE:
        canvas.write(x, y, f"{100 * one.wins:.0f}", ha="center", size=SIZE - (1 if cell > 30 else 2))
    elif one.apart:
        canvas.write(x, y, "▲" if one.wins > 0.5 else "▼", ha="center", size=7)


def _colour(one: HeatCell) -> tuple[str, float]:
    return palette.WIN if one.wins >= 0.5 else palette.LOSE, _SHADES[abs(one.shade)]


def _said(row: int, column: int, one: HeatCell) -> str:
    return f"{row + 1} ahead of {column + 1}: {percent(one.wins)}{', told apart' if one.apart else ''}"
