"""Joining measures and sites: worked examples by hand, and the float replicas against the exact fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_cards import entry

from sandscore.optional_rules.joined_replicates import joined_replicates
from sandscore.optional_rules.joined_scores import leader_by_site_rule
from sandscore.ranking.analysis import pooled_f1
from sandscore.ranking.exact_order import exact_scores, is_plain, missing_cells, ranked_by
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.records.ranking_rules import RankingRules

# F1 of (tp, fp, fn): token a 0.8, b 0.5, c 0.5; instance_strict a 0.4, b 0.5, c 0.25.
THREE = {
    "a": {"token": [(4, 1, 1)], "instance_strict": [(2, 3, 3)]},
    "b": {"token": [(1, 1, 1)], "instance_strict": [(2, 2, 2)]},
    "c": {"token": [(2, 2, 2)], "instance_strict": [(1, 3, 3)]},
}
BOTH = {"token": 2.0, "instance_strict": 1.0}


def rules(**changes: Any) -> RankingRules:
    return RankingRules(headline="instance_strict", **changes)


def three() -> ScoreTable:
    return tabulate([entry(name, rows) for name, rows in THREE.items()])


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        pytest.param({}, [(Fraction(2, 5),), (Fraction(1, 2),), (Fraction(1, 4),)], id="headline"),
        pytest.param(
            {"aggregation": "lexicographic", "measures": BOTH},
            [
                (Fraction(4, 5), Fraction(2, 5)),
                (Fraction(1, 2), Fraction(1, 2)),
                (Fraction(1, 2), Fraction(1, 4)),
            ],
            id="lexicographic",
        ),
        pytest.param(
            {"aggregation": "borda", "measures": BOTH},
            [(Fraction(2 * 2 + 1),), (Fraction(1, 2) * 2 + 2,), (Fraction(1, 2) * 2,)],
            id="borda: points for the beaten, half for ties",
        ),
        pytest.param(
            {"aggregation": "mean_rank", "measures": BOTH},
            [(-Fraction(2 * 1 + 2, 3),), (-Fraction(2 * 5, 2 * 3) - Fraction(1, 3),), (-Fraction(5 + 3, 3),)],
            id="mean rank",
        ),
    ],
)
def test_measures_by_hand(chosen: dict[str, Any], expected: list[object]) -> None:
    assert exact_scores(three(), rules(**chosen)) == expected


# Two sites: pooled a 20/30, b 24/32; macro a (1 + 1/2) / 2, b (3/4 + 3/4) / 2; c has no card for the west.
SITES = {
    ("a", "east"): [(5, 0, 0)],
    ("a", "west"): [(5, 5, 5)],
    ("b", "east"): [(6, 2, 2)],
    ("b", "west"): [(6, 2, 2)],
    ("c", "east"): [(9, 1, 1)],
}


def two_sites() -> ScoreTable:
    return tabulate([entry(name, rows, dataset=site) for (name, site), rows in SITES.items()])


@pytest.mark.parametrize(
    ("sites", "missing", "expected"),
    [
        ("pooled", "strict", [Fraction(2, 3), Fraction(3, 4), None]),
        ("pooled", "exclude", [Fraction(2, 3), Fraction(3, 4), Fraction(9, 10)]),
        ("macro", "strict", [Fraction(3, 4), Fraction(3, 4), None]),
        ("macro", "exclude", [Fraction(3, 4), Fraction(3, 4), Fraction(9, 10)]),
        ("mean_rank", "strict", [-Fraction(3, 2), -Fraction(2), -Fraction(5, 2)]),
        ("mean_rank", "exclude", [-Fraction(3, 2), -Fraction(2), -Fraction(2)]),
    ],
)
def test_sites_by_hand(sites: Any, missing: Any, expected: list[Fraction | None]) -> None:
    scores = exact_scores(two_sites(), rules(sites=sites, missing=missing))
    assert scores == [None if value is None else (value,) for value in expected]


def test_a_missing_cell_is_named() -> None:
    table = two_sites()
    assert missing_cells(table, 2, ["instance_strict"]) == ("instance_strict @ west",)
    assert missing_cells(table, 0, ["instance_strict"]) == ()


def test_leaders_under_each_site_rule() -> None:
    assert leader_by_site_rule(two_sites(), 0, "strict") == {"pooled": "b", "macro": "a", "mean_rank": "a"}


CELL = st.tuples(*[st.integers(0, 4)] * 3)


@settings(deadline=None, max_examples=up_to(150))
@given(
    cells=st.lists(st.lists(st.lists(CELL, min_size=2, max_size=2), min_size=2, max_size=2), min_size=2, max_size=5),
    absent=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 1)), max_size=3),
    sites=st.sampled_from(["pooled", "macro", "mean_rank"]),
    missing=st.sampled_from(["strict", "exclude"]),
    aggregation=st.sampled_from(["headline", "lexicographic", "borda", "mean_rank"]),
)
def test_replicas_follow_the_exact_rules(
    cells: list[list[list[tuple[int, int, int]]]],
    absent: set[tuple[int, int]],
    sites: Any,
    missing: Any,
    aggregation: Any,
) -> None:
    cards = [
        entry(f"s{s}", {"token": [row[0]], "instance_strict": [row[1]]}, dataset=f"d{d}")
        for s, per_site in enumerate(cells)
        for d, row in enumerate(per_site)
        if (s, d) not in absent or d == 0
    ]
    table = tabulate(cards)
    chosen = rules(sites=sites, missing=missing, aggregation=aggregation, measures=BOTH)
    measures = [table.measures.index(name) for name in ranked_by(chosen)]
    totals = np.moveaxis(table.totals()[:, :, measures], 0, 1).astype(float)
    sums = np.stack([totals[..., 0], 2 * totals[..., 0] + totals[..., 1] + totals[..., 2]])[:, None]
    scored = np.moveaxis(table.scored[:, :, measures], 1, 0)
    plain = pooled_f1(sums, scored, missing)[:, :, 0]
    made = (plain if is_plain(chosen) else joined_replicates(sums, scored, chosen))[0]
    exact = exact_scores(table, chosen)
    assert np.isnan(made).tolist() == [score is None for score in exact]
    if aggregation == "lexicographic":
        keys = [tuple(-1 if part is None else part for part in score) for score in exact if score is not None]
        order = np.argsort(-made[~np.isnan(made)], kind="stable")
        assert [keys[i] for i in order] == sorted(keys, reverse=True)
    else:
        expected = [float(score[0]) for score in exact if score is not None and score[0] is not None]
        assert made[~np.isnan(made)].tolist() == pytest.approx(expected)
