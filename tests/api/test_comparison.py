"""Two cards compared are the two rows of a board."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_cards import as_entry, card_content, drawn_rows

from sandscore.api.comparison_calls import compare, label_differences
from sandscore.api.comparison_results import Comparison
from sandscore.api.results import Problems, Result
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.ranking.board_building import rank
from sandscore.records.counts import Counts
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import Scorecard

ROOT = Path(__file__).resolve().parents[2]
CARDS = ROOT / "leaderboard" / "cards"
GOOD, WEAK = CARDS / "date-good.json", CARDS / "date-weak.json"
ROW = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))


def card(name: str, rows: Any, **changes: Any) -> Scorecard:
    return as_entry(card_content(name, rows, **changes)).card


@pytest.mark.parametrize("measure", ["instance_strict", "token"])
def test_the_numbers_are_those_of_a_board(measure: str) -> None:
    patients = [f"p{note // 4}" for note in range(40)]
    sides = [
        card_content(
            name, {"instance_strict": drawn_rows(skill, 40, 1), "token": drawn_rows(skill, 40, 2)}, patients=patients
        )
        for name, skill in (("a", 0.75), ("b", 0.7))
    ]
    board = rank([as_entry(side) for side in sides], BoardRules(headline=measure))
    pair = board.pairwise[0]
    sign = 1 if pair.a == "b" else -1
    a, b = (as_entry(side).card for side in sides)
    found = compare(a, b, measure)
    assert found.difference == sign * (pair.delta or 0)
    assert found.p == pair.p
    assert found.patients == board.units == 10
    assert found.interval is not None
    assert found.interval[0] <= (found.difference or 0) <= found.interval[1]


@settings(max_examples=up_to(40))
@given(st.lists(st.tuples(ROW, ROW), min_size=1, max_size=6))
def test_turned_around_it_says_the_opposite(rows: list[tuple[Any, Any]]) -> None:
    a, b = card("a", [row for row, _ in rows]), card("b", [row for _, row in rows])
    there, back = compare(a, b), compare(b, a)
    assert there.difference is None or there.difference == -(back.difference or 0)
    assert there.p == back.p
    assert [(n.note, n.a, n.b) for n in there.notes] == [(n.note, n.b, n.a) for n in back.notes]
    assert [n.note for n in there.notes] == [f"note-{i}" for i, (one, two) in enumerate(rows) if one != two]


def test_with_itself_nothing_differs() -> None:
    found = compare(GOOD, str(GOOD))
    assert (found.difference, found.interval, found.p) == (0, (0, 0), 1)
    assert (found.notes, found.labels) == ((), ())


def test_paths_cards_and_results_are_the_same() -> None:
    content = GOOD.read_bytes()
    result = Result(Scorecard.model_validate_json(content), Problems([], {}))
    assert compare(result, WEAK).to_dict() == compare(GOOD, WEAK).to_dict() == compare(result.card, WEAK).to_dict()


def test_gains_and_losses_by_label(tmp_path: Path) -> None:
    a = {"Y": {"instance_strict": {"tp": 9, "fp": 0, "fn": 1}}, "M": {"instance_strict": {"tp": 1, "fp": 3, "fn": 0}}}
    b = {"Y": {"instance_strict": {"tp": 5, "fp": 1, "fn": 5}}, "M": {"instance_strict": {"tp": 1, "fp": 0, "fn": 0}}}
    same = {"S": {"instance_strict": {"tp": 1, "fp": 1, "fn": 1}}}
    found = compare(card("a", [(1, 0, 0)], per_label=a | same), card("b", [(0, 0, 1)], per_label=b | same))
    assert [(c.label, c.fewer_errors) for c in found.gains] == [("M", 3)]
    assert [(c.label, c.fewer_errors) for c in found.losses] == [("Y", -5)]
    found.save(tmp_path / "comparison.json")
    assert json.loads((tmp_path / "comparison.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    assert found.notes[0].a == Counts(1, 0, 0)


def test_what_is_said_of_a_difference_ends_with_its_p() -> None:
    found = compare(card("a", [(1, 2, 3)] * 6), card("b", [(3, 1, 1)] * 6))
    assert found.p is not None
    assert found.sentences[0].startswith("b is better than a by ")
    assert found.sentences[0].endswith(f", p {found.p:.2g})")


def test_labels_counted_by_nothing() -> None:
    cards = card("a", [(1, 0, 0)]), card("b", [(1, 0, 0)], per_label={"Y": {"strict": {"tp": "nine"}}})
    assert label_differences(cards, "instance_strict") == []


def test_an_undefined_score_has_no_difference() -> None:
    found = compare(card("a", [(0, 0, 0)]), card("b", [(0, 1, 0)]))
    assert (found.difference, found.interval, found.p) == (None, None, None)
    assert isinstance(found, Comparison)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gold": "ba9876543210"}, r"the first card and the second card cannot be compared: not the same gold"),
        ({"patients": ["p", "q"]}, "not the same patients"),
        ({"task": "address"}, r"not the same task \(date and address\)"),
        ({"sandscore": "0.0.9"}, "not the same version"),
    ],
)
def test_what_no_board_would_put_together_is_refused(changes: dict[str, Any], sentence: str) -> None:
    rows = [(1, 0, 0), (1, 1, 0)]
    with pytest.raises(ParticipantFault, match=sentence):
        compare(card("a", rows), card("b", rows, **changes))


def test_other_notes_are_refused() -> None:
    with pytest.raises(ParticipantFault, match="not the same notes"):
        compare(card("a", [(1, 0, 0)]), card("b", [(1, 0, 0), (1, 0, 0)]))


def test_what_the_data_set_is_called_makes_no_difference() -> None:
    assert compare(card("a", [(1, 0, 0)], dataset="x"), card("b", [(0, 0, 1)])).difference == -1


def test_a_measure_both_cards_have() -> None:
    a, b = card("a", {"instance_strict": [(1, 0, 0)], "token": [(1, 0, 0)]}), card("b", [(1, 0, 0)])
    with pytest.raises(
        UsageFault, match="the second card has no counts of the measure 'token'; it has instance_strict"
    ):
        compare(a, b, "token")


def test_what_is_no_card_is_named() -> None:
    with pytest.raises(UsageFault, match="type dict as the second card; expected a Result"):
        compare(GOOD, {})  # type: ignore[arg-type]


def test_better_systems_are_further_ahead() -> None:
    rows = {skill: drawn_rows(skill, 80, 3) for skill in (0.5, 0.7, 0.9)}
    last = card("last", drawn_rows(0.3, 80, 3))
    ahead = [compare(last, card("x", of)).difference or 0 for of in rows.values()]
    assert all(low < high for low, high in pairwise(ahead))
