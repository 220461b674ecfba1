"""Measures of which less is better, and F-beta, through all that ranks: the same board turned round, or by hand."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ranking_cards import as_entry, card_content, drawn_rows

from sandscore.base.errors import ParticipantFault
from sandscore.board_tables.board_formats import as_csv, as_markdown, as_text
from sandscore.cli.main import run
from sandscore.disclosure.feedback_view import as_public
from sandscore.disclosure.outcome_views import SCORES, ScoreItem
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.score_table import tabulate
from sandscore.records.board import Board
from sandscore.records.formula import f_beta
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard
from sandscore.separation.card_comparison import card_difference
from sandscore.site.publication import publish
from sandscore.verification.board_verification import verify

F2 = "iou(beta=2)"
LEAK = BoardRules(headline="leak", resamples=300, randomisations=299)
Parts = list[tuple[int, int]]


def with_formula(name: str, rows: list[tuple[int, ...]], formula: str, parts: dict[str, int], **more: Any) -> Any:
    """A card of one measure of an installed package, called ``leak``."""
    card = card_content(
        name, [(1, 0, 0)] * len(rows), **{key: more.pop(key) for key in ("created", "team") if key in more}
    )
    card["measures"] = {"leak": {"components": parts, "formula": formula, "plugin": "leaks 1.0", **more}}
    card["per_note"] = {note: {"leak": list(row)} for note, row in zip(card["per_note"], rows, strict=True)}
    return card


def rate(name: str, rows: Parts, direction: str = "lower", **more: Any) -> dict[str, Any]:
    """The share n of m, of which less is better; or that of what is left, of which more is."""
    if direction == "higher":
        rows = [(of - n, of) for n, of in rows]
    n, of = (sum(column) for column in zip(*rows, strict=True))
    parts = {"n": n, "of": of}
    made: dict[str, Any] = with_formula(name, [*rows], "ratio(n/of)", parts, score=n / of, direction=direction, **more)
    return made


def leaks(count: int = 5, patients: int = 60) -> list[Parts]:
    stream = np.random.default_rng(3)
    of = stream.integers(1, 9, patients)
    chances = 0.08 + 0.05 * np.arange(count)
    return [list(zip(stream.binomial(of, chance).tolist(), of.tolist(), strict=True)) for chance in chances]


def board(direction: str, **changes: Any) -> Board:
    cards = [as_entry(rate(f"s{i}", rows, direction)) for i, rows in enumerate(leaks())]
    return rank(cards, LEAK.model_copy(update=changes))


@pytest.mark.parametrize("interval", ["percentile_t", "percentile", "bca"])
@pytest.mark.parametrize("tie_rule", ["stepdown", "holm", "dream_k3"])
def test_less_is_better_is_the_same_board_turned_round(interval: str, tie_rule: str) -> None:
    down, up = (board(way, interval=interval, tie_rule=tie_rule) for way in ("lower", "higher"))
    assert [row.submission for row in down.rows] == [row.submission for row in up.rows] == [f"s{i}" for i in range(5)]
    for low, high in zip(down.rows, up.rows, strict=True):
        same: dict[str, Any] = {"measures": {}, "card": None, "chosen_ci": None, "expected": None, "signature": None}
        assert low.model_copy(update=same) == high.model_copy(update=same)
        ours, theirs = low.measures["leak"], high.measures["leak"]
        assert ours.ranked == pytest.approx(1 - (theirs.ranked or 0))
        for one, other in ((ours.ranked_ci, theirs.ranked_ci), (low.chosen_ci, high.chosen_ci)):
            assert one is not None
            assert other is not None
            assert one == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-11)
        assert low.expected == pytest.approx(1 - (high.expected or 0), abs=1e-11)
    for pair, mirrored in zip(down.pairwise, up.pairwise, strict=True):
        assert pair.delta == pytest.approx(-(mirrored.delta or 0))
        low_end, high_end = mirrored.delta_ci or (0.0, 0.0)
        assert pair.delta_ci == pytest.approx((-high_end, -low_end), abs=1e-11)
        turned = {"delta": None, "delta_ci": None}
        assert pair.model_copy(update=turned) == mirrored.model_copy(update=turned)
    assert (down.stability, down.effective_patients) == (up.stability, up.effective_patients)


def test_the_leader_of_a_rate_is_expected_to_leak_more() -> None:
    """It was chosen for leaking least: its score is too low, and its interval reaches further up than its own does."""
    of = [8] * 60
    stream = np.random.default_rng(5)
    cards = [as_entry(rate(f"s{i}", list(zip(stream.binomial(of, 0.1).tolist(), of)))) for i in range(12)]  # noqa: B905
    first = rank(cards, LEAK).rows[0]
    measure = first.measures["leak"]
    assert measure.ranked is not None
    assert measure.ranked_ci is not None
    assert first.chosen_ci is not None
    assert (first.expected or 0) > measure.ranked
    assert first.chosen_ci[1] > measure.ranked_ci[1]


def test_a_sum_of_which_less_is_better() -> None:
    """Nine, five and five errors on three notes: fewest first, two share the lead."""
    rows = {"many": [(3,), (3,), (3,)], "few": [(2,), (1,), (2,)], "as few": [(1,), (2,), (2,)]}
    cards = []
    for name, of in rows.items():
        total = sum(n for (n,) in of)
        cards.append(as_entry(with_formula(name, [*of], "sum(n)", {"n": total}, score=total, direction="lower")))
    made = rank(cards, LEAK)
    assert [(row.submission, row.rank, row.measures["leak"].ranked) for row in made.rows] == [
        ("as few", 1, 5.0),
        ("few", 1, 5.0),
        ("many", 3, 9.0),
    ]
    low, high = made.rows[2].measures["leak"].ranked_ci or (0, 0)
    assert low == high == 9.0


@pytest.mark.parametrize("feedback", ["rounded", "ladder"])
def test_feedback_says_less_and_keeps_the_direction(feedback: Any) -> None:
    """The team of s0 and s4 hands in the worse one first: the Ladder releases the better, in steps of one patient."""
    cards = [as_entry(rate(f"s{i}", leaks()[i], team=f"team {i % 4}", created=f"2026-01-0{9 - i}")) for i in range(5)]
    rules = LEAK.model_copy(update={"feedback": feedback})
    made = as_public(rank(cards, rules), tabulate(cards), rules)
    scores = [row.measures["leak"].ranked for row in made.rows]
    assert scores == sorted(score for score in scores if score is not None)
    assert made.rows[0].submission == "s0"
    assert (made.rows[0].chosen_ci, made.rows[0].expected, made.effective_patients) == (None, None, None)
    truth = sum(n for n, _ in leaks()[0]) / sum(of for _, of in leaks()[0])
    assert scores[0] == pytest.approx(truth, abs=0.03)
    told: Any = SCORES[feedback](ScoreItem(card=cards[0], rules=rules))
    assert told == {"leak": {"value": pytest.approx(truth, abs=0.03)}}


def test_two_cards_apart_in_a_rate() -> None:
    cards = [Scorecard.model_validate(rate(f"s{i}", rows)) for i, rows in enumerate(leaks(2))]
    found = card_difference((cards[0], cards[1]), ("a", "b"), "leak")
    mirrored = [Scorecard.model_validate(rate(f"s{i}", rows, "higher")) for i, rows in enumerate(leaks(2))]
    other = card_difference((mirrored[0], mirrored[1]), ("a", "b"), "leak")
    assert found.difference is not None
    assert found.interval is not None
    assert found.difference == pytest.approx(-(other.difference or 0))
    assert found.interval[0] <= found.difference <= found.interval[1]
    assert found.p == other.p


def f2_card(name: str, rows: list[tuple[int, int, int]]) -> RankedCard:
    card = card_content(name, {F2: rows, "instance_strict": rows})
    tp, fp, fn = (sum(column) for column in zip(*rows, strict=True))
    card["measures"][F2] |= {"value": 5 * tp / (5 * tp + 4 * fn + fp), "formula": "f_beta(2)", "direction": "higher"}
    return as_entry(card)


PRECISE, THOROUGH = [(9, 0, 1)] * 30, [(29, 7, 1)] * 10
"""F2 45/49 = .918 and 145/156 = .929; F1 18/19 = .947 and 58/66 = .879: the order depends on beta."""


def f2_cards() -> list[RankedCard]:
    return [f2_card("precise", PRECISE), f2_card("thorough", [(9, 3, 0), (10, 2, 1), (10, 2, 0)] * 10)]


def test_f_beta_ranks_by_itself() -> None:
    """Precise: tp 270, fn 30: F2 1350/1470, F1 540/570. Thorough: tp 290, fp 70, fn 10: F2 1450/1560, F1 580/660."""
    made = rank(f2_cards(), BoardRules(headline=F2, resamples=200))
    assert [row.submission for row in made.rows] == ["thorough", "precise"]
    first = made.rows[0].measures[F2]
    assert first.ranked == pytest.approx(1450 / 1560)
    assert (first.tp, first.fp, first.fn, first.f1) == (290, 70, 10, 580 / 660)
    assert first.ranked_ci is not None
    assert first.f1_ci is None
    assert first.ranked_ci[0] < 1450 / 1560 < first.ranked_ci[1]
    assert made.pairwise[0].delta == pytest.approx(1450 / 1560 - 1350 / 1470)
    plain = rank(f2_cards(), BoardRules(resamples=200))
    assert [row.submission for row in plain.rows] == ["precise", "thorough"]
    text = as_text(made)
    assert "F2 [95 %]" in text
    assert "F2 0.929; chosen as best of 2" in text
    row = next(csv.DictReader(io.StringIO(as_csv(made))))
    assert float(row[f"{F2}.value"]) == pytest.approx(1450 / 1560)
    assert (row["submission"], float(row[f"{F2}.f1"])) == ("thorough", 580 / 660)


def test_f_beta_of_a_card_that_contradicts_itself() -> None:
    card = f2_cards()[0].card.model_dump(mode="json")
    card["measures"][F2]["value"] = 0.95
    with pytest.raises(ParticipantFault, match=r"the value of .* is 0\.95; its counts make 0\.918"):
        as_entry(card)


@pytest.mark.parametrize(
    ("beta", "written"),
    [(2.0, "f_beta(2)"), (0.5, "f_beta(0.5)"), (1.0, "f_beta(1)"), (10.0, "f_beta(10)"), (0.0, "f_beta(0)"),
     (0.12345, None), (1e9, None), (500.0, None)],
)  # fmt: skip
def test_a_beta_that_a_formula_can_hold(beta: float, written: str | None) -> None:
    assert f_beta(beta) == written


SCORING = ["--notes", "gold/example/notes.json", "--gold", "gold/example/date.json"]


@pytest.fixture
def scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Cards of the example's submissions with F2, and a beta that no formula holds."""
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    for name in ("date-good", "date-weak"):
        words = ["--predictions", f"submissions/{name}/predictions.json", "--submission", name]
        measures = ["--measure", F2, "--measure", "iou(beta=0.12345)", "--measure", "overlap"]
        assert run(["score", "date", *SCORING, *words, *measures, "-o", str(tmp_path / f"{name}.json")]) == 0
    return tmp_path


@pytest.mark.slow
def test_scored_ranked_verified_and_published(scored: Path) -> None:
    cards = [str(scored / f"{name}.json") for name in ("date-good", "date-weak")]
    said = json.loads(Path(cards[0]).read_text())["measures"]
    counts = said[F2]
    assert counts["value"] == counts["f_beta"]
    assert (counts["formula"], counts["direction"]) == ("f_beta(2)", "higher")
    assert "value" not in said["instance_strict"]
    target = scored / "board.json"
    assert run(["rank", *cards, "--measure", F2, "-o", str(target)]) == 0
    assert run(["verify", str(target)]) == 0
    made = Board.model_validate_json(target.read_text())
    assert made.rows[0].measures[F2].ranked == counts["value"]
    assert "iou(beta=0.12345)" in made.rows[0].shown
    publish([target], scored / "site")
    page = next((scored / "site").glob("date*/index.html")).read_text()
    assert re.search(r"Ranked by .*</span> \(F2\)\.", page)
    changed = json.loads(target.read_text())
    changed["rows"][0]["measures"][F2]["value"] += 1e-6
    target.write_text(json.dumps(changed))
    with pytest.raises(ParticipantFault, match="value is"):
        verify(target)


def test_a_page_of_a_rate_sorts_upwards(tmp_path: Path) -> None:
    made = board("lower")
    assert "Score (lower is better) [95 %]" in as_markdown(made)
    (tmp_path / "board.json").write_text(as_json(made))
    for i, rows in enumerate(leaks()):
        (tmp_path / f"s{i}.json").write_text(json.dumps(rate(f"s{i}", rows)))
    assert verify(tmp_path / "board.json").cards == 5
    publish([tmp_path / "board.json"], tmp_path / "site")
    page = next((tmp_path / "site").glob("date*/index.html")).read_text()
    assert 'data-first="asc"' in page
    assert "(Score; lower is better)" in page
    assert next(csv.DictReader(io.StringIO(as_csv(made))))["leak.direction"] == "lower"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('headline = "overlap"', "headline: the measure 'overlap' cannot rank"),
        ('headline = "iou(beta=0.12345)"', r"headline: the measure 'iou\(beta=0.12345\)' cannot rank"),
        ('headline = "iou(beta=x)"', "'x' is not a value of beta"),
        ('headline = "iou(threshold=0.5,beta=2)"', r"is written 'iou\(beta=2\)' on cards"),
        ('tie_break = ["overlap"]', "tie_break: the measure 'overlap' cannot rank"),
        ('aggregation = "borda"\nmeasures = { overlap = 1 }', "measures: the measure 'overlap' cannot rank"),
        ('[tasks.date]\nheadline = "overlap"', "line 3: headline"),
        ('[[phases]]\nname = "p"\nheadline = "overlap"', "line 4: headline"),
    ],
)
def test_what_cannot_rank_is_refused_where_the_challenge_is_read(
    line: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "challenge.toml").write_text(f'challenge = "ours"\n{line}\n')
    (tmp_path / "a.json").write_text(json.dumps(card_content("a", drawn_rows(0.8, 5, 1))))
    assert run(["rank", str(tmp_path / "a.json"), "--challenge", str(tmp_path / "challenge.toml")]) == 78
    assert re.search(sentence, capsys.readouterr().err)
