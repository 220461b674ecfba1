"""Rows of a board as its page shows them: who opens a group, which rows are shaded, on what scale. By hand."""

from ranking_cards import entry
from struct_values import changeable

from sandscore.ranking.board_building import rank
from sandscore.records.carried_run import RunCost
from sandscore.site.board_columns import cost_of
from sandscore.site.standings import aggregates, scale_over, score_of, standings_of


def test_groups_open_and_shades_alternate() -> None:
    """Two that are alike, then one that is far behind."""
    rows = {"a": [(4, 0, 0)] * 40, "b": [(4, 0, 0)] * 40, "c": [(1, 3, 3)] * 40}
    board = rank([entry(name, counts) for name, counts in rows.items()])
    found = standings_of(board, [])
    assert [line.row.submission for line in found.lines] == ["a", "b", "c"]
    assert [line.opens for line in found.lines] == [True, False, True]
    assert [line.odd for line in found.lines] == [True, True, False]
    assert (found.groups, found.drawn, aggregates(board)) == (2, True, False)
    assert [line.score for line in found.lines] == [1.0, 1.0, 0.25]
    assert score_of(board, board.rows[2]) == (0.25, (0.25, 0.25))


def test_the_scale_of_shares_ends_where_shares_end() -> None:
    inside, beyond = scale_over([(0.5, (0.4, 1.0)), (None, None)]), scale_over([(1.5, None), (0.5, None)])
    assert (inside.low >= 0, inside.high <= 1) == (True, True)
    assert inside.low <= 0.4
    assert beyond.high >= 1.5


def test_what_a_run_cost_is_said_where_the_card_says_it() -> None:
    run = {"seconds": {"total": 12.5}, "peak_memory_bytes": 300 << 20}
    board = rank([entry("a", [(4, 0, 0)], run=run), entry("b", [(4, 0, 0)])])
    costs = {row.submission: cost_of(row) for row in board.rows}
    assert costs == {"a": RunCost(12.5, None, 314572800.0), "b": RunCost()}


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("site") == {"ErrorCollector"}
