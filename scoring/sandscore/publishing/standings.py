"""The rows of a board as its table shows them: score and interval drawn, tie groups apart."""

from collections.abc import Sequence
from dataclasses import dataclass

from sandscore.publishing.columns import Cell, Column
from sandscore.publishing.naming import file_name
from sandscore.publishing.scale import Scale, scale_of
from sandscore.records.board import Board, Row

Scored = tuple[float | None, tuple[float, float] | None]
"""A score, where there is one, and its interval, where it has one."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A score and its interval as places on a drawing; the interval is missing where it is not known."""

    at: str
    low: str | None = None
    high: str | None = None
    width: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One row. ``odd`` alternates from one tie group to the next, ``opens`` marks a group's first row."""

    row: Row
    page: str
    score: float | None
    interval: tuple[float, float] | None
    bar: Bar | None
    cells: list[Cell]
    odd: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Standings:
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
    lines: list[Line] = []
    odd = False
    for row in board.rows:
        opens = not lines or row.group != lines[-1].row.group
        odd = odd != opens
        score, interval = score_of(board, row)
        cells = [column.cell(row) for column in columns]
        lines.append(
            Line(row, file_name(row.submission), score, interval, bar(scale, score, interval), cells, odd, opens)
        )
    return Standings(lines, scale, sum(line.opens for line in lines))


def aggregates(board: Board) -> bool:
    """Whether the board ranks by a score of its own rather than by the headline's F1."""
    return any(row.score is not None for row in board.rows)


def score_of(board: Board, row: Row) -> Scored:
    """What a row is ranked by, and its interval."""
    if aggregates(board):
        return row.score, row.score_ci
    measure = row.measures.get(board.headline)
    return (measure.f1, measure.f1_ci) if measure else (None, None)


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
