"""The parts of ranking one at a time, on a handful of counts; numbers by hand."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from ranking_cards import card_content, entry
from struct_values import changeable

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.optional_rules import bca_intervals, joined_replicates
from sandscore.optional_rules.joined_scores import mean_ranks
from sandscore.ranking import (
    board_building,
    confidence_intervals,
    measure_intervals,
    rank_agreement,
    resampling,
)
from sandscore.ranking.exact_order import exact_scores, missing_cells, number, sort_key
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard
from sandscore.separation import card_comparison, power_planning

STRICT = "instance_strict"
NAN = float("nan")


def card(name: str, rows: Any, **changes: Any) -> Scorecard:
    return Scorecard.model_validate(card_content(name, rows, **changes))


def table(*entries: Any) -> ScoreTable:
    return tabulate([entry(*one[:2], **(one[2] if len(one) > 2 else {})) for one in entries])


# One card, and two


def test_no_intervals_of_a_card_without_notes_or_counts() -> None:
    whole = card("a", [(1, 0, 0), (0, 1, 1)])
    assert measure_intervals.card_intervals(whole, STRICT).keys() == {STRICT}
    bare = whole.model_copy(update={"per_note": {}})
    assert measure_intervals.card_intervals(bare, STRICT) == {}
    assert measure_intervals.card_intervals(whole.model_copy(update={"measures": {}}), STRICT) == {}


def test_a_difference_that_is_not_defined() -> None:
    good, nothing = card("a", [(1, 0, 0)] * 3), card("b", [(0, 0, 0)] * 3)
    found = card_comparison.card_difference((good, nothing), ("a", "b"), STRICT)
    assert (found.difference, found.interval, found.p, found.units) == (None, None, None, 3)
    with pytest.raises(UsageFault, match="a has no counts of the measure 'token'"):
        card_comparison.card_difference((good, good), ("a", "b"), "token")


def test_the_interval_of_a_difference_is_of_the_same_patients() -> None:
    """Always half a point apart, whoever is drawn."""
    good, poor = card("a", [(2, 0, 0)] * 8), card("b", [(1, 1, 1)] * 8)
    found = card_comparison.card_difference((poor, good), ("a", "b"), STRICT)
    assert (found.difference, found.interval) == (0.5, (0.5, 0.5))
    assert found.p is not None
    assert found.p < 0.05
    even = card_comparison.card_difference((good, good), ("a", "b"), STRICT)
    assert (even.difference, even.interval, even.p) == (0, (0, 0), 1)


# The table


def test_counts_by_patient_and_data_set() -> None:
    one = ("a", [(1, 0, 0), (2, 1, 0), (0, 0, 4)], {"patients": ["p", "q", "p"]})
    other = ("a", [(5, 0, 0)], {"dataset": "z", "gold": "f" * 12})
    made = table(one, other)
    assert (made.systems, made.datasets, made.units, made.sizes) == (("a",), ("example", "z"), 3, (2, 1))
    assert made.counts[0, :, 0].tolist() == [[1, 0, 4], [2, 1, 0], [5, 0, 0]]
    assert made.totals()[0, :, 0].tolist() == [[3, 1, 4], [5, 0, 0]]
    with pytest.raises(ParticipantFault):
        tabulate([])


def test_missing_cells_are_named() -> None:
    made = table(("a", [(1, 0, 0)]), ("b", [(0, 0, 0)]))
    assert missing_cells(made, 0, [STRICT]) == ()
    assert missing_cells(made, 1, [STRICT]) == (STRICT,)


# Exact scores


def test_ranks_and_keys() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    assert mean_ranks([half, third, half, None]) == [Fraction(3, 2), 3, Fraction(3, 2), None]
    assert sorted([None, (third,), (half,)], key=sort_key) == [(half,), (third,), None]
    assert sorted([None, (half,), (third,)], key=lambda score: sort_key(score, False)) == [(third,), (half,), None]
    keys = ["x", "x", "y", "z", "z"]
    assert number(keys, "competition") == [1, 1, 3, 4, 4]
    assert number(keys, "dense") == [1, 1, 2, 3, 3]
    assert number(keys, "average") == [1.5, 1.5, 3, 4.5, 4.5]


@pytest.mark.parametrize(
    ("aggregation", "scores"),
    [
        ("headline", [(Fraction(1),), (Fraction(2, 3),), None]),
        ("lexicographic", [(Fraction(1), Fraction(2, 3)), (Fraction(2, 3), Fraction(1)), None]),
        # weights 2 and 1: ranks 1, 2 and 2, 1
        ("mean_rank", [(Fraction(-4, 3),), (Fraction(-5, 3),), None]),
        ("borda", [(3 * (3 - Fraction(4, 3)),), (3 * (3 - Fraction(5, 3)),), None]),
    ],
)
def test_several_measures(aggregation: Any, scores: list[Any]) -> None:
    made = table(
        ("a", {STRICT: [(1, 0, 0)], "token": [(1, 1, 0)]}),
        ("b", {STRICT: [(1, 1, 0)], "token": [(1, 0, 0)]}),
        ("c", {STRICT: [(0, 0, 0)], "token": [(0, 0, 0)]}),
    )
    rules = BoardRules(aggregation=aggregation, measures={STRICT: 2, "token": 1}, headline=STRICT, missing="exclude")
    assert exact_scores(made, rules) == scores
    assert exact_scores(made, BoardRules(headline="token"))[1] == (Fraction(1),)


# Replicates


@pytest.mark.parametrize(("missing", "expected"), [("strict", [-1.0, -2.5, -2.5]), ("exclude", [-1.0, -2.0, NAN])])
def test_mean_ranks_of_replicates(missing: Any, expected: list[float]) -> None:
    """Two cells of three systems, weighing 3 and 1: the second has one of them, the third none."""
    cells = np.array([[[0.9, 0.5, NAN], [0.8, NAN, NAN]]])
    found = joined_replicates._mean_rank(cells, np.array([3.0, 1.0]), missing)
    worst = 3.0
    if missing == "strict":
        assert found[0].tolist()[:2] == [-1.0, -(2 * 3 + worst) / 4]
        assert np.isnan(found[0, 2])
    else:
        np.testing.assert_array_equal(found[0], expected)


def test_ranks_with_ties_and_gaps() -> None:
    ranks = joined_replicates.average_ranks(np.array([[0.5, 0.9, 0.5, NAN]]))
    assert ranks.tolist() == [[2.5, 1.0, 2.5, 4.0]]
    scores = np.array([[[0.5, 0.1], [0.5, 0.2], [NAN, 0.9], [0.7, 0.0]]])
    np.testing.assert_array_equal(joined_replicates._in_order(scores), [[-3.0, -2.0, NAN, -1.0]])
    even = joined_replicates._in_order(np.array([[[0.5], [0.5]]]))
    assert even.tolist() == [[-1.5, -1.5]]


@pytest.mark.parametrize(
    ("rule", "missing", "scores"),
    [("pooled", "strict", [2 / 3, NAN]), ("pooled", "exclude", [2 / 3, 0.5]), ("macro", "strict", [0.75, NAN]),
     ("macro", "exclude", [0.75, 0.5])],
)  # fmt: skip
def test_sites_of_replicates(rule: str, missing: Any, scores: list[float]) -> None:
    """(2, replicates, data sets, systems, measures): tp, then 2 tp + fp + fn."""
    over = np.array([[[[1.0], [1.0]], [[1.0], [0.0]]]])
    under = np.array([[[[2.0], [4.0]], [[4.0], [0.0]]]])
    scored = np.array([[[True], [True]], [[True], [False]]])
    found = joined_replicates.SITES[rule](np.stack([over, under]), scored, missing)
    np.testing.assert_allclose(found[0, :, 0], scores)


def test_drawing_patients() -> None:
    drawn = [(where, weights.copy()) for where, weights in resampling.weights(7, [2, 3], 5, np.float64, 2)]
    assert [where for where, _ in drawn] == [slice(0, 2), slice(2, 4), slice(4, 5)]
    every = np.concatenate([weights for _, weights in drawn])
    assert every[:, :2].sum(axis=1).tolist() == [2] * 5
    assert every[:, 2:].sum(axis=1).tolist() == [3] * 5
    (whole,) = [weights for _, weights in resampling.weights(7, [2, 3], 5, np.float64, 5)]
    np.testing.assert_array_equal(whole, every)
    thrown = np.concatenate(list(resampling.coins(7, 70, 5, 2)))
    assert thrown.shape == (5, 70)
    np.testing.assert_array_equal(thrown, next(resampling.coins(7, 70, 5, 5)))
    assert 100 < thrown.sum() < 250
    assert resampling.exact_dtype(1 << 12, 1 << 12) is np.float64
    assert resampling.exact_dtype(1 << 12, (1 << 12) - 1) is np.float32
    assert (resampling.rows_for(1, 128), resampling.rows_for(1 << 22, 128), resampling.rows_for(1 << 24, 128)) == (
        128,
        2,
        1,
    )


def test_the_seed_is_a_hash() -> None:
    """printf 'c\\np\\ng\\nm' | sha256sum | cut -c1-16"""
    assert f"{resampling.seed_of('c', 'p', 'g', 'm'):016x}" == "94382bbe095b005b"


# Intervals and agreement


def test_intervals_of_replicates() -> None:
    hundred = np.arange(101.0)
    assert confidence_intervals.percentile_intervals(hundred[None]) == [(2.5, 97.5)]
    one, two = np.append(hundred[1:], NAN), np.append(hundred[2:], [NAN, NAN])
    assert confidence_intervals.percentile_intervals(np.stack([one, two]))[0] is not None
    assert confidence_intervals.percentile_intervals(np.stack([one, two]))[1] is None
    assert bca_intervals.bca_interval(np.array([NAN]), 0.5, hundred) is None
    assert bca_intervals.bca_interval(hundred, 200.0, hundred) == (2.5, 97.5)
    middle = bca_intervals.bca_interval(hundred, 50.0, np.array([1.0, -1.0]))
    assert middle == pytest.approx((2.5, 97.5))
    assert bca_intervals.acceleration_of(np.array([3.0, 3.0])) == 0
    # the mean of 0 0 3 is 1: pulls 1 1 -2, cubes -6, squares 6
    assert bca_intervals.acceleration_of(np.array([0.0, 0.0, 3.0])) == pytest.approx(-6 / (6 * 6**1.5))


def test_agreement_of_replicates() -> None:
    scores = np.array([[3.0, 1.0, 2.0, NAN], [1.0, 1.0, 3.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    found = rank_agreement.agreement(scores, [1, 2, 3], (1, 2))
    assert found.wins.tolist() == [[0.5, 1.5 / 4, 0.75], [2.5 / 4, 0.5, 1.0], [0.25, 0.0, 0.5]]
    assert found.top[1].tolist() == [(1 + 0.5) / 4, (0.5 + 1 + 1) / 4, 0.0]
    assert found.top[2].tolist() == [0.75, 1.0, 0.25]
    # three pairs: all agree; two, with one tie; two against one; one against two
    np.testing.assert_allclose(found.tau, [1, 2 / np.sqrt(2 * 3), 1 / 3, -1 / 3])
    assert rank_agreement.bayes_factor(0.75, 3) == (2.25 + 0.5) / (0.75 + 0.5)


# Boards


def test_a_site_shows_what_its_card_says() -> None:
    one = entry("a", {STRICT: [(1, 0, 0)], "token": [(1, 1, 0)]})
    made = tabulate([one])
    site = board_building._site(made, BoardRules(headline=STRICT), one)
    assert list(site.measures) == [STRICT, "token"]
    strict: Any = site.measures[STRICT]
    assert (strict.tp, strict.precision, strict.f1_ci) == (1, 1, None)
    assert list(board_building.shown_measures(made, BoardRules(headline=STRICT, secondary=()))) == [STRICT]
    fewer = card_content("b", {STRICT: [(1, 0, 0)]})
    assert list(board_building._site(made, BoardRules(headline=STRICT), entry("b", [(1, 0, 0)])).measures) == [STRICT]
    assert fewer["measures"].keys() == {STRICT}


def test_gold_and_seed_of_a_board() -> None:
    made = table(("a", [(1, 0, 0)], {"gold": "1" * 12, "dataset": None}))
    assert board_building.gold_of(made) == {"default": "1" * 12}
    rules = BoardRules(headline=STRICT, challenge="c")
    assert board_building.board_seed({"x": "g"}, rules, "p") == resampling.seed_of("c", "p", "g", STRICT)
    assert board_building.board_seed({"x": None}, BoardRules(headline=STRICT)) == resampling.seed_of("", "", "", STRICT)


def test_plans_that_can_be_tried() -> None:
    assert power_planning.PowerPlan(0.1).simulations == 400
    wrongs: tuple[dict[str, Any], ...] = (
        {"gap": 0.0},
        {"gap": 0.9},
        {"gap": 0.1, "f1": 1.1},
        {"gap": 0.1, "overlap": 1.1},
        {"gap": 0.1, "power": 1},
    )
    for wrong in wrongs:
        with pytest.raises(UsageFault):
            power_planning.PowerPlan(**wrong)
    plan = power_planning.PowerPlan(0.1, 0.9, 1.0, 0.8, 40)
    sizes = np.array([5, 5, 5])
    better, worse = power_planning.simulated(np.full((1, 4000), 5), plan, np.random.Generator(np.random.PCG64(1)))
    assert [2 * system[0].sum() / system[1].sum() for system in (better, worse)] == pytest.approx([0.9, 0.8], abs=0.01)
    assert (better[0] >= worse[0]).all()
    assert power_planning.power_at(sizes, plan, 300, 1) == 1.0
    assert power_planning.power_at(sizes, plan, 2, 1) < 0.2


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("ranking") == set()
