"""The best score so far as submissions came in, and where gold, map or harness changed under it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from sandscore.publishing.plots.scale import Scale, scale_of
from sandscore.publishing.standings import score_of
from sandscore.publishing.wording import moment
from sandscore.records.board import Board, Row

HEIGHT = 260
_TOP, _BOTTOM = 14, 232
_TICKS = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One submission; ``best`` where it led when it came in, ``y`` and the ends of its interval in pixels."""

    row: Row
    score: float
    best: bool
    x: str
    y: str
    low: str | None
    high: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """How long a best score stood; width in per cent, height of its interval in pixels."""

    point: Point
    end: str
    width: str
    band: str | None


@dataclass(frozen=True, slots=True)
class Rescore:
    """A change of what is scored against; what came before was scored again."""

    x: str
    early: bool
    what: str


@dataclass(frozen=True, slots=True)
class History:
    points: Sequence[Point]
    steps: Sequence[Step]
    rescores: Sequence[Rescore]
    days: Sequence[tuple[str, str]]
    levels: Sequence[tuple[str, str]]
    undated: int


@dataclass(frozen=True, slots=True)
class _Dated:
    when: datetime
    row: Row
    score: float
    interval: tuple[float, float] | None


def history(board: Board, earlier: Sequence[Board]) -> History | None:
    """None where fewer than two submissions say when they were made."""
    dated = sorted(_dated(board), key=lambda one: one.when)
    if len(dated) < 2:
        return None
    times = scale_of([one.when.timestamp() for one in dated], None, None)
    ends = [end for one in dated for end in (one.score, *(one.interval or ()))]
    levels = scale_of(ends, *((0.0, 1.0) if all(0 <= end <= 1 for end in ends) else (None, None)))
    points = _points(dated, times, levels)
    return History(
        points,
        _steps(points),
        _rescores([*earlier, board], times),
        _days(times),
        [(f"{tick:g}", _pixel(levels, tick)) for tick in levels.ticks],
        len(board.rows) - len(dated),
    )


def _dated(board: Board) -> list[_Dated]:
    found = []
    for row in board.rows:
        score, interval = score_of(board, row)
        when = moment(row.created)
        if when is not None and score is not None:
            found.append(_Dated(when, row, score, interval))
    return found


def _points(dated: Sequence[_Dated], times: Scale, levels: Scale) -> list[Point]:
    points: list[Point] = []
    best: float | None = None
    for one in dated:
        leads = best is None or one.score > best
        best = one.score if leads else best
        low, high = (_pixel(levels, end) for end in one.interval) if one.interval else (None, None)
        x, y = times.at(one.when.timestamp()), _pixel(levels, one.score)
        points.append(Point(one.row, one.score, leads, x, y, low, high))
    return points


def _steps(points: Sequence[Point]) -> list[Step]:
    best = [point for point in points if point.best]
    steps = []
    for point, following in zip(best, [*best[1:], None], strict=True):
        end = following.x if following else "100.00%"
        width = f"{float(end[:-1]) - float(point.x[:-1]):.2f}%"
        band = f"{float(point.low) - float(point.high):.1f}" if point.low and point.high else None
        steps.append(Step(point, end, width, band))
    return steps


def _rescores(versions: Sequence[Board], times: Scale) -> list[Rescore]:
    """Each stands right after the last submission that the older version knew."""
    found = []
    for old, new in pairwise(versions):
        what = _changes(old, new)
        last = max((one.when for one in _dated(old)), default=None)
        if what and last is not None:
            share = times.share(last.timestamp()) + 0.01
            found.append(Rescore(f"{100 * share:.2f}%", share < 0.3, what))
    return found


def _changes(old: Board, new: Board) -> str:
    changes = []
    if old.gold != new.gold:
        changes.append("new gold")
    if old.sandscore != new.sandscore:
        changes.append(f"sandscore {new.sandscore}")
    return ", ".join(changes)


def _days(times: Scale) -> list[tuple[str, str]]:
    stamps = [times.low + (times.high - times.low) * i / _TICKS for i in range(_TICKS, -1, -1)]
    return list({datetime.fromtimestamp(stamp, UTC).date().isoformat(): times.at(stamp) for stamp in stamps}.items())


def _pixel(levels: Scale, value: float) -> str:
    return f"{_BOTTOM - (_BOTTOM - _TOP) * levels.share(value):.1f}"
