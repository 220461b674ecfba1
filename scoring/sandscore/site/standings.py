"""The rows of a board as its table shows them: score and interval drawn, tie groups apart.

From values to per cents of the width of the small drawings that stand in tables.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sandscore.records.board import Board, Row
from sandscore.site.board_columns import Cell, Column
from sandscore.site.row_titles import RowTitle, row_titles
from sandscore.site.site_folder import file_name

_ROOM = 0.06


class Scale(Struct, frozen=True):
    """The values at the left and at the right end."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """The place of a value, in per cent."""
        return f"{100 * self.share(value):.2f}%"

    def share(self, value: float) -> float:
        """The place of a value, 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def scale_of(values: Iterable[float], least: float | None = 0.0, most: float | None = 1.0) -> Scale:
    """A scale with a little room around the values, inside the bounds."""
    known = list(values)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * _ROOM or 0.05
    low = low - room if least is None else max(least, low - room)
    high = high + room if most is None else min(most, high + room)
    return Scale(low, high if high > low else low + 1.0)


Scored = tuple[float | None, tuple[float, float] | None]
"""A score, where there is one, and its interval, where it has one."""


class Bar(Struct, frozen=True):
    """A score and its interval as places on a drawing; the interval is missing where it is not known."""

    at: str
    low: str | None = None
    high: str | None = None
    width: str | None = None


class Line(Struct, frozen=True):
    """One row. ``odd`` alternates from one tie group to the next, ``opens`` marks a group's first row."""

    row: Row
    title: RowTitle
    page: str
    score: float | None
    interval: tuple[float, float] | None
    bar: Bar | None
    cells: list[Cell]
    odd: bool
    opens: bool


class Standings(Struct, frozen=True):
    """All rows on one scale; ``groups`` counts the tie groups."""

    lines: list[Line]
    scale: Scale
    groups: int

    @property
    def drawn(self) -> bool:
        return any(line.bar for line in self.lines)


def standings_of(board: Board, columns: list[Column]) -> Standings:
    """The rows in the board's order."""
    scale = scale_over([score_of(board, row) for row in board.rows])
    titles = row_titles(board.rows)
    lines: list[Line] = []
    odd = False
    for row in board.rows:
        opens = not lines or row.group != lines[-1].row.group
        odd = odd != opens
        score, interval = score_of(board, row)
        cells = [column.cell(row) for column in columns]
        lines.append(
            Line(
                row,
                titles[row.submission],
                file_name(row.submission),
                score,
                interval,
                bar(scale, score, interval),
                cells,
                odd,
                opens,
            )
        )
    return Standings(lines, scale, sum(line.opens for line in lines))


def aggregates(board: Board) -> bool:
    """Whether the board ranks by a score of its own rather than by the headline's F1."""
    return any(row.score is not None for row in board.rows)


def score_of(board: Board, row: Row) -> Scored:
    """What a row is ranked by, and its interval: where there is one, that which allows for the choice."""
    if aggregates(board):
        return row.score, row.chosen_ci or row.score_ci
    measure = row.measures.get(board.headline)
    return (measure.ranked, row.chosen_ci or measure.ranked_ci) if measure else (None, None)


def scale_over(scored: Sequence[Scored]) -> Scale:
    """A scale that holds all the scores and intervals."""
    values = [value for score, interval in scored for value in (score, *(interval or ())) if value is not None]
    bounds = (None, None) if any(not 0 <= value <= 1 for value in values) else (0.0, 1.0)
    return scale_of(values, *bounds)


def bar(scale: Scale, score: float | None, interval: tuple[float, float] | None) -> Bar | None:
    if score is None:
        return None
    if interval is None:
        return Bar(scale.at(score))
    low, high = interval
    return Bar(scale.at(score), scale.at(low), scale.at(high), f"{100 * (scale.share(high) - scale.share(low)):.2f}%")
