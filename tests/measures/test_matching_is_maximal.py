"""Pairs of overlapping spans, counted by sweeping, against augmenting paths that try everything."""

import random
from functools import partial

import numpy as np
import slow_scorer as slow

from sandscore.measures.error_kinds import overlapping_pairs
from sandscore.measures.relaxed_match import near_boundaries


def spans(r: random.Random, most: int, room: int, long: int) -> list[tuple[int, int]]:
    starts = [r.randrange(room) for _ in range(r.randrange(most))]
    return sorted((start, start + r.randint(1, long)) for start in starts)


def test_overlapping_pairs() -> None:
    for seed in range(300):
        r = random.Random(seed)
        room, long = r.choice([(30, 8), (100, 5), (12, 12), (200, 60)])
        gold, predicted = spans(r, 25, room, long), spans(r, 25, room, long)
        expected = slow.maximum_matching(gold, predicted, lambda g, p: g[0] < p[1] and p[0] < g[1])
        assert overlapping_pairs(gold, predicted) == overlapping_pairs(predicted, gold) == expected, seed


def test_both_boundaries_near() -> None:
    for seed in range(200):
        r = random.Random(seed)
        tolerance = r.randrange(4)
        gold, predicted = spans(r, 14, 10, 6), spans(r, 14, 10, 6)
        near = partial(boundaries_near, tolerance=tolerance)
        expected = slow.maximum_matching(gold, predicted, near)
        both = np.array(gold + predicted, np.int64).reshape(-1, 2)
        found = near_boundaries(np.zeros(len(both), np.int64), len(gold), both[:, 0], both[:, 1], 1, tolerance)
        assert found.tolist() == [expected], seed


def boundaries_near(one: tuple[int, int], other: tuple[int, int], tolerance: int) -> bool:
    return abs(one[0] - other[0]) <= tolerance and abs(one[1] - other[1]) <= tolerance


def test_matching_identical_spans_first_would_lose_a_pair() -> None:
    """
    gold  ------------        0-12        pred  ------------      0-12
          ----------          0-10              --------------    0-14
    0-12 with 0-12 leaves 0-10 and 0-14 apart; crossed over, both fit within 2.
    """
    both = np.array([(0, 10), (0, 12), (0, 12), (0, 14)], np.int64)
    assert near_boundaries(np.zeros(4, np.int64), 2, both[:, 0], both[:, 1], 1, 2).tolist() == [2]
