"""A plot of a board's page: a class that names its template and its place there, and draws what the board has for it.

The page shows every such class of this package; nothing else lists them.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import ClassVar

from msgspec import Struct

from sandscore.records.board import Board
from sandscore.site.board_sentences import BoardSentences
from sandscore.site.standings import Standings


class PlottedBoard(Struct, frozen=True):
    """What a plot may be drawn of: the board, its standings, what is said of it, and the boards before it."""

    board: Board
    standings: Standings
    said: BoardSentences
    earlier: Sequence[Board]


class BoardPlot:
    """One section of the page. Its template is given what ``figure`` returns under that name.

    A sentence of a section is made from what is drawn there; the template holds none that a board could make false.
    """

    template: ClassVar[str]
    """In templates/plots/."""
    place: ClassVar[int]
    """Plots stand in the order of these."""

    @staticmethod
    def figure(given: PlottedBoard) -> object | None:
        """None where there is nothing to draw: the section is left out."""
        raise NotImplementedError


class PlotSection(Struct, frozen=True):
    """A plot of one board."""

    template: str
    figure: object


def plot_sections(given: PlottedBoard) -> list[PlotSection]:
    """The board's plots in their order, without those that have nothing to show."""
    drawn = ((plot.template, plot.figure(given)) for plot in _board_plots())
    return [PlotSection(f"plots/{template}", figure) for template, figure in drawn if figure is not None]


@cache
def _board_plots() -> list[type[BoardPlot]]:
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    return sorted(BoardPlot.__subclasses__(), key=lambda plot: plot.place)
