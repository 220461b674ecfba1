"""``iou`` by hand and against exhaustive search."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_measures.small_documents import Written, document, matchings, scored, sides, warned

from sandscore.documents.note_spans import extents
from sandscore.measures.measure_syntax import Named
from sandscore.span_measures.iou import IntersectionOverUnion


@pytest.mark.parametrize(
    ("threshold", "hits"),
    [
        pytest.param(0.84, 1, id="17 of 20 is more"),
        pytest.param(0.85, 1, id="17 of 20 is as much"),
        pytest.param(0.86, 0, id="17 of 20 is less"),
    ],
)
def test_the_threshold_itself_is_enough(threshold: float, hits: int) -> None:
    row = scored(IntersectionOverUnion, document([(0, 20)], [(0, 17)]), threshold=threshold)
    assert (row["tp"], row["fp"], row["fn"]) == (hits, 1 - hits, 1 - hits)


def test_where_no_note_counts_anything_nothing_is_counted() -> None:
    row = IntersectionOverUnion.score({}, IntersectionOverUnion.settle(Named("iou")))
    assert (row["tp"], row["fp"], row["fn"]) == (0, 0, 0)


def test_touching_annotations_never_match() -> None:
    row = scored(IntersectionOverUnion, document([(0, 4)], [(4, 8)]), threshold=0.0)
    assert row["tp"] == 0


@pytest.mark.parametrize(
    ("unit", "hits"),
    [
        pytest.param("token", 1, id="two of three words"),
        pytest.param("char", 0, id="six of eleven characters"),
    ],
)
def test_tokens_weigh_the_same_whatever_their_length(unit: str, hits: int) -> None:
    """'Anna Lee of' and 'Lee of': two of three words, six of eleven characters."""
    row = scored(IntersectionOverUnion, document([(0, 11)], [(5, 11)]), threshold=0.6, unit=unit)
    assert row["tp"] == hits


def test_half_a_word_is_another_word() -> None:
    assert scored(IntersectionOverUnion, document([(0, 8)], [(0, 7)]), threshold=0.5, unit="token")["tp"] == 0


def test_beta_weighs_recall() -> None:
    """tp 1, fp 1, fn 0: P 1/2, R 1, F2 = 5·½·1 / (4·½ + 1) = 5/6, F½ = 1.25·½ / (0.25·½ + 1) = 5/9."""
    note = document([(0, 4)], [(0, 4), (9, 11)])
    assert scored(IntersectionOverUnion, note, beta=2.0)["f_beta"] == pytest.approx(5 / 6)
    assert scored(IntersectionOverUnion, note, beta=0.5)["f_beta"] == pytest.approx(5 / 9)
    assert scored(IntersectionOverUnion, note, beta=1.0)["f_beta"] == scored(IntersectionOverUnion, note)["f1"]


def test_nothing_to_divide_by_is_undefined() -> None:
    row = scored(IntersectionOverUnion, document([], []))
    assert (row["precision"], row["recall"], row["f1"], row["f_beta"]) == (None, None, None, None)
    assert scored(IntersectionOverUnion, document([(0, 4)], []), beta=2.0)["f_beta"] == 0.0


@given(sides, sides, st.sampled_from([0.0, 0.25, 0.5, 2 / 3, 1.0]))
def test_no_pairing_finds_more(gold: list[Written], predictions: list[Written], threshold: float) -> None:
    note = document(gold, predictions)
    true, found = ([set(range(*extent)) for extent in extents(side)] for side in (note.gold, note.predictions))
    best = max(
        sum(
            bool(true[i] & found[j]) and len(true[i] & found[j]) >= threshold * len(true[i] | found[j])
            for i, j in pairs
        )
        for pairs in matchings(len(true), len(found))
    )
    assert scored(IntersectionOverUnion, note, threshold=threshold)["tp"] == best


@given(sides, sides, st.randoms(use_true_random=False), st.sampled_from(["char", "token"]))
def test_order_and_side_do_not_matter(
    gold: list[Written], predictions: list[Written], random: Random, unit: str
) -> None:
    straight = scored(IntersectionOverUnion, document(gold, predictions), unit=unit)
    mirrored = scored(IntersectionOverUnion, document(predictions, gold), unit=unit)
    random.shuffle(gold)
    random.shuffle(predictions)
    assert scored(IntersectionOverUnion, document(gold, predictions), unit=unit) == straight
    assert (mirrored["tp"], mirrored["fp"], mirrored["fn"]) == (
        straight["tp"],
        straight["fn"],
        straight["fp"],
    )


def test_a_contested_annotation_is_said_to_make_presidio_differ() -> None:
    contested = document([(0, 18)], [(0, 3), (4, 8)], name="n7")
    (warning,) = warned(IntersectionOverUnion, document([(0, 3)], [(0, 3)]), contested)
    assert "n7" in warning
    assert "Presidio" in warning
    assert warned(IntersectionOverUnion, document([(0, 3), (4, 8)], [(0, 3), (4, 9)])) == ()
