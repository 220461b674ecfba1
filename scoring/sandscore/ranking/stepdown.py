"""The stepdown: every pair tested on the same coin flips, and adjusted by the largest of all their statistics.

A coin for each patient gives the difference of two systems there its sign or the other one. With U and D a system's
2 tp and 2 tp + fp + fn, and f what the two score together, (U_a + U_b) / (D_a + D_b), a pair is as far apart as
U_a − U_b − f (D_a − D_b), which is the difference of its scores times a number that no coin moves. Each pair counts in
units of its own 99 % quantile. Pairs are passed in falling order; a pair's adjusted p is the share of flips in which
the largest of those not yet passed reaches it. Coins are thrown once and their sums kept, for a pair costs little to
compute again and all pairs together would not fit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.errors import UsageFault
from sandscore.ranking.resampling import Floats, coins, exact_dtype, rows_for

DRAWS = 9_999
TOLERANCE = 1e-12
UNIT = 0.99
MOST_SUMS = 400_000_000
"""Sums kept at a time; more would not fit."""
_ROWS = 2_048
Pair = tuple[int, int]


class SteppedPairs(Struct, frozen=True):
    """p of each pair, alone and adjusted for all of them."""

    p: dict[Pair, float]
    adjusted: dict[Pair, float]


def stepdown(
    counts: NDArray[np.int64],
    blocks: Sequence[slice],
    pairs: Sequence[Pair],
    seed: int,
    draws: int = DRAWS,
    progress: Callable[[int], object] = lambda _: None,
) -> SteppedPairs:
    """Of ``counts[s, u]`` (tp, fp, fn); several blocks are tested on the mean of their scores.

    A pair with nothing to divide by in one of the blocks is not tested.
    """
    if len(blocks) * counts.shape[0] * draws * 2 > MOST_SUMS:
        raise UsageFault(
            f"{draws:,} draws of {counts.shape[0]} systems do not fit; tie_rule = 'holm' can, in more time"
        )
    columns = np.stack([2 * counts[..., 0], 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]])
    sums = [columns[:, :, block].sum(axis=2) for block in blocks]
    able = [pair for pair in pairs if all(of[1, list(pair)].all() for of in sums)]
    thrown = _Flips(sums, _signed_sums(columns, blocks, seed, draws, progress))
    distance, unit, reached = thrown.alone(able)
    p = {pair: (1 + int(count)) / (draws + 1) for pair, count in zip(able, reached, strict=True)}
    return SteppedPairs(p, thrown.adjusted(able, distance, unit))


class _Flips(Struct, frozen=True, eq=False):
    """``sums[block]`` (2, systems): U and D; ``signed[block]`` (2, systems, draws): the same with each draw's signs."""

    sums: list[NDArray[np.int64]]
    signed: list[NDArray[Any]]

    @property
    def draws(self) -> int:
        return int(self.signed[0].shape[2])

    def alone(self, pairs: Sequence[Pair]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """How far apart each pair is and its unit, and how many draws are as far."""
        distance, unit = np.zeros(len(pairs)), np.zeros(len(pairs))
        reached = np.zeros(len(pairs), np.int64)
        for at, pair in enumerate(pairs):
            distance[at], flipped = self._statistic(pair)
            unit[at] = _upper(flipped)
            reached[at] = np.count_nonzero(flipped >= distance[at] - TOLERANCE * unit[at])
        return distance, unit, reached

    def adjusted(self, pairs: Sequence[Pair], distance: Floats, unit: Floats) -> dict[Pair, float]:
        """Pairs whose unit is 0 are never told apart, and keep no other from it."""
        out = dict.fromkeys(pairs, 1.0)
        known = np.flatnonzero(unit > 0)
        scaled = distance[known] / unit[known]
        rising = np.argsort(scaled, kind="stable")
        largest, counts = np.zeros(self.draws), np.zeros(len(known), np.int64)
        for at in rising:
            flipped = self._statistic(pairs[known[at]])[1]
            flipped /= unit[known[at]]
            np.maximum(largest, flipped, out=largest)
            counts[at] = np.count_nonzero(largest >= scaled[at] - TOLERANCE)
        so_far = 0
        for at in rising[::-1]:
            so_far = max(so_far, int(counts[at]))
            out[pairs[known[at]]] = (1 + so_far) / (self.draws + 1)
        return out

    def _statistic(self, pair: Pair) -> tuple[float, Floats]:
        """How far apart the pair is, and how far in every draw."""
        a, b = pair
        seen, leads = 0.0, list[Floats]()
        for (up, down), signed in zip(self.sums, self.signed, strict=True):
            share = (up[a] + up[b]) / (down[a] + down[b])
            lead, moved = np.empty((2, self.draws))
            np.subtract(signed[0, a], signed[0, b], out=lead)
            np.subtract(signed[1, a], signed[1, b], out=moved)
            moved *= share
            lead -= moved
            weight = 1.0
            if len(self.sums) > 1:
                weight = (down[a] + down[b]) / (2.0 * down[a] * down[b])
                lead *= weight
            seen += weight * (up[a] - up[b] - share * (down[a] - down[b]))
            leads.append(lead)
        flipped = sum(leads[1:], leads[0])
        return abs(float(seen)), np.abs(flipped, out=flipped)


def _upper(values: Floats) -> float:
    """The 99 % quantile, linear between neighbours; one place is looked for, for two take five times as long."""
    place = UNIT * (len(values) - 1)
    low = int(place)
    ordered = np.partition(values, low)
    below, above = float(ordered[low]), float(ordered[low + 1 :].min(initial=np.inf))
    return below + (above - below) * (place - low) if place > low else below


def _signed_sums(
    columns: NDArray[np.int64], blocks: Sequence[slice], seed: int, draws: int, progress: Callable[[int], object]
) -> list[NDArray[Any]]:
    """For each block (2, systems, draws), in whole numbers of the smallest precision that holds them."""
    units, systems = columns.shape[2], columns.shape[1]
    dtype = exact_dtype(units, 2 * int(np.abs(columns).max(initial=0)))
    parts = [columns[:, :, block].reshape(2 * systems, -1).astype(dtype) for block in blocks]
    out: list[NDArray[Any]] = [np.empty((2, systems, draws), dtype) for _ in blocks]
    for where, thrown in _signs(seed, units, draws):
        for part, block, kept in zip(parts, blocks, out, strict=True):
            kept[:, :, where] = (part @ thrown[:, block].T.astype(dtype)).reshape(2, systems, -1)
        progress(len(thrown))
    return out


def _signs(seed: int, units: int, draws: int) -> Iterator[tuple[slice, NDArray[np.int8]]]:
    start = 0
    for thrown in coins(seed, units, draws, rows_for(units, _ROWS)):
        yield slice(start, start + len(thrown)), 2 * thrown.astype(np.int8) - 1
        start += len(thrown)
