"""The board as a whole: its promises as properties, and the cards it refuses to mix."""

import hashlib
from typing import Any

import numpy as np
import pytest
import slow_board
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_cards import GOLD, card_content, drawn_rows, entry
from ranking_cards import as_entry as read
from scipy import stats

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.resampling import seed_of
from sandscore.ranking.stepdown import stepdown
from sandscore.records.board import Board, Row
from sandscore.records.ranking_rules import BoardRules


def cards(count: int = 5, notes: int = 120) -> list[RankedCard]:
    return [entry(f"s{i}", drawn_rows(0.7 + 0.04 * i, notes, i)) for i in range(count)]


def row(board: Board, name: str) -> Row:
    return next(one for one in board.rows if one.submission == name)


@settings(deadline=None, max_examples=8)
@given(st.permutations(range(5)))
def test_order_of_cards_changes_nothing(order: list[int]) -> None:
    entries = cards()
    assert rank([entries[i] for i in order]) == rank(entries)


def test_a_rival_moves_no_interval_and_no_p() -> None:
    """But for what rivals say of how much each patient weighs: in the fourth digit of the interval's width."""
    few, many = (rank(cards(count), BoardRules(interval="percentile")) for count in (3, 5))
    for name in ("s0", "s1", "s2"):
        assert row(few, name).measures == row(many, name).measures
    few, many = rank(cards(3)), rank(cards(5))
    for name in ("s0", "s1", "s2"):
        intervals = [row(board, name).measures["instance_strict"].f1_ci for board in (few, many)]
        assert intervals[0] == pytest.approx(intervals[1], abs=1e-4)
    rules = BoardRules(randomisations=2_000)
    few, many = rank(cards(3), rules), rank(cards(5), rules)
    p = {(pair.a, pair.b): pair.p for pair in many.pairwise}
    assert all(p[pair.a, pair.b] == pair.p for pair in few.pairwise)


def test_ten_equal_systems_may_all_be_anywhere() -> None:
    """Equal in skill, not in their answers; and one system ten times."""
    alike = rank([entry(f"s{i}", drawn_rows(0.8, 150, i)) for i in range(10)])
    assert [one.rank_set for one in alike.rows] == [(1, 10)] * 10
    assert {one.group for one in alike.rows} == {1}
    same = rank([entry(f"s{i}", drawn_rows(0.8, 150, 0)) for i in range(10)])
    assert [(one.rank, one.rank_set) for one in same.rows] == [(1, (1, 10))] * 10
    assert [one.p_first for one in same.rows] == pytest.approx([0.1] * 10)
    assert {pair.p for pair in same.pairwise} == {1.0}
    assert same.stability is not None
    assert same.stability.kendall_tau.mean is None


def test_rows_are_in_order_and_scores_are_what_the_counts_make() -> None:
    board = rank(cards())
    scores = [one.measures["instance_strict"].f1 for one in board.rows]
    assert scores == sorted((score for score in scores if score is not None), reverse=True)
    for one in board.rows:
        measure = one.measures["instance_strict"]
        assert measure.tp is not None
        assert measure.fp is not None
        assert measure.fn is not None
        assert measure.f1 == 2 * measure.tp / (2 * measure.tp + measure.fp + measure.fn)
        assert measure.f1_ci is not None
        assert measure.f1_ci[0] < measure.f1 < measure.f1_ci[1]
    assert (board.rows[0].k, board.rows[0].p_vs_leader) == (None, None)
    assert [one.rank for one in board.rows] == [1, 2, 3, 4, 5]
    assert board.pairwise[0].delta == pytest.approx((scores[0] or 0) - (scores[1] or 0))


def test_the_seed_is_of_challenge_phase_gold_and_measure() -> None:
    board = rank(cards(2), BoardRules(challenge="ours"), "final")
    assert board.seed == f"0x{seed_of('ours', 'final', '0123456789ab', 'instance_strict'):016x}"
    assert rank(cards(2)).seed == f"0x{seed_of('', '', '0123456789ab', 'instance_strict'):016x}"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param({"task": "address"}, "not the same task", id="tasks"),
        pytest.param({"profile": "i2b2"}, "not the same profile", id="profiles"),
        pytest.param({"sandscore": "0.2.0"}, "not the same version", id="versions"),
        pytest.param({"gold": "f" * 12}, "not the same gold", id="gold"),
        pytest.param({"signature": f"date|challenge|gold:{GOLD}|map:abc"}, "not the same HIPAA map", id="maps"),
        pytest.param({"patients": ["p"] * 40}, "not the same patients", id="patients"),
        pytest.param({"submission": "a"}, "both called 'a'", id="the same name twice"),
        pytest.param({"submission": "a", "dataset": "other"}, "different teams", id="one name, two teams"),
    ],
)
def test_refuses_to_mix(changes: dict[str, Any], sentence: str) -> None:
    first = read(card_content("a", drawn_rows(0.8, 40, 1)), "first.json")
    other = read(card_content("b", drawn_rows(0.8, 40, 2), **changes), "other.json")
    with pytest.raises(ParticipantFault, match=sentence) as refused:
        rank([other, first])
    assert "first.json" in str(refused.value)
    assert "other.json" in str(refused.value)


def test_refuses_other_notes_without_naming_them() -> None:
    with pytest.raises(ParticipantFault, match="not the same notes") as refused:
        rank([entry("a", drawn_rows(0.8, 40, 1)), entry("b", drawn_rows(0.8, 39, 1))])
    assert "note-" not in str(refused.value)


def test_nothing_to_rank() -> None:
    with pytest.raises(ParticipantFault, match="no score card"):
        rank([])
    with pytest.raises(UsageFault, match="cards have instance_strict"):
        rank(cards(2), BoardRules(headline="token"))


def test_a_measure_without_a_score_comes_last_and_has_no_place() -> None:
    without = card_content("z", drawn_rows(0.9, 60, 1))
    score = {"precision": None, "recall": None, "f1": None, "reason": "gold carries no dateFormat"}
    without["measures"]["instance_strict"] |= score
    board = rank([entry("a", drawn_rows(0.5, 60, 2)), read(without)])
    last = board.rows[1]
    assert (last.submission, last.rank, last.rank_set, last.group) == ("z", 2, None, 2)
    assert (last.measures["instance_strict"].f1, last.measures["instance_strict"].f1_ci) == (None, None)
    assert last.measures["instance_strict"].reason == "gold carries no dateFormat"
    assert last.missing == ("instance_strict",)
    assert (board.pairwise[0].p, board.pairwise[0].delta) == (None, None)


def test_second_measures_reorder_a_group_only_where_they_are_named() -> None:
    """b is a little ahead on the headline, tied by Holm; a is ahead on token."""
    a = {"instance_strict": [(1, 1, 1)] * 30, "token": [(3, 0, 0)] * 30}
    b = {"instance_strict": [(1, 1, 1)] * 29 + [(2, 1, 1)], "token": [(2, 1, 1)] * 30}
    entries = [entry("a", a), entry("b", b)]
    assert [one.submission for one in rank(entries).rows] == ["b", "a"]
    broken = rank(entries, BoardRules(tie_break=("token",)))
    assert [(one.submission, one.rank, one.group) for one in broken.rows] == [("a", 1, 1), ("b", 2, 1)]


def test_earliest_wins_only_where_asked() -> None:
    rows = drawn_rows(0.8, 40, 1)
    late, early = entry("a", rows, created="2026-02-01"), entry("b", rows, created="2026-01-01")
    assert [(one.submission, one.rank) for one in rank([late, early]).rows] == [("a", 1), ("b", 1)]
    asked = rank([late, early], BoardRules(tie_break=("created",)))
    assert [(one.submission, one.rank) for one in asked.rows] == [("b", 1), ("a", 2)]


@pytest.mark.parametrize(("sites", "leader"), [("pooled", "b"), ("macro", "a"), ("mean_rank", "a")])
def test_several_sites(sites: Any, leader: str) -> None:
    rows = {
        ("a", "east"): [(5, 0, 0)] * 10,
        ("a", "west"): [(6, 5, 5)] * 10,
        ("b", "east"): [(6, 2, 2)] * 10,
        ("b", "west"): [(6, 2, 2)] * 10,
    }
    board = rank([entry(n, of, dataset=d, team="t") for (n, d), of in rows.items()], BoardRules(sites=sites))
    assert board.rows[0].submission == leader
    assert board.site_leaders == {"pooled": "b", "macro": "a", "mean_rank": "a"}
    assert any("disagree on the leader" in warning for warning in board.warnings)
    assert set(board.gold) == set(board.rows[0].sites) == {"east", "west"}


def test_a_missing_site_is_flagged_and_never_separated() -> None:
    both = [entry("a", [(5, 0, 0)] * 30, dataset=d) for d in ("east", "west")]
    one = entry("b", [(1, 5, 5)] * 30, dataset="east")
    strict = rank([*both, one])
    assert (row(strict, "b").rank_set, row(strict, "b").missing) == (None, ("instance_strict @ west",))
    left_out = rank([*both, one], BoardRules(missing="exclude"))
    assert (row(left_out, "b").rank_set, row(left_out, "b").missing) == ((1, 2), ("instance_strict @ west",))
    assert any("lack a score" in warning for warning in left_out.warnings)


@pytest.mark.parametrize("aggregation", ["lexicographic", "borda", "mean_rank"])
def test_the_bootstrap_runs_through_the_aggregation(aggregation: Any) -> None:
    entries = [
        entry(
            f"s{i}",
            {"token": drawn_rows(0.6 + 0.1 * i, 60, i), "instance_strict": drawn_rows(0.5 + 0.1 * i, 60, i + 9)},
        )
        for i in range(4)
    ]
    rules = BoardRules(aggregation=aggregation, measures={"token": 1, "instance_strict": 2})
    board = rank(entries, rules)
    assert [one.submission for one in board.rows] == ["s3", "s2", "s1", "s0"]
    assert 0.8 < (board.rows[0].p_first or 0) <= 1
    assert board.rows[0].score is not None
    expected = {"lexicographic": board.rows[0].measures["token"].f1, "borda": 9, "mean_rank": -1}
    assert board.rows[0].score == pytest.approx(expected[aggregation])


@pytest.mark.parametrize(
    ("interval", "patients", "warned"),
    [
        pytest.param("percentile_t", [f"p{i // 10}" for i in range(150)], "as if there were 13", id="few patients"),
        pytest.param("percentile_t", [f"p{max(0, i - 120)}" for i in range(150)], "as if", id="one has nearly all"),
        pytest.param("percentile_t", [f"p{i // 2}" for i in range(150)], None, id="enough"),
        pytest.param("percentile", [f"p{i // 2}" for i in range(150)], "only 75 patients", id="too few for another"),
        pytest.param("percentile", [f"p{i // 2}" for i in range(240)], None, id="enough for another"),
        pytest.param("percentile_t", [f"note-{i}" for i in range(150)], "no patient ids", id="notes"),
    ],
)
def test_warns_where_intervals_are_too_narrow(interval: Any, patients: list[str], warned: str | None) -> None:
    board = rank([entry("a", drawn_rows(0.8, len(patients), 1), patients=patients)], BoardRules(interval=interval))
    assert bool(board.warnings) == (warned is not None)
    assert warned is None or any(warned in warning for warning in board.warnings)
    assert board.units == len(set(patients))


def test_a_stranger_recomputes_the_interval_with_numpy_alone() -> None:
    """From the cards' per-note counts, the board's seed and the rules written in docs/ranking.md."""
    sides = [drawn_rows(0.8, 150, 3), drawn_rows(0.7, 150, 4)]
    patients = [f"p{i % 60}" for i in range(150)]
    entries = [entry(name, rows, patients=patients) for name, rows in zip("ab", sides, strict=True)]
    board, plain = rank(entries), rank(entries, BoardRules(interval="percentile"))
    both = np.zeros((2, 60, 3))
    for rows, into in zip(sides, both, strict=True):
        for counts, patient in zip(rows, patients, strict=True):
            into[int(patient[1:])] += counts
    sums = both[0]
    raw = np.random.PCG64(int(board.seed, 16)).random_raw(10_000 * 60).reshape(10_000, 60)
    drawn = ((raw >> np.uint64(32)) * np.uint64(60)) >> np.uint64(32)
    tp, fp, fn = sums[drawn.astype(int)].sum(axis=1).T
    drawn_scores = 2 * tp / (2 * tp + fp + fn)
    expected = np.quantile(drawn_scores, [0.025, 0.975], method="linear")
    assert row(plain, "a").measures["instance_strict"].f1_ci == tuple(expected.tolist())
    weight = (both @ [2, 1, 1]).sum(axis=0)
    effective = weight.sum() ** 2 / (weight**2).sum() - 1
    assert board.effective_patients == pytest.approx(effective)
    score = 2 * sums[:, 0].sum() / (sums @ [2, 1, 1]).sum()
    x, drawn_x = np.arcsin(np.sqrt(score)), np.arcsin(np.sqrt(drawn_scores))
    wider = stats.t.ppf(0.975, effective) / 1.95996
    low, high = np.quantile(x - drawn_x, [0.975, 0.025])
    ends = np.sin(np.array([x - wider * low, x - wider * high])) ** 2
    assert row(board, "a").measures["instance_strict"].f1_ci == pytest.approx(tuple(ends), abs=1e-11)


def test_the_row_says_what_to_expect_of_a_chosen_one() -> None:
    """As the slow twin computes it from replicates drawn anew here; a single row was chosen from nobody."""
    entries = [entry(f"s{i}", drawn_rows(0.8, 80, i)) for i in range(5)]
    board = rank(entries, BoardRules(resamples=150))
    counts = np.array([drawn_rows(0.8, 80, i) for i in range(5)])
    raw = np.random.PCG64(int(board.seed, 16)).random_raw(150 * 80).reshape(150, 80)
    drawn = (((raw >> np.uint64(32)) * np.uint64(80)) >> np.uint64(32)).astype(int)
    sums = counts[:, drawn].sum(axis=2)
    scores = counts.sum(axis=1)
    y, rep = (2 * of[..., 0] / (of @ [2, 1, 1]) for of in (scores, sums))
    effective = slow_board.effective((counts @ [2, 1, 1]).sum(axis=0).tolist())
    spans, next_time = slow_board.chosen(y.tolist(), rep.tolist(), effective), slow_board.expected(y, rep)
    for i in range(5):
        assert row(board, f"s{i}").chosen_ci == pytest.approx(spans[i], abs=1e-10)
        assert row(board, f"s{i}").expected == pytest.approx(next_time[i], abs=1e-10)
    alone = rank(entries[:1]).rows[0]
    assert alone.chosen_ci == alone.measures["instance_strict"].f1_ci
    assert alone.expected == alone.measures["instance_strict"].f1


@pytest.mark.parametrize("aggregation", ["lexicographic", "borda", "mean_rank"])
def test_scores_made_of_ranks_expect_nothing(aggregation: Any) -> None:
    rules = BoardRules(aggregation=aggregation, measures={"instance_strict": 1}, resamples=200, randomisations=99)
    assert all(one.chosen_ci is None and one.expected is None for one in rank(cards(3), rules).rows)


def test_the_seed_may_follow_from_a_log() -> None:
    """The first eight bytes of SHA-256 of the five lines."""
    root = "0f" * 32
    board = rank(cards(2), BoardRules(challenge="ours"), "final", log_root=root)
    text = f"ours\nfinal\n0123456789ab\ninstance_strict\n{root}"
    assert board.seed == "0x" + hashlib.sha256(text.encode()).hexdigest()[:16]
    assert (board.config.seed_rule, board.log_root) == ("names+log", root)
    assert (rank(cards(2)).config.seed_rule, rank(cards(2)).log_root) == ("names", None)


def test_the_stepdown_decides_places_and_groups() -> None:
    """Its numbers stand on the board as the stepdown makes them; every place follows from those at most 0.05."""
    counts = [drawn_rows(0.9 - 0.05 * i, 80, i) for i in range(5)]
    board = rank([entry(f"s{i}", rows) for i, rows in enumerate(counts)], BoardRules(resamples=100))
    places = {one.submission: at for at, one in enumerate(board.rows)}
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    made = stepdown(np.array(counts), [slice(0, 80)], pairs, int(board.seed, 16))
    assert board.adjustment == "stepdown"
    for pair in board.pairwise:
        a, b = sorted((int(pair.a[1:]), int(pair.b[1:])))
        assert (pair.p, pair.p_adjusted, pair.p_holm) == (made.p[a, b], made.adjusted[a, b], None)
        assert places[pair.a] < places[pair.b]
    apart = [(pair.a, pair.b) for pair in board.pairwise if (pair.p_adjusted or 0) <= 0.05]
    assert 0 < len(apart) < 10
    for one in board.rows:
        better = sum(b == one.submission for _, b in apart)
        worse = sum(a == one.submission for a, _ in apart)
        assert one.rank_set == (1 + better, 5 - worse)
    leader = board.rows[0].submission
    tied = [one.submission for one in board.rows if one.group == 1]
    assert not any((leader, name) in apart for name in tied)
    assert board.rows[1].p_vs_leader == board.pairwise[0].p_adjusted


@pytest.mark.parametrize(
    "changes",
    [
        {"aggregation": "borda", "measures": {"instance_strict": 1}},
        {"aggregation": "mean_rank", "measures": {"instance_strict": 1}},
        {"aggregation": "lexicographic", "measures": {"instance_strict": 1}},
        {"sites": "mean_rank"},
        {"test": "paired_bootstrap"},
        {"tie_rule": "holm"},
        {"tie_rule": "dream_k3"},
    ],
    ids=lambda changes: "-".join(map(str, changes.values())),
)
def test_what_stays_with_holm(changes: dict[str, Any]) -> None:
    board = rank(cards(3), BoardRules(resamples=100, randomisations=199, **changes))
    assert board.adjustment == "holm"
    assert all(pair.p_adjusted == pair.p_holm for pair in board.pairwise)
    said = any("adjusted by Holm" in warning for warning in board.warnings)
    assert said == ("tie_rule" not in changes)


@pytest.mark.parametrize("sites", ["pooled", "macro"])
def test_several_sites_step_down_too(sites: Any) -> None:
    """Pooled, the sites are one block of patients; under the macro mean each is a block of its own."""
    sides = {(s, d): drawn_rows(0.9 - 0.08 * s, 40, 2 * s + d, hardness=d) for s in range(3) for d in range(2)}
    entries = [entry(f"s{s}", rows, dataset=f"d{d}", gold=f"{d}" * 12) for (s, d), rows in sides.items()]
    board = rank(entries, BoardRules(sites=sites, resamples=100))
    counts = np.array([sides[s, 0] + sides[s, 1] for s in range(3)])
    blocks = [slice(0, 80)] if sites == "pooled" else [slice(0, 40), slice(40, 80)]
    made = stepdown(counts, blocks, [(0, 1), (0, 2), (1, 2)], int(board.seed, 16))
    assert board.adjustment == "stepdown"
    found = {tuple(sorted((int(pair.a[1:]), int(pair.b[1:])))): pair.p_adjusted for pair in board.pairwise}
    assert found == made.adjusted
    assert (board.rows[0].chosen_ci is None, board.rows[0].expected is None) == (False, False)
