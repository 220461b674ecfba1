"""Where every mark and word of a drawing stands, in pixels: ``heat_map``, ``history_plot``, ``interval_plot``,
``stability_plot``, ``error_plot``, ``confidence_plot``, ``plot_library``, ``canvas``, ``board_plot``, ``svg``.

The numbers are added up by hand from the room that a drawing gives its rows (26 pixels), names, numbers and edges.
"""

import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from board_samples import QUICK
from msgspec.structs import replace
from ranking_cards import entry

from sandscore.ranking.board_building import rank
from sandscore.records.board import Board, Row
from sandscore.records.scorecard import ErrorKinds
from sandscore.site import share_kit
from sandscore.site.lead_strip import lead_strip
from sandscore.site.plots import (
    confidence_plot,
    error_plot,
    heat_map,
    history_plot,
    interval_plot,
    palette,
    plot_library,
    stability_plot,
)
from sandscore.site.plots.canvas import NARROW, SMALL, WIDE, Canvas, fitted, ruled
from sandscore.site.plots.confidence_plot import Curve, CurvePoint
from sandscore.site.plots.error_plot import error_profile
from sandscore.site.plots.heat_map import HeatCell, HeatMap
from sandscore.site.plots.history_plot import History, Point, Rescore, time_ticks
from sandscore.site.plots.stability_plot import Podium, StabilityFigure
from sandscore.site.standings import Scale, standings_of

Word = tuple[str, Any, Any, str, float]


def figure(canvas: Canvas) -> Any:
    """The library's own, whose parts the types tell little of."""
    return canvas.figure


def words(canvas: Canvas) -> list[Word]:
    """What is written, its place in pixels, on which side of it, and how large."""
    found = []
    for text in figure(canvas).texts:
        x, y = text.get_position()
        said = canvas.words[text.get_text()]
        place = round(x * canvas.width, 6), round((1 - y) * canvas.height - 1, 6)
        found.append((said, *place, str(text.get_ha()), float(text.get_size())))
    return found


def boxes(canvas: Canvas) -> list[tuple[float, ...]]:
    """Left, top, width and height of all axes."""
    found = []
    for axes in figure(canvas).axes:
        box = axes.get_position()
        left, top = box.x0 * canvas.width, (1 - box.y1) * canvas.height
        found.append(tuple(round(n, 6) for n in (left, top, box.width * canvas.width, box.height * canvas.height)))
    return found


def scattered(canvas: Canvas, at: int = 0) -> list[Any]:
    """The marks of some axes."""
    return [one for one in figure(canvas).axes[at].collections if type(one).__name__ == "PathCollection"]


def lined(canvas: Canvas, at: int = 0) -> list[list[list[float]]]:
    """The lines of some axes, each from one point to another."""
    (lines,) = (one for one in figure(canvas).axes[at].collections if type(one).__name__ == "LineCollection")
    return [[[round(float(n), 6) for n in point] for point in segment] for segment in lines.get_segments()]


def rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))


def board(*right: int) -> Board:
    """Submissions s0, s1, … with so many of 10 found in each of 20 notes."""
    return rank([entry(f"s{i}", [(n, 0, 10 - n)] * 20) for i, n in enumerate(right)], QUICK)


def cells(count: int, *known: tuple[int, int, HeatCell]) -> HeatMap:
    rows: list[list[HeatCell | None]] = [[None] * count for _ in range(count)]
    for i, j, cell in known:
        rows[i][j] = cell
    return HeatMap([f"n{i}" for i in range(count)], rows, 0)


def test_a_small_heat_map_has_large_cells_with_numbers() -> None:
    drawn = heat_map._drawn(WIDE, cells(2, (0, 1, HeatCell(0.904, 0.01)), (1, 0, HeatCell(0.096, 0.2))))
    assert (drawn.width, drawn.height) == (736, 26 + 2 * 40 + 1)
    assert boxes(drawn) == [(228, 26, 80, 80)]
    size = 12.5
    assert words(drawn) == [
        ("1", 20, 46, "right", size), ("n0", 28, 46, "left", size), ("1", 248, 14, "center", size),
        ("2", 20, 86, "right", size), ("n1", 28, 86, "left", size), ("2", 288, 14, "center", size),
        ("90", 288, 46, "center", 11.5), ("10", 248, 86, "center", 11.5),
    ]  # fmt: skip
    (marks,) = scattered(drawn)
    assert marks.get_offsets().tolist() == [[1, 0], [0, 1]]
    assert marks.get_sizes().tolist() == [37**2]
    corners = marks.get_paths()[0].vertices
    assert corners.min(axis=0).tolist() == pytest.approx([-0.5, -0.5])
    assert corners.max(axis=0).tolist() == pytest.approx([0.5, 0.5])
    assert marks.get_edgecolor()[:, 3].tolist() == [1, 0], "only what a test tells apart has a border"
    assert marks.get_linewidth().tolist() == [1.25]
    assert marks.get_facecolor()[:, 3].tolist() == [0.4, 0.4]
    assert [drawn.words[url] for url in marks.get_urls()] == [
        "1 ahead of 2: 90 %, told apart", "2 ahead of 1: 10 %"
    ]  # fmt: skip


def test_a_heat_map_of_medium_cells_has_smaller_numbers() -> None:
    drawn = heat_map._drawn(NARROW, cells(8, (0, 7, HeatCell(0.5, None))))
    cell = (343 - 132 - 8) / 8
    assert boxes(drawn) == [(132, 26, 8 * cell, 8 * cell)]
    assert words(drawn)[-1] == ("50", pytest.approx(132 + 7.5 * cell), pytest.approx(26 + cell / 2), "center", 10.5)
    assert len(words(drawn)) == 3 * 8 + 1
    (marks,) = scattered(drawn)
    assert marks.get_urls() == [None]


def test_a_heat_map_of_small_cells_has_arrows_and_every_fifth_number() -> None:
    known = [(0, 1, HeatCell(0.99, 0.001)), (1, 0, HeatCell(0.01, 0.001)), (2, 3, HeatCell(0.6, 0.051))]
    drawn = heat_map._drawn(NARROW, cells(20, *known))
    cell = (343 - 132 - 8) / 20
    assert drawn.height == 26 + 20 * 17 + 1
    assert [(said, x) for said, x, y, _, _ in words(drawn) if y == 14] == [
        (str(n), pytest.approx(132 + cell * (n - 0.5))) for n in (1, 5, 10, 15, 20)
    ]
    assert [(said, y, size) for said, _, y, _, size in words(drawn)[-2:]] == [("▲", 34.5, 7), ("▼", 51.5, 7)]
    assert HeatCell(0.6, 0.05).apart
    (marks,) = scattered(drawn)
    corners = marks.get_paths()[0].vertices
    assert corners.max(axis=0)[0] / corners.max(axis=0)[1] == pytest.approx((cell - 3) / (17 - 3))
    assert marks.get_facecolor()[:, 3].tolist() == [0.5, 0.5, 0.12]


DAY = datetime(2026, 1, 1, tzinfo=UTC)


def point(row: Row, days: float, score: float, best: bool) -> Point:
    return Point(row, row.submission, DAY + timedelta(days=days), score, (score - 0.1, score + 0.1), best)


def past(*marks: float) -> History:
    rows = board(5, 8).rows
    points = [point(rows[1], 0, 0.4, True), point(rows[1], 4, 0.3, False), point(rows[0], 10, 0.6, True)]
    return History(points, [Rescore(DAY + timedelta(days=at), f"m{at}") for at in marks], 0)


def test_a_history_without_changes() -> None:
    drawn = history_plot._drawn(WIDE, past())
    assert drawn.height == 10 + 216 + 28
    assert boxes(drawn) == [(46, 10, 736 - 46 - 12, 216)]
    (axes,) = figure(drawn).axes
    first = history_plot._number(DAY)
    assert axes.get_xlim() == pytest.approx((first - 0.4, first + 10.4))
    others, led = scattered(drawn)
    assert led.get_offsets().tolist() == [[first, 0.4], [first + 10, 0.6]]
    assert others.get_offsets().tolist() == [[first + 4, 0.3]]
    assert (led.get_sizes().tolist(), others.get_sizes().tolist()) == ([100], [42])
    assert [drawn.words[url].partition(",")[0] for url in led.get_urls()] == ["s0: 0.400", "s1: 0.600"]
    for marks, inside, edge in ((led, palette.DOT, palette.RAISED), (others, palette.RAISED, palette.SOFT)):
        assert marks.get_facecolor()[0, :3].tolist() == pytest.approx(rgb(inside))
        assert marks.get_edgecolor()[0, :3].tolist() == pytest.approx(rgb(edge))
    (steps,) = axes.lines
    assert steps.get_xdata() == pytest.approx([first, first + 10, first + 10.4])
    assert list(steps.get_ydata()) == [0.4, 0.6, 0.6]
    bands = [one.get_paths()[0].vertices for one in axes.collections if type(one).__name__.startswith(("Fill", "Poly"))]
    spans = [(band[:, 0].min() - first, band[:, 0].max() - first, band[:, 1].min(), band[:, 1].max()) for band in bands]
    assert spans == [pytest.approx((0, 10, 0.3, 0.5)), pytest.approx((10, 10.4, 0.5, 0.7))]
    assert words(drawn) == []


def test_changes_are_written_above_each_other_in_three_lines() -> None:
    drawn = history_plot._drawn(NARROW, past(0, 4, 10, 10))
    wide = 343 - 46 - 12
    assert boxes(drawn) == [(46, 10 + 3 * 18, wide, 216)]
    shares = [(at + 0.4) / 10.8 + 0.015 for at in (0, 4, 10, 10)]
    assert words(drawn) == [
        ("m0", pytest.approx(46 + shares[0] * wide + 6, abs=1e-4), 54, "left", 12.5),
        ("m4", pytest.approx(46 + shares[1] * wide + 6, abs=1e-4), 36, "left", 12.5),
        ("m10", pytest.approx(46 + shares[2] * wide - 6, abs=1e-4), 18, "right", 12.5),
        ("m10", pytest.approx(46 + shares[3] * wide - 6, abs=1e-4), 54, "right", 12.5),
    ]
    others, led = scattered(drawn)
    assert (led.get_urls(), others.get_urls()) == ([None], [None])
    first = history_plot._number(DAY)
    lines = [line.get_xdata()[0] - first + 0.4 for line in figure(drawn).axes[0].lines[1:]]
    assert lines == pytest.approx([10.8 * share for share in shares], abs=1e-4)


def test_a_change_after_everything_stays_inside() -> None:
    drawn = history_plot._drawn(WIDE, past(99))
    assert words(drawn) == [("m99", 736 - 12 - 6, 18, "right", 12.5)]


@pytest.mark.parametrize(
    ("span", "most", "texts"),
    [
        (timedelta(days=10), 6, ["2026-03-02", "2026-03-04", "2026-03-06", "2026-03-08", "2026-03-10"]),
        (timedelta(hours=9), 6, ["03-01 02:00", "03-01 04:00", "03-01 06:00", "03-01 08:00"]),
        (timedelta(seconds=40), 3, ["03-01 00:30"]),
        (timedelta(days=900), 3, ["2026-12-18", "2027-12-18"]),
    ],
)
def test_an_axis_of_time_names_days_or_hours(span: timedelta, most: int, texts: list[str]) -> None:
    """From 2026-03-01 00:30 on; steps of days are counted from 1970-01-01."""
    low = history_plot._number(datetime(2026, 3, 1, 0, 30, tzinfo=UTC))
    assert [text for _, text in time_ticks(low, low + span.total_seconds() / 86400, most)] == texts


def test_intervals_below_each_other() -> None:
    lines = standings_of(board(9, 6), []).lines
    drawn = interval_plot._drawn(WIDE, lines, Scale(0.0, 2.0))
    assert (drawn.width, drawn.height) == (736, 4 + 2 * 26 + 26)
    assert boxes(drawn) == [(256, 4, 736 - 256 - 16, 52)]
    assert words(drawn) == [
        ("team s0", 0, 17, "left", 12.5), ("0.947", 242, 17, "right", 12.5),
        ("team s1", 0, 43, "left", 12.5), ("0.750", 242, 43, "right", 12.5),
    ]  # fmt: skip
    (axes,) = figure(drawn).axes
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 2), (1.5, -0.5))
    (dots,) = scattered(drawn)
    assert dots.get_offsets().tolist() == [[pytest.approx(18 / 19), 0], [0.75, 1]]
    assert dots.get_sizes().tolist() == [81]
    assert lined(drawn) == [[[round(18 / 19, 6), 0], [round(18 / 19, 6), 0]], [[0.75, 1], [0.75, 1]]]
    assert [drawn.words[url] for url in dots.get_urls()] == [
        "team s0: 0.947, interval 0.947 to 0.947", "team s1: 0.750, interval 0.750 to 0.750"
    ]  # fmt: skip
    (band,) = axes.patches
    assert band.get_facecolor()[:3] == pytest.approx(rgb(palette.BAND))
    assert boxes(interval_plot._drawn(NARROW, lines, Scale(0.0, 2.0))) == [(160, 4, 343 - 160 - 16, 52)]


def test_a_scale_is_cut_where_the_leaders_interval_would_vanish() -> None:
    """464 pixels for scores: 24 of them are at least the interval of a row that leads, here 0.01 wide, and so the scale
    spans 0.01 · 464 / 24 = 0.193 at most; the row at 0.2 lies beyond it. Turned round where less is better."""
    first, second = standings_of(board(9, 6), []).lines
    rows = [
        replace(first, row=first.row.model_copy(update={"rank_set": (1, 1)}), score=0.9, interval=(0.895, 0.905)),
        replace(second, row=second.row.model_copy(update={"rank_set": (2, 2)}), score=0.2, interval=(0.15, 0.25)),
    ]
    scale = interval_plot.visible_scale(rows)
    assert scale.high == pytest.approx(0.905 + 0.06 * 0.01)
    assert scale.high - scale.low == pytest.approx(0.01 * 464 / 24)
    drawn = interval_plot._drawn(WIDE, rows, scale)
    assert [word for word in words(drawn) if word[0] == "◂"] == [("◂", 257, 43, "left", 12.5)]
    assert scattered(drawn)[0].get_offsets().tolist() == [[0.9, 0]]
    assert len(lined(drawn)) == 1
    figure_ = interval_plot.IntervalFigure(rows, 2, "Dots.")
    assert figure_.said == "Dots. 1 row beyond the edge has an arrow for a dot."
    turned = [replace(line, score=1 - (line.score or 0), interval=None) for line in rows]
    turned[0] = replace(turned[0], interval=(0.095, 0.105))
    lower = interval_plot.visible_scale(turned)
    assert [lower.low, lower.high] == pytest.approx([0.0944, 0.0944 + 0.01 * 464 / 24])
    assert interval_plot.visible_scale([replace(rows[0], interval=None), rows[1]]).low == pytest.approx(0.105)


def test_places_and_blobs() -> None:
    first, second = board(9, 6).rows
    made = StabilityFigure(
        [1, 3, 5],
        [
            Podium(first.model_copy(update={"rank": 1, "rank_set": (1, 2)}), "s0", [0.25, 1.0, None]),
            Podium(second.model_copy(update={"rank": 2.5, "rank_set": (2, 4)}), "s1", [0.0, 0.5, 1.0]),
        ],
        7,
    )
    assert (made.last, made.left_out, list(made.headings)) == (4, 5, ["First", "First 3", "First 5"])
    drawn = stability_plot._drawn(NARROW, made)
    right = 343 - 2 * 68
    assert drawn.height == 24 + 52 + 24
    assert boxes(drawn) == [(104, 24, right - 104 - 14, 52), (right, 24, 18, 52), (right + 68, 24, 18, 52)]
    assert words(drawn) == [
        ("Places", 104, 10, "left", 12.5), ("s0", 0, 37, "left", 12.5), ("s1", 0, 63, "left", 12.5),
        ("First", right, 10, "left", 12.5), ("25 %", right + 23, 37, "left", 12.5),
        ("0 %", right + 23, 63, "left", 12.5),
        ("First 3", right + 68, 10, "left", 12.5), ("100 %", right + 91, 37, "left", 12.5),
        ("50 %", right + 91, 63, "left", 12.5),
    ]  # fmt: skip
    axes = figure(drawn).axes[0]
    assert (axes.get_xlim(), axes.get_ylim()) == ((0.5, 4.5), (1.5, -0.5))
    assert lined(drawn) == [[[0.6, 0], [2.4, 0]], [[1.6, 1], [4.4, 1]]]
    (dots,) = scattered(drawn)
    assert dots.get_offsets().tolist() == [[1, 0], [2.5, 1]]
    assert dots.get_sizes().tolist() == [64]
    assert [drawn.words[url] for url in dots.get_urls()] == ["rank 1, places 1–2", "rank 2.5, places 2–4"]
    (one,), three = scattered(drawn, 1), scattered(drawn, 2)
    assert one.get_sizes().tolist() == pytest.approx([324 / 4])
    assert [dots.get_sizes().tolist() for dots in three] == [[324], [12.5**2]], "9 √½ is 6.36, to a quarter 6.25"
    assert len(boxes(stability_plot._drawn(WIDE, made))) == 1 + 3


@pytest.mark.parametrize(
    ("last", "most", "ticks"),
    [(2, 6, [1, 2]), (10, 6, [1, 4, 6, 8, 10]), (25, 6, [1, 4, 8, 12, 16, 20, 25]), (25, 3, [1, 8, 16, 25])],
)
def test_round_places_crowd_neither_end(last: int, most: int, ticks: list[int]) -> None:
    """Nothing between the first tenth of all places and the last."""
    assert stability_plot._ticks(last, most) == ticks


def test_errors_are_bars_between_their_names_and_numbers() -> None:
    made = error_profile(9, ErrorKinds(missed=4, spurious=1, boundary=2, wrong_label=0))
    drawn = error_plot._drawn(SMALL, made.wrong)
    assert (drawn.width, drawn.height) == (343, 4 * 24)
    room = 343 - 84 - 52
    assert words(drawn) == [
        ("0", 84 + 6, 12, "left", 12.5),
        ("2", 84 + room / 2 + 6, 36, "left", 12.5),
        ("4", 84 + room + 6, 60, "left", 12.5),
        ("1", 84 + room / 4 + 6, 84, "left", 12.5),
    ]
    bars = [
        (
            bar.get_x() * 343,
            (1 - bar.get_y() - bar.get_height()) * 96,
            bar.get_width() * 343,
            bar.get_height() * 96,
        )
        for bar in figure(drawn).artists
    ]
    for at, (bar, share) in enumerate(zip(bars, (0, 0.5, 1, 0.25), strict=True)):
        assert bar == pytest.approx((84, 24 * at + 12 - 8, room * share, 16))
    assert drawn.backdrop is not None
    assert words(drawn.backdrop) == [
        (title, 76, 12 + 24 * at, "right", 12.5)
        for at, title in enumerate(("wrong label", "boundary", "missed", "spurious"))
    ]


def curve(count: int) -> Curve:
    points = [CurvePoint(100 - at, 1 - at / 100, at / 100) for at in range(count)]
    return Curve(points, best_threshold=99)


def test_a_curve_of_few_points_marks_each() -> None:
    drawn = confidence_plot._drawn(SMALL, curve(40))
    assert drawn.backdrop is not None
    assert (drawn.width, drawn.height) == (343, 10 + 200 + 40)
    assert boxes(drawn.backdrop) == [(46, 10, 343 - 46 - 14, 200)]
    assert words(drawn.backdrop) == [("recall →", 329, 242, "right", 12.5), ("↑ precision", 0, 242, "left", 12.5)]
    dots, best = (one for one in figure(drawn).get_children() if hasattr(one, "get_offsets"))
    assert (len(dots.get_offsets()), best.get_offsets().tolist()) == (39, [[0.01, 0.99]])
    assert (dots.get_sizes().tolist(), best.get_sizes().tolist()) == ([49], [220])
    assert best.get_numsides() == 4
    assert [drawn.words[url] for url in best.get_urls()] == ["confidence 99 and above: precision 0.990, recall 0.010"]


def test_a_curve_of_many_points_marks_the_best() -> None:
    drawn = confidence_plot._drawn(SMALL, curve(41))
    (best,) = (one for one in figure(drawn).get_children() if hasattr(one, "get_offsets"))
    assert len(best.get_offsets()) == 1
    (line,) = (one for one in figure(drawn).get_children() if hasattr(one, "get_xdata"))
    assert (line.get_xdata()[0], line.get_ydata()[0], len(line.get_xdata())) == (0, 1, 41)


def test_a_name_of_the_same_width_as_its_room_is_whole() -> None:
    """A digit of the font is 1303 of 2048 units wide, an ellipsis 2048."""
    digit = 1303 / 2048 * 10
    assert fitted("0000", 4 * digit + 0.01, 10) == "0000"
    assert fitted("0000", 4 * digit - 0.01, 10) == "00…"
    assert fitted("0000", 2 * digit + 10.01, 10) == "00…"
    assert fitted("0000", 2 * digit + 9.99, 10) == "0…"


def test_marks_of_axes_are_a_little_smaller_than_words() -> None:
    shown = figure(confidence_plot._drawn(SMALL, curve(2)).backdrop or Canvas(1, 1)).axes[0].xaxis.get_tick_params()
    assert (shown["labelsize"], shown["labelcolor"], shown["pad"], shown["bottom"]) == (12.0, palette.SOFT, 5, False)


def test_the_library_is_brought_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brought: list[int] = []
    library = sys.modules["matplotlib"]

    def bring_in() -> None:
        brought.append(1)
        sys.modules["matplotlib"] = library

    monkeypatch.setattr(plot_library, "_bring_in", bring_in)
    there = plot_library._settings.__wrapped__()
    assert brought == []
    monkeypatch.delitem(sys.modules, "matplotlib")
    assert plot_library._settings.__wrapped__() == there
    assert brought == [1]


def test_rules_are_as_fine_as_one_pixel() -> None:
    axes: Any = Canvas(400, 200).axes(0, 0, 400, 200)
    ruled(axes, "x", 4)
    assert {line.get_linewidth() for line in axes.get_xgridlines()} == {1.0}
    assert {line.get_visible() for line in axes.get_xgridlines()} == {True}
    assert len(axes.get_xticks()) <= 5


def test_the_preview_draws_a_row_without_a_frame() -> None:
    """Of three sides nothing is seen; the fourth is the scale."""
    board = rank([entry(name, [(4, 0, at)] * 9) for at, name in enumerate("abc")])
    axes: Any = Canvas(400, 200).axes(0, 0, 400, 200)
    strip = lead_strip(standings_of(board, []).lines, board.rows)
    assert strip is not None
    share_kit._draw(axes, strip)
    assert {side for side, spine in axes.spines.items() if spine.get_visible()} == {"bottom"}
