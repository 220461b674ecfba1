"""``semeval`` with maximum matching: by hand, against exhaustive search, and beside nervaluate's greed."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_measures.small_documents import Written, document, matchings, scored, sides, warned

from sandscore.records.document import Document
from sandscore.span_measures.semeval_schemas import KINDS, SemevalSchemas, align

SCHEMAS = ("strict", "exact", "partial", "ent_type")


@pytest.mark.parametrize(
    ("gold", "predictions", "expected"),
    [
        pytest.param(
            [(1, 11, "A")],
            [(8, 21, "A"), (1, 11, "A")],
            {"strict": (1, 0, 0, 0, 1), "partial": (1, 0, 0, 0, 1)},
            id="an exact one is not stolen by one before it",
        ),
        pytest.param(
            [(1, 11, "A")],
            [(1, 11, "B"), (1, 11, "A")],
            {"strict": (1, 0, 0, 0, 1), "exact": (1, 0, 0, 0, 1)},
            id="nor by one of another label",
        ),
        pytest.param(
            [(0, 10, "A"), (11, 21, "A")],
            [(5, 16, "A"), (0, 10, "A")],
            {"strict": (1, 1, 0, 0, 0), "partial": (1, 0, 1, 0, 0), "ent_type": (2, 0, 0, 0, 0)},
            id="the one that overlaps both takes the one left",
        ),
        pytest.param(
            [(1, 6, "A"), (6, 11, "A")],
            [(1, 11, "A")],
            {"partial": (0, 0, 1, 1, 0), "ent_type": (1, 0, 0, 1, 0)},
            id="one for two is one",
        ),
        pytest.param(
            [(0, 4, "A")],
            [(0, 4, "B")],
            {"strict": (0, 1, 0, 0, 0), "exact": (1, 0, 0, 0, 0), "ent_type": (0, 1, 0, 0, 0)},
            id="wrong label",
        ),
        pytest.param(
            [(0, 9, "A")],
            [(0, 4, "B"), (5, 9, "A")],
            {"ent_type": (1, 0, 0, 0, 1), "strict": (0, 1, 0, 0, 1)},
            id="among equals the right label",
        ),
        pytest.param([(0, 4, "A")], [(4, 8, "A")], {"partial": (0, 0, 0, 1, 1)}, id="touching is apart"),
    ],
)
def test_counts_by_hand(gold: list[Written], predictions: list[Written], expected: dict[str, tuple[int, ...]]) -> None:
    for schema, counts in expected.items():
        row = scored(SemevalSchemas, document(gold, predictions), schema=schema)
        assert tuple(row[kind] for kind in KINDS) == counts


def test_half_credit_survives_a_second_note() -> None:
    """One partial in one note, one exact in another: 1.5 of 2."""
    row = scored(SemevalSchemas, document([(0, 4)], [(0, 3)]), document([(0, 4)], [(0, 4)], name="e"), schema="partial")
    assert (row["precision"], row["recall"], row["f1"]) == (0.75, 0.75, 0.75)
    assert "tp" not in row


def test_counts_that_rank() -> None:
    row = scored(SemevalSchemas, document([(0, 4), (9, 11)], [(0, 3)]))
    assert (row["tp"], row["fp"], row["fn"], row["f1"]) == (0, 1, 2, 0.0)
    assert scored(SemevalSchemas, document([], []))["precision"] is None


@given(sides, sides)
def test_no_alignment_is_better(gold: list[Written], predictions: list[Written]) -> None:
    note = document(gold, predictions)
    best = max(_priorities(note, pairs) for pairs in matchings(len(note.gold), len(note.predictions)))
    found = align(note)
    assert (found.identical, found.same_bounds, found.pairs, found.same_label) == best


@given(sides, sides, st.sampled_from(SCHEMAS), st.randoms(use_true_random=False))
def test_order_and_side_do_not_matter(
    gold: list[Written], predictions: list[Written], schema: str, random: Random
) -> None:
    straight = scored(SemevalSchemas, document(gold, predictions), schema=schema)
    mirrored = scored(SemevalSchemas, document(predictions, gold), schema=schema)
    random.shuffle(gold)
    random.shuffle(predictions)
    assert scored(SemevalSchemas, document(gold, predictions), schema=schema) == straight
    assert [mirrored[kind] for kind in KINDS] == [
        straight[kind] for kind in ("correct", "incorrect", "partial", "spurious", "missed")
    ]


@given(sides, sides, st.sampled_from(SCHEMAS))
def test_every_annotation_is_counted_once(gold: list[Written], predictions: list[Written], schema: str) -> None:
    row = scored(SemevalSchemas, document(gold, predictions), schema=schema)
    assert (row["possible"], row["actual"]) == (len(gold), len(predictions))


@pytest.mark.parametrize(
    "predictions",
    [
        pytest.param([(8, 21), (1, 11)], id="the thief first"),
        pytest.param([(8, 21), (30, 33), (1, 11)], id="the thief before another"),
    ],
)
def test_where_nervaluate_is_robbed_a_warning_says_so(predictions: list[Written]) -> None:
    robbed = document([(1, 11)], predictions, name="n5")
    (warning,) = warned(SemevalSchemas, document([(0, 4)], [(0, 4)]), robbed)
    assert "nervaluate" in warning
    assert "n5" in warning
    assert warned(SemevalSchemas, document([(1, 11)], predictions[::-1])) == ()


def _priorities(note: Document, pairs: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    identical = bounds = total = label = 0
    for i, j in pairs:
        g, p = note.gold[i], note.predictions[j]
        same = g.label == p.label
        if (g.start, g.end) == (p.start, p.end):
            identical += same
            bounds += not same
            total += 1
        elif g.start < p.end and p.start < g.end:
            label += same
            total += 1
    return identical, bounds, total, label


def test_ratios_of_the_schemas() -> None:
    """Three of five predictions are right, and three of six that there are; a partial one is half right."""
    kinds = {"correct": 3, "incorrect": 1, "missed": 2, "spurious": 1}
    row = SemevalSchemas.score(kinds, {"schema": "exact"})
    assert (row["actual"], row["possible"]) == (5, 6)
    assert (row["tp"], row["fp"], row["fn"]) == (3, 2, 3)
    assert (row["precision"], row["recall"], row["f1"]) == (0.6, 0.5, 6 / 11)
    halves = SemevalSchemas.score({"correct": 3, "partial": 1, "missed": 2, "spurious": 1}, {"schema": "partial"})
    assert (halves["precision"], halves["recall"], halves["f1"]) == (0.7, 7 / 12, 7 / 11)
