"""Scales, bars and comparisons of small drawings, with numbers made by hand."""

import matplotlib as mpl
import pytest
from board_samples import QUICK
from ranking_cards import entry

from sandscore.ranking.board_building import rank
from sandscore.records.board import Pair
from sandscore.site.board_sentences import sentences_of
from sandscore.site.lead_strip import ticks_on
from sandscore.site.plots.heat_map import HeatCell, HeatMap
from sandscore.site.plots.plot_library import as_it_comes
from sandscore.site.standings import Bar, Scale, bar, scale_of, scale_over, standings_of
from sandscore.site.submission_page import submission_view


def ends(scale: Scale) -> tuple[float, float]:
    return scale.low, scale.high


def test_a_place_is_a_share_of_the_scale() -> None:
    scale = Scale(0.5, 1.0)
    assert [scale.at(value) for value in (0.5, 0.625, 1.0, 0.1, 2.0)] == [
        "0.00%",
        "25.00%",
        "100.00%",
        "0.00%",
        "100.00%",
    ]


def test_a_scale_leaves_a_little_room_inside_the_bounds() -> None:
    assert ends(scale_of([0.4, 0.6])) == pytest.approx((0.388, 0.612))
    assert scale_of([0.0, 1.0]) == Scale(0.0, 1.0)
    assert ends(scale_of([2.0, 4.0], None, None)) == pytest.approx((1.88, 4.12))
    assert ends(scale_of([0.5])) == pytest.approx((0.45, 0.55))
    assert scale_of([]) == Scale(0.0, 1.0)


def test_a_scale_over_scores_holds_their_intervals() -> None:
    scale = scale_over([(0.5, (0.25, 0.75)), (None, None), (0.5, None)])
    assert ends(scale) == pytest.approx((0.22, 0.78))
    assert ends(scale_over([(3.0, None), (1.0, None)])) == pytest.approx((0.88, 3.12))


def test_a_bar_spans_the_interval() -> None:
    scale = Scale(0.0, 1.0)
    assert bar(scale, None, None) is None
    assert bar(scale, 0.5, None) == Bar("50.00%")
    assert bar(scale, 0.5, (0.25, 0.75)) == Bar("50.00%", "25.00%", "75.00%", "50.00%")


@pytest.mark.parametrize(("wins", "mirrored"), [(None, None), (0.75, 0.25), (0.0, 1.0)])
def test_a_pair_is_seen_from_either_side(wins: float | None, mirrored: float | None) -> None:
    ranked = rank([entry("a", [(4, 0, 1)] * 9), entry("b", [(3, 0, 2)] * 9)], QUICK)
    lines = standings_of(ranked, []).lines
    pairs = {("a", "b"): Pair(a="a", b="b", delta=0.125, p=0.5, p_holm=1.0, wins=wins)}
    [ours], [theirs] = (submission_view(sentences_of(ranked, {}), lines, at, pairs, {}).comparisons for at in (0, 1))
    assert (ours.other.row.submission, ours.delta, ours.wins) == ("b", 0.125, wins)
    assert (theirs.other.row.submission, theirs.delta, theirs.wins) == ("a", -0.125, mirrored)


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.938, 0.982, ["0.94", "0.95", "0.96", "0.97", "0.98"]),
        (0.0, 1.0, ["0.2", "0.4", "0.6", "0.8"]),
        (-3.0, 17.0, ["0", "5", "10", "15"]),
    ],
)
def test_an_axis_names_round_values_inside_its_ends(low: float, high: float, texts: list[str]) -> None:
    ticks = ticks_on(Scale(low, high))
    assert [tick.text for tick in ticks] == texts
    assert [tick.at for tick in ticks] == [Scale(low, high).at(float(text)) for text in texts]


def test_drawing_inside_a_drawing_changes_no_settings() -> None:
    before = mpl.rcParams["svg.hashsalt"]
    with as_it_comes():
        ours = mpl.rcParams["svg.hashsalt"]
        assert ours != before
        with as_it_comes():
            mpl.rcParams["axes.linewidth"] = 7.0
        assert mpl.rcParams["axes.linewidth"] == 7.0, "the inner one gives nothing back"
    assert mpl.rcParams["svg.hashsalt"] == before
    assert mpl.rcParams["axes.linewidth"] != 7.0


@pytest.mark.parametrize(("wins", "arrow", "other"), [(0.9, "▲", "▼"), (0.1, "▼", "▲")])
def test_small_cells_point_at_who_is_ahead(wins: float, arrow: str, other: str) -> None:
    """Below some size a cell holds no number but an arrow, where the two are apart."""
    names = [f"s{number}" for number in range(40)]
    cells = [[HeatCell(wins, 0.01) if (i, j) == (0, 1) else None for j in range(40)] for i in range(40)]
    markup = HeatMap(names, cells, 0).plot.markup
    assert arrow in markup
    assert other not in markup
