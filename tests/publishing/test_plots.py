"""Where things stand on the drawings; places worked out by hand."""

import pytest
from board_samples import QUICK
from hypothesis import given
from hypothesis import strategies as st
from ranking_cards import entry

from sandscore.publishing.plots.confidence import curve_plot
from sandscore.publishing.plots.errors import error_parts
from sandscore.publishing.plots.heatmap import SHOWN, heat_map
from sandscore.publishing.plots.history import history
from sandscore.publishing.plots.scale import Scale, round_step, scale_of
from sandscore.publishing.plots.stability import stability_plot
from sandscore.ranking.board import rank
from sandscore.records.board import Board, Pair
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds


def board(*right: int, created: tuple[str | None, ...] = ()) -> Board:
    """Submissions s0, s1, … with so many of 10 found in each of 20 notes; F1 is 2n / (n + 10)."""
    days = created or (None,) * len(right)
    rows = [[(n, 0, 10 - n)] * 20 for n in right]
    return rank([entry(f"s{i}", rows[i], created=day) for i, day in enumerate(days)], QUICK)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0.87, 0.94, [0.88, 0.9, 0.92, 0.94]),
        (1.0, 500.0, [100.0, 200.0, 300.0, 400.0, 500.0]),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert Scale(low, high).ticks == ticks


@given(st.floats(1e-9, 1e9), st.floats(-1e6, 1e6))
def test_a_scale_has_a_handful_of_ticks(width: float, low: float) -> None:
    scale = Scale(low, low + max(width, abs(low) * 1e-6))
    assert 2 <= len(scale.ticks) <= 8


def test_round_step() -> None:
    assert [round_step(rough) for rough in (0.013, 0.02, 0.3, 7)] == [0.02, 0.02, 0.5, 10]


def test_a_scale_stays_in_its_bounds_and_is_never_empty() -> None:
    assert scale_of([0.0, 1.0]) == Scale(0.0, 1.0)
    assert scale_of([]) == Scale(0.0, 1.0)
    alone = scale_of([0.5])
    assert alone.low < 0.5 < alone.high
    assert Scale(0, 4).at(1) == "25.00%"
    assert Scale(0, 4).at(9) == "100.00%"


def test_error_parts_fill_the_bar() -> None:
    parts = error_parts(60, ErrorKinds(missed=20, spurious=10, boundary=10, wrong_label=10))
    assert [(part.kind, part.count, part.x, part.width) for part in parts] == [
        ("right", 50, "0.00%", "50.00%"),
        ("label", 10, "50.00%", "10.00%"),
        ("boundary", 10, "60.00%", "10.00%"),
        ("missed", 20, "70.00%", "20.00%"),
        ("spurious", 10, "90.00%", "10.00%"),
    ]
    assert error_parts(0, ErrorKinds(missed=0, spurious=0, boundary=0, wrong_label=0))[0].width == "0.00%"


def test_heat_map_mirrors_every_pair() -> None:
    pairs = (Pair(a="s1", b="s0", delta=0.1, p=0.01, p_holm=0.02, wins=0.9),)
    made = heat_map(board(5, 8).model_copy(update={"pairwise": pairs}))
    assert made is not None
    assert list(made.names) == ["s1", "s0"]
    (none, ahead), (behind, _) = made.cells
    assert none is None
    assert ahead is not None
    assert behind is not None
    assert (ahead.wins, ahead.shade, ahead.apart) == (0.9, 4, True)
    assert (round(behind.wins, 9), behind.shade, behind.apart) == (0.1, -4, True)


def test_a_long_board_draws_its_first_rows() -> None:
    long = board(*range(1, 8))
    rows = tuple(row.model_copy(update={"submission": f"r{i}"}) for i in range(5) for row in long.rows)
    pairs = (Pair(a="r0", b="r1", delta=0.1, p=0.5, p_holm=0.5, wins=0.7),)
    made = heat_map(long.model_copy(update={"rows": rows, "pairwise": pairs}))
    assert made is not None
    assert len(made.names) == SHOWN
    assert made.left_out == len(rows) - SHOWN


def test_nothing_is_drawn_of_a_board_that_says_nothing() -> None:
    silent = board(5, 8).model_copy(update={"pairwise": (), "stability": None})
    assert heat_map(silent) is None
    assert stability_plot(silent) is None
    assert history(silent, []) is None


def test_stability_bars_span_the_places() -> None:
    made = stability_plot(board(2, 9))
    assert made is not None
    first, last = made.podiums
    assert (first.low, first.high, first.at) == ("5.00%", "45.00%", "25.00%")
    assert (last.low, last.high, last.at) == ("55.00%", "95.00%", "75.00%")
    assert list(made.tops) == [1]
    assert [podium.blobs[0].radius for podium in made.podiums if podium.blobs[0]] == ["11.00", "0.00"]
    assert list(made.ticks) == [("1", "25.00%"), ("2", "75.00%")]


def test_history_steps_up_when_a_better_one_comes() -> None:
    days = ("2026-01-01", "2026-01-21", "2026-01-11", "no day", "2026-01-31T12:00:00+02:00")
    made = history(board(5, 8, 4, 9, 7, created=days), [])
    assert made is not None
    assert [point.row.submission for point in made.points] == ["s0", "s2", "s1", "s4"]
    assert [point.best for point in made.points] == [True, False, True, False]
    assert [step.point.row.submission for step in made.steps] == ["s0", "s1"]
    assert made.steps[0].end == made.steps[1].point.x
    assert made.steps[1].end == "100.00%"
    assert made.undated == 1
    assert made.rescores == []


def test_history_marks_a_change_of_harness() -> None:
    days = ("2026-01-01", "2026-01-21")
    now = board(5, 8, created=days)
    before = now.model_copy(update={"sandscore": "0.0.9", "rows": now.rows[-1:]})
    made = history(now, [before])
    assert made is not None
    (mark,) = made.rescores
    assert mark.what == f"sandscore {now.sandscore}"
    assert float(made.points[0].x[:-1]) < float(mark.x[:-1]) < float(made.points[1].x[:-1])


def test_a_curve_is_thinned_but_keeps_both_ends() -> None:
    rows: list[tuple[float, float | None, float | None]] = [(1000 - i, 0.9, i / 1000) for i in range(1000)]
    made = curve_plot(ConfidenceCurve(average_precision=0.9, best_threshold=1.0, curve=rows))
    assert made is not None
    assert len(made.points) <= 151
    assert (made.points[0].recall, made.points[-1].recall) == (0.0, 0.999)
    assert curve_plot(ConfidenceCurve(reason="none")) is None
    assert curve_plot(None) is None
