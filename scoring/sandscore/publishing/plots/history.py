"""The best score so far as submissions came in, and where gold, map or harness changed under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from sandscore.publishing.standings import score_of
from sandscore.publishing.wording import moment
from sandscore.records.board import Board, Row


@dataclass(frozen=True, slots=True)
class Point:
    """One submission; ``best`` where it led when it came in."""

    row: Row
    when: datetime
    score: float
    interval: tuple[float, float] | None
    best: bool


@dataclass(frozen=True, slots=True)
class Rescore:
    """A change of what is scored against, after the last submission that the older version knew; all were scored
    again."""

    after: datetime
    what: str


@dataclass(frozen=True, slots=True)
class History:
    """Submissions in the order they came in; ``undated`` counts those without a date or a score."""

    points: Sequence[Point]
    rescores: Sequence[Rescore]
    undated: int

    @property
    def best(self) -> Sequence[Point]:
        return [point for point in self.points if point.best]


def history(board: Board, earlier: Sequence[Board]) -> History | None:
    """None where fewer than two submissions say when they were made."""
    points = _points(board)
    if len(points) < 2:
        return None
    return History(points, _rescores([*earlier, board]), len(board.rows) - len(points))


def _points(board: Board) -> list[Point]:
    points: list[Point] = []
    for row, when in _dated(board):
        score, interval = score_of(board, row)
        if score is not None:
            points.append(Point(row, when, score, interval, all(score > one.score for one in points if one.best)))
    return points


def _dated(board: Board) -> list[tuple[Row, datetime]]:
    found = [(row, when) for row in board.rows if (when := moment(row.created)) is not None]
    return sorted(found, key=lambda one: one[1])


def _rescores(versions: Sequence[Board]) -> list[Rescore]:
    found = []
    for old, new in pairwise(versions):
        what, dated = _changes(old, new), _dated(old)
        if what and dated:
            found.append(Rescore(dated[-1][1], what))
    return found


def _changes(old: Board, new: Board) -> str:
    changes = []
    if old.gold != new.gold:
        changes.append("new gold")
    if old.sandscore != new.sandscore:
        changes.append(f"sandscore {new.sandscore}")
    return ", ".join(changes)
