"""Sweep and matchings against exhaustive search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_measures.small_documents import matchings

from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import parse
from sandscore.span_measures.overlap_matching import heaviest_matching, maximum_matching, overlapping_pairs

extents = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda d: (d[0], d[0] + d[1])), max_size=8)
edges = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=14)
weighted = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.sampled_from([(1, 1, 0), (0, 1, 0), (0, 1, 1)]),
    max_size=14,
)


@given(extents, extents)
def test_the_sweep_finds_every_overlapping_pair_once(
    gold: list[tuple[int, int]], predictions: list[tuple[int, int]]
) -> None:
    expected = [
        (i, j)
        for i, (start, end) in enumerate(gold)
        for j, (other, over) in enumerate(predictions)
        if start < over and other < end
    ]
    assert sorted(overlapping_pairs(gold, predictions)) == expected


@given(edges)
def test_no_matching_is_larger(pairs: set[tuple[int, int]]) -> None:
    best = max(len(pairs.intersection(chosen)) for chosen in matchings(5, 5))
    assert maximum_matching(sorted(pairs)) == best


@given(weighted)
def test_no_matching_is_heavier(weights: dict[tuple[int, int], tuple[int, int, int]]) -> None:
    best = max(_total(weights, [pair for pair in chosen if pair in weights]) for chosen in matchings(5, 5))
    found = heaviest_matching(weights)
    assert _total(weights, found) == best
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)


def _total(weights: dict[tuple[int, int], tuple[int, int, int]], pairs: list[tuple[int, int]]) -> list[int]:
    return [sum(weights[pair][place] for pair in pairs) for place in range(3)]


@pytest.mark.parametrize("written", ["iou(threshold=0.9,beta=2)", "overlap(recall=max,precision=sum)"])
def test_the_contracts_own_examples_come_back_as_they_were_written(written: str) -> None:
    assert str(parse(written, MEASURES.find)) == written
