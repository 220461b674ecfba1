"""neleval's overlap credits of a whole corpus at once.

Partners are found all together where no two mentions of one side overlap; where some do, the mentions around are
walked as the original walks them. Sums run in the original's order of mentions.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sandscore.measures.mention_partners import CREDITS, Credits, Mention, partners_of, worth
from sandscore.profiles.neleval.neleval_columns import Integers, MentionColumns, MentionCorpus

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def credit_sums_of(corpus: MentionCorpus, *, typed: bool) -> Credits:
    """Summed credit of each side under ``max`` and ``sum``."""
    sides = corpus.system, corpus.gold
    clusters = _clusters(sides, [corpus.bucket(side, typed=typed) * corpus.width for side in sides])
    of_both = list(zip(sides, clusters, strict=True))
    tangled = np.union1d(*(_tangled(side, cluster, corpus.width) for side, cluster in of_both))
    walked = [_among(cluster, tangled) for cluster in clusters]
    shares = [
        _shares(of_both[0], of_both[1], walked[0], corpus.width),
        _shares(of_both[1], of_both[0], walked[1], corpus.width),
    ]
    _walk_into(shares, sides, _by_cluster([np.flatnonzero(side) for side in walked], clusters))
    return {
        (name, way): float(np.add.accumulate(column)[-1]) if len(column) else 0.0
        for name, ways in zip(("system", "gold"), shares, strict=True)
        for way, column in ways.items()
    }


def _clusters(sides: Sequence[MentionColumns], bases: Sequence[Integers]) -> list[Integers]:
    """Both sides' mentions numbered by stretch of text that mentions of either side cover without a gap.

    The walk never looks across a gap, so that each stretch is a corpus of its own.
    """
    start = np.concatenate([base + side.start for side, base in zip(sides, bases, strict=True)])
    end = np.concatenate([base + side.end for side, base in zip(sides, bases, strict=True)])
    order = np.argsort(start, kind="stable")
    reached = np.maximum.accumulate(end[order])
    numbers = np.empty(len(start), np.int64)
    numbers[order] = np.cumsum(np.concatenate((np.zeros(min(len(start), 1), bool), start[order][1:] > reached[:-1])))
    return np.split(numbers, [len(sides[0])])


def _in_order(side: MentionColumns, cluster: Integers, width: int) -> Integers:
    order: Integers = np.argsort(cluster * width + side.start, kind="stable")
    return order


def _tangled(side: MentionColumns, cluster: Integers, width: int) -> Integers:
    """The clusters where a mention overlaps the one before it on its own side."""
    order = _in_order(side, cluster, width)
    of, start, end = cluster[order], side.start[order], side.end[order]
    tangled: Integers = of[1:][(of[1:] == of[:-1]) & (start[1:] <= end[:-1])]
    return tangled


def _among(cluster: Integers, few: Integers) -> Flags:
    if not len(few):
        return np.zeros(len(cluster), np.bool_)
    at = np.minimum(np.searchsorted(few, cluster), len(few) - 1)
    found: Flags = few[at] == cluster
    return found


def _shares(
    one: tuple[MentionColumns, Integers], other: tuple[MentionColumns, Integers], but: Flags, width: int
) -> dict[str, Floats]:
    """What each mention of one side, ``but`` some, has of the other, where neither side overlaps itself."""
    (ours, cluster), (theirs, their_cluster) = one, other
    order = _in_order(theirs, their_cluster, width)
    start, end, base = theirs.start[order], theirs.end[order], their_cluster[order] * width
    first = np.searchsorted(base + end, cluster * width + ours.start, "left")
    stop = np.searchsorted(base + start, cluster * width + ours.end, "right")
    number = np.where(but, 0, stop - first)
    mine = np.repeat(np.arange(len(ours)), number)
    begins = np.cumsum(number) - number
    partner = np.arange(len(mine)) - begins[mine] + first[mine]
    shared = np.minimum(ours.end[mine], end[partner]) - np.maximum(ours.start[mine], start[partner]) + 1
    some = number > 0
    length = (ours.end - ours.start + 1)[some]
    found = {}
    for way, fold in (("max", np.maximum), ("sum", np.add)):
        column = np.zeros(len(ours))
        if len(mine):
            column[some] = fold.reduceat(shared, begins[some]) / length
        found[way] = column
    return found


def _by_cluster(walked: Sequence[Integers], clusters: Sequence[Integers]) -> Iterable[tuple[list[int], list[int]]]:
    """For each of these clusters its rows on either side, in internal order."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for side in (0, 1):
        for row, cluster in zip(walked[side].tolist(), clusters[side][walked[side]].tolist(), strict=True):
            found.setdefault(cluster, ([], []))[side].append(row)
    return found.values()


def _walk_into(
    shares: Sequence[dict[str, Floats]],
    sides: tuple[MentionColumns, MentionColumns],
    walked: Iterable[tuple[list[int], list[int]]],
) -> None:
    ends = [(side.start.tolist(), side.end.tolist()) for side in sides]
    rows: tuple[list[int], list[int]] = ([], [])
    worths: list[dict[str, list[float]]] = [{way: [] for way in CREDITS} for _ in sides]
    for both in walked:
        mentions = [
            [Mention("", starts[row], stops[row], None) for row in own]
            for (starts, stops), own in zip(ends, both, strict=True)
        ]
        partners = partners_of(mentions[0], mentions[1])
        for at in (0, 1):
            rows[at].extend(both[at])
            for way, found in worths[at].items():
                found += [worth(m, those, way) for m, those in zip(mentions[at], partners[at], strict=True)]
    for share, own, worth_of in zip(shares, rows, worths, strict=True):
        for way, column in share.items():
            column[own] = worth_of[way]
