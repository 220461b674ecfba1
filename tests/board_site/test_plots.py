"""What the drawings draw, and how long and where; worked out by hand."""

import re

import pytest
from board_samples import QUICK
from ranking_cards import entry

from sandscore.ranking.board_building import rank
from sandscore.records.board import Board, Pair
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds
from sandscore.site.plots.confidence_plot import curve_of
from sandscore.site.plots.error_plot import error_profile
from sandscore.site.plots.heat_map import SHOWN, heat_map
from sandscore.site.plots.history_plot import history
from sandscore.site.plots.stability_plot import stability_of
from sandscore.site.standings import Scale, scale_of


def board(*right: int, created: tuple[str | None, ...] = ()) -> Board:
    """Submissions s0, s1, … with so many of 10 found in each of 20 notes; F1 is 2n / (n + 10)."""
    days = created or (None,) * len(right)
    rows = [[(n, 0, 10 - n)] * 20 for n in right]
    return rank([entry(f"s{i}", rows[i], created=day) for i, day in enumerate(days)], QUICK)


def test_a_scale_stays_in_its_bounds_and_is_never_empty() -> None:
    assert scale_of([0.0, 1.0]) == Scale(0.0, 1.0)
    assert scale_of([]) == Scale(0.0, 1.0)
    alone = scale_of([0.5])
    assert alone.low < 0.5 < alone.high
    assert Scale(0, 4).at(1) == "25.00%"
    assert Scale(0, 4).at(9) == "100.00%"


def test_error_profile_takes_wrong_labels_from_what_is_right() -> None:
    made = error_profile(60, ErrorKinds(missed=20, spurious=10, boundary=15, wrong_label=5))
    assert [(kind.key, kind.count) for kind in made.kinds] == [
        ("right", 55),
        ("label", 5),
        ("boundary", 15),
        ("missed", 20),
        ("spurious", 10),
    ]


def test_bars_are_as_long_as_there_are_errors() -> None:
    """84 pixels for the names, 52 for the counts: the longest bar, 20 of 20, ends at 343 - 52."""
    made = error_profile(60, ErrorKinds(missed=20, spurious=10, boundary=15, wrong_label=5)).plot("errors")
    assert made is not None
    bars = re.findall(r'<path d="M 84 [\d.]+ +L ([\d.]+) ', made.markup)
    assert [float(end) for end in bars] == [84 + 207 * count / 20 for count in (5, 15, 20, 10)]
    assert error_profile(9, ErrorKinds(missed=0, spurious=0, boundary=0, wrong_label=0)).plot("errors") is None


def test_heat_map_mirrors_every_pair() -> None:
    pairs = (Pair(a="s1", b="s0", delta=0.1, p=0.01, p_adjusted=0.02, p_holm=None, wins=0.9),)
    made = heat_map(board(5, 8).model_copy(update={"pairwise": pairs}))
    assert made is not None
    assert list(made.names) == ["team s1", "team s0"]
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
    assert stability_of(silent) is None
    assert history(silent, []) is None


def test_stability_knows_places_and_shares() -> None:
    made = stability_of(board(2, 9))
    assert made is not None
    assert [podium.row.rank_set for podium in made.podiums] == [(1, 1), (2, 2)]
    assert [podium.shares for podium in made.podiums] == [[1.0], [0.0]]
    assert list(made.headings) == ["First"]
    assert made.left_out == 0
    assert made.last == 2


def test_places_end_where_the_rows_that_are_shown_may_end() -> None:
    long = board(*range(1, 8))
    rows = tuple(row.model_copy(update={"rank": i + 1, "rank_set": (1, i + 3)}) for i, row in enumerate(long.rows * 10))
    made = stability_of(long.model_copy(update={"rows": rows}))
    assert made is not None
    assert (len(made.podiums), made.left_out, made.last) == (25, 45, 27)


def test_history_steps_up_when_a_better_one_comes() -> None:
    days = ("2026-01-01", "2026-01-21", "2026-01-11", "no day", "2026-01-31T12:00:00+02:00")
    made = history(board(5, 8, 4, 9, 7, created=days), [])
    assert made is not None
    assert [point.row.submission for point in made.points] == ["s0", "s2", "s1", "s4"]
    assert [point.row.submission for point in made.best] == ["s0", "s1"]
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
    assert mark.after.date().isoformat() == "2026-01-01"
    assert f">sandscore {now.sandscore}</text>" in made.plot.markup


@pytest.mark.parametrize(
    "days",
    [
        ("0001-01-01", "9999-12-31T23:59:59"),
        ("0001-01-01", "0001-01-01T00:00:01"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T10:00:00", "2026-01-01T10:00:00.5"),
    ],
)
def test_any_two_dates_are_drawn(days: tuple[str, str]) -> None:
    made = history(board(5, 8, created=days), [])
    assert made is not None
    assert made.plot.markup.count("<title>") == 2


def test_a_curve_is_thinned_but_keeps_both_ends_and_the_best() -> None:
    rows: list[tuple[float, float | None, float | None]] = [(1000 - i, 0.9, i / 1000) for i in range(1000)]
    made = curve_of(ConfidenceCurve(average_precision=0.9, best_threshold=500.0, curve=rows))
    assert made is not None
    assert len(made.points) <= 152
    assert (made.points[0].recall, made.points[-1].recall) == (0.0, 0.999)
    assert [point.recall for point in made.points if point.confidence == 500] == [0.5]
    assert made.plot("curve").markup.count("<title>confidence 500 and above") == 1
    assert curve_of(ConfidenceCurve(reason="none")) is None
    assert curve_of(None) is None
