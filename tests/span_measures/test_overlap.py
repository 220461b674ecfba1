"""``overlap`` by hand, unit by unit, and beside recorded runs of neleval."""

import json
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from peers.vectors import family_directory
from span_measures.small_documents import Written, document, scored, sides, warned
from struct_values import changeable

from sandscore.documents.note_spans import extents
from sandscore.records.document import Annotation, Document
from sandscore.span_measures.overlap_credit import OverlapCredit

WAYS = ("max", "sum")
ways = st.sampled_from(WAYS)


def test_neleval_documentation_example() -> None:
    """Gold units 1–10 and 12, predictions 1–5 and 6–12; the four aggregators as neleval 3.1.1 prints them."""
    note = document([(1, 11), (12, 13)], [(1, 6), (6, 13)])
    printed = {
        (r, p): tuple(f"{scored(OverlapCredit, note, recall=r, precision=p)[x]:.3f}" for x in ("ptp", "rtp", "f1"))
        for r in WAYS
        for p in WAYS
    }
    assert printed == {
        ("max", "max"): ("1.714", "1.500", "0.800"),
        ("max", "sum"): ("1.857", "1.500", "0.830"),
        ("sum", "max"): ("1.714", "2.000", "0.923"),
        ("sum", "sum"): ("1.857", "2.000", "0.963"),
    }
    assert warned(OverlapCredit, note) == ()


def test_credits_stay_integers_until_the_last_division() -> None:
    count = OverlapCredit.count(document([(0, 3)], [(0, 1), (2, 3)]), {"recall": "sum", "precision": "sum"})
    assert count == {"gold": 1, "predicted": 2, "rtp/3": 2, "ptp/1": 2}


@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [
        pytest.param([], [], (None, None, None), id="nothing on either side"),
        pytest.param([], [(0, 4)], (0.0, None, 0.0), id="nothing to find"),
        pytest.param([(0, 4)], [], (None, 0.0, 0.0), id="nothing found"),
        pytest.param([(0, 4)], [(5, 8)], (0.0, 0.0, 0.0), id="all wrong"),
        pytest.param([(0, 4), (0, 4)], [(0, 4)], (1.0, 1.0, 1.0), id="a repeated annotation has its credit"),
        pytest.param([(1, 11), (2, 4)], [(5, 7)], (1.0, 0.1, 2 / 11), id="a nested one hides no partner"),
    ],
)
def test_ratios(gold: list[Written], predictions: list[Written], expected: tuple[float | None, ...]) -> None:
    row = scored(OverlapCredit, document(gold, predictions))
    assert (row["precision"], row["recall"], row["f1"]) == pytest.approx(expected)


@given(sides, sides, ways, ways)
def test_credits_are_those_of_counting_units(
    gold: list[Written], predictions: list[Written], recall: str, precision: str
) -> None:
    note = document(gold, predictions)
    true, found = ([frozenset(range(*extent)) for extent in extents(side)] for side in (note.gold, note.predictions))
    row = scored(OverlapCredit, note, recall=recall, precision=precision)
    assert row["rtp"] == pytest.approx(float(sum(_credit(t, found, recall) for t in true)))
    assert row["ptp"] == pytest.approx(float(sum(_credit(f, true, precision) for f in found)))


@given(sides, sides, ways, ways, st.randoms(use_true_random=False))
def test_order_and_side_do_not_matter(
    gold: list[Written], predictions: list[Written], recall: str, precision: str, random: Random
) -> None:
    straight = scored(OverlapCredit, document(gold, predictions), recall=recall, precision=precision)
    mirrored = scored(OverlapCredit, document(predictions, gold), recall=precision, precision=recall)
    random.shuffle(gold)
    random.shuffle(predictions)
    assert scored(OverlapCredit, document(gold, predictions), recall=recall, precision=precision) == straight
    assert (mirrored["ptp"], mirrored["rtp"]) == (straight["rtp"], straight["ptp"])


@pytest.mark.parametrize("recall", WAYS)
@pytest.mark.parametrize("precision", WAYS)
def test_equals_recorded_neleval_where_no_side_overlaps_itself(recall: str, precision: str) -> None:
    case = json.loads((family_directory("neleval") / "corpus_clean.json").read_text(encoding="utf-8"))
    notes: dict[str, tuple[list[Annotation], list[Annotation]]] = {}
    for side, name in enumerate(("gold", "prediction")):
        for m in case[name]:
            length = m["end_inclusive"] - m["start"] + 1
            notes.setdefault(m["doc"], ([], []))[side].append(Annotation(m["start"], length, "", m["type"]))
    documents = [Document(name, None, tuple(g), tuple(p)) for name, (g, p) in notes.items()]
    row = scored(OverlapCredit, *documents, recall=recall, precision=precision)
    printed = case["expected"][f"overlap-{recall}{precision}::span"]
    ours = (row["ptp"], row["rtp"], row["precision"], row["recall"], row["f1"])
    assert ours == pytest.approx(
        tuple(printed[name] for name in ("ptp", "rtp", "precis", "recall", "fscore")), rel=1e-12
    )
    assert warned(OverlapCredit, *documents, recall=recall, precision=precision) == ()


def test_where_neleval_loses_a_partner_a_warning_says_so() -> None:
    tangled = document([(1, 11), (2, 4)], [(5, 7)], name="n3")
    (warning,) = warned(OverlapCredit, tangled, recall="max")
    assert "neleval's overlap-maxmax" in warning
    assert "n3" in warning


def _credit(units: frozenset[int], others: list[frozenset[int]], way: str) -> Fraction:
    shared = [units & other for other in others]
    covered = max(map(len, shared), default=0) if way == "max" else len(frozenset().union(*shared))
    return Fraction(covered, len(units))


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("span_measures") == set()
