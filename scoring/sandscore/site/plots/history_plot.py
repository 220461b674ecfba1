"""A history drawn: submissions as dots over time, the best score as a line that only gets better.

The best score so far as submissions came in, and where gold, map or harness changed under it.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.ranking.board_exports import lower_is_better
from sandscore.records.board import Board, Row
from sandscore.site.page_text import day, moment, ratio
from sandscore.site.plots import palette
from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import NARROW, WIDE, Canvas, PlotForm, ruled
from sandscore.site.plots.svg import Plot, plot
from sandscore.site.row_titles import row_titles
from sandscore.site.standings import scale_of, score_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Point(Struct, frozen=True):
    """One submission; ``best`` where it led when it came in."""

    row: Row
    label: str
    when: datetime
    score: float
    interval: tuple[float, float] | None
    best: bool


class Rescore(Struct, frozen=True):
    """A change of what is scored against, after the last submission that the older version knew; all were scored
    again."""

    after: datetime
    what: str


class History(Struct, frozen=True):
    """Submissions in the order they came in; ``undated`` counts those without a date or a score."""

    points: Sequence[Point]
    rescores: Sequence[Rescore]
    undated: int

    @property
    def best(self) -> Sequence[Point]:
        return [point for point in self.points if point.best]

    @property
    def said(self) -> str:
        """What is drawn, and what is not."""
        band = " and the band its 95 % interval" if any(point.interval for point in self.best) else ""
        parts = [f"Every dot is a submission; the line is the best score so far{band}."]
        if self.rescores:
            changes = "; ".join(dict.fromkeys(mark.what for mark in self.rescores))
            parts.append(f"A dashed mark ({changes}): what came before it was scored again.")
        if self.undated:
            are = "is" if self.undated == 1 else "are"
            parts.append(f"{self.undated} without a date or a score {are} left out.")
        return " ".join(parts)

    @property
    def plot(self) -> Plot:
        first, last = self.points[0].score, self.best[-1].score
        moved = "fell" if last < first else "rose"
        label = f"The best score {moved} from {ratio(first)} to {ratio(last)} in {len(self.best)} steps"
        return plot(lambda form: _drawn(form, self), "history", label, WIDE, NARROW)


def history(board: Board, earlier: Sequence[Board]) -> History | None:
    """None where fewer than two submissions say when they were made."""
    points = _points(board)
    if len(points) < 2:
        return None
    return History(points, _rescores([*earlier, board]), len(board.rows) - len(points))


class HistorySection(BoardPlot):
    """How the best score moved."""

    template = "history.html"
    place = 4

    @staticmethod
    def figure(given: PlottedBoard) -> History | None:
        return history(given.board, given.earlier)


def _points(board: Board) -> list[Point]:
    points: list[Point] = []
    sign = -1 if lower_is_better(board) else 1
    titles = row_titles(board.rows)
    for row, when in _dated(board):
        score, interval = score_of(board, row)
        if score is not None:
            best = all(sign * score > sign * one.score for one in points if one.best)
            points.append(Point(row, titles[row.submission].label, when, score, interval, best))
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


_HEIGHT, _LEFT, _RIGHT, _BOTTOM = 216, 46, 12, 28
_MARK, _MARK_LINES = 18, 3
_ROOM = 0.04
_MINUTES = 24 * 60
_PARTS = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)
_DAYS = (
    1,
    2,
    7,
    14,
    28,
    91,
    182,
    *(365 * years for scale in (1, 10, 100, 1000) for years in (scale, 2 * scale, 5 * scale)),
)
"""Minutes, and days, from one mark of an axis to the next."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


def _drawn(form: PlotForm, past: History) -> Canvas:
    top = 10 + _MARK * min(len(past.rescores), _MARK_LINES)
    canvas = Canvas(form.width, top + _HEIGHT + _BOTTOM)
    axes = canvas.axes(_LEFT, top, form.width - _LEFT - _RIGHT, _HEIGHT)
    _scale(axes, past.points, form)
    _draw_best(axes, past.best)
    _draw_points(axes, canvas, past.points, told=form is WIDE)
    for at, mark in enumerate(past.rescores):
        _draw_rescore(axes, canvas, mark, top - 10 - _MARK * (at % _MARK_LINES))
    return canvas


def _scale(axes: "Axes", points: Sequence[Point], form: PlotForm) -> None:
    ends = [end for point in points for end in (point.score, *(point.interval or ()))]
    levels = scale_of(ends, *((0.0, 1.0) if all(0 <= end <= 1 for end in ends) else (None, None)))
    ruled(axes, "y", 5)
    first, last = _number(points[0].when), _number(points[-1].when)
    room = (last - first) * _ROOM or 1.0
    axes.set_xlim(max(first - room, _number(_FIRST)), min(last + room, _number(_LAST)))
    ticks = time_ticks(*axes.get_xlim(), form.width // 120)
    axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
    axes.set_ylim(levels.low, levels.high)


def time_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Days, or hours and minutes of days, at most so many."""
    steps = [*(minutes / _MINUTES for minutes in _PARTS), *_DAYS]
    step = next((step for step in steps if (high - low) / step <= most), steps[-1])
    form = "%Y-%m-%d" if step >= 1 else "%m-%d %H:%M"
    numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [(number * step, _moment(number * step).strftime(form)) for number in numbers]


def _moment(number: float) -> datetime:
    return _EPOCH + timedelta(minutes=round(number * _MINUTES))


def _draw_best(axes: "Axes", best: Sequence[Point]) -> None:
    """Each best score and its interval stand until the next."""
    end = axes.get_xlim()[1]
    times = [_number(point.when) for point in best]
    for point, since, until in zip_longest(best, times, times[1:], fillvalue=end):
        if isinstance(point, Point) and point.interval:
            axes.fill_between([since, until], *point.interval, color=palette.BAND, linewidth=0)
    scores = [point.score for point in best]
    axes.step([*times, end], [*scores, scores[-1]], where="post", color=palette.DOT, linewidth=2.5)


def _draw_points(axes: "Axes", canvas: Canvas, points: Sequence[Point], *, told: bool) -> None:
    """Those that led are large and full, the others small and hollow; ``told`` who is which to those who point."""
    for best in (False, True):
        kind = [point for point in points if point.best == best]
        axes.scatter(
            [_number(point.when) for point in kind],
            [point.score for point in kind],
            s=100 if best else 42,
            color=palette.DOT if best else palette.RAISED,
            edgecolor=palette.RAISED if best else palette.SOFT,
            linewidth=1.5,
            urls=[canvas.key(_said(point)) for point in kind] if told else None,
            clip_on=False,
            zorder=3,
        )


def _draw_rescore(axes: "Axes", canvas: Canvas, mark: Rescore, height: float) -> None:
    """A dashed line right after the last submission before the change."""
    low, high = axes.get_xlim()
    share = min(1.0, max(0.0, (_number(mark.after) - low) / (high - low)) + 0.015)
    left = _LEFT + share * (canvas.width - _LEFT - _RIGHT)
    axes.axvline(low + share * (high - low), color=palette.CHANGE, linewidth=1.5, dashes=(4, 3), clip_on=False)
    canvas.write(left + (6 if share < 0.5 else -6), height, mark.what, ha="left" if share < 0.5 else "right")


def _said(point: Point) -> str:
    return f"{point.label}: {ratio(point.score)}, {day(point.row.created)}"


def _number(when: datetime) -> float:
    """Days, as the axis counts them."""
    from matplotlib.dates import date2num

    return float(date2num(when))
