"""Matching where a boundary may be a few characters off: one-to-one and as many as there can be.

Matching in the crowd: spans that share their start with others of their own side, by sorted keys.
"""

from bisect import bisect_left
from collections import Counter

from sandscore.base.arrays import Ints, Mask, np
from sandscore.base.removable_rooms import compiled
from sandscore.measures.aligned import Crowd
from sandscore.measures.packed_keys import Packed, paired, per_group, repeats

Span = tuple[int, int]


def near_lengths(gold: Ints, predicted: Ints, radix: int, tolerance: int) -> Mask:
    """Which predictions a maximum matching takes, of spans that start together and nearly end together.

    Keys are sorted and are ``(where it starts) * radix + length``. Among spans of one start it is optimal to
    walk both sides by length and pair whatever fits first.
    """
    matched = np.zeros(len(predicted), bool)
    if not len(gold) or not len(predicted):
        return matched
    starts, p_starts = gold // radix, predicted // radix
    at = np.minimum(np.searchsorted(starts, p_starts), len(starts) - 1)
    shared = starts[at] == p_starts
    crowded = shared & (repeats(p_starts) | repeats(starts)[at])
    single = np.flatnonzero(shared & ~crowded)
    matched[single] = np.abs(gold[at[single]] - predicted[single]) <= tolerance
    which = np.flatnonzero(crowded)
    if len(which):
        here = p_starts[which]
        nearest = np.minimum(np.searchsorted(here, starts), len(here) - 1)
        keys = predicted[which]
        start = keys - keys % radix
        least, most = np.maximum(keys - tolerance, start), np.minimum(keys + tolerance, start + radix - 1)
        matched[which] = walked(gold[here[nearest] == starts], least, most)
    return matched


def walked(gold: Ints, least: Ints, most: Ints) -> Mask:
    """Whoever comes first takes the first gold key, not yet taken, that lies from its least to its most; all sorted."""
    known = compiled().pair_near(gold, least, most)
    return _walked_slowly(gold, least, most) if known is None else known


def _walked_slowly(gold: Ints, least: Ints, most: Ints) -> Mask:
    keys, taken = gold.tolist(), list[bool]()
    at, last = 0, len(keys)
    for low, high in zip(least.tolist(), most.tolist(), strict=True):
        while at < last and keys[at] < low:
            at += 1
        taken.append(at < last and keys[at] <= high)
        at += taken[-1]
    return np.array(taken, bool)


def near_boundaries(groups: Ints, split: int, starts: Ints, ends: Ints, n: int, tolerance: int) -> Ints:
    """Per group, maximum matching of spans whose start and end each differ by at most ``tolerance``.

    Gold comes first, predictions from ``split`` on. Equal spans are one node with a capacity, so copies cost
    nothing, and the maximum flow is the matching.
    """
    gold, predicted = (
        _spans_by_group(groups[side], starts[side], ends[side]) for side in (slice(None, split), slice(split, None))
    )
    out = np.zeros(n, np.int64)
    for group in gold.keys() & predicted.keys():
        out[group] = _flow(gold[group], predicted[group], tolerance)
    return out


def _spans_by_group(groups: Ints, starts: Ints, ends: Ints) -> dict[int, Counter[Span]]:
    found: dict[int, Counter[Span]] = {}
    for group, start, end in zip(groups.tolist(), starts.tolist(), ends.tolist(), strict=True):
        found.setdefault(group, Counter())[start, end] += 1
    return found


def _flow(gold: Counter[Span], predicted: Counter[Span], tolerance: int) -> int:
    golds, predictions = list(gold.items()), list(predicted.items())
    edges = _edges([span for span, _ in golds], [span for span, _ in predictions], tolerance)
    g_copies, p_copies = (np.array([copies for _, copies in side], np.int64) for side in (golds, predictions))
    if all(int(np.bincount(side).max(initial=0)) <= 1 for side in edges):
        return int(np.minimum(g_copies[edges[0]], p_copies[edges[1]]).sum())
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    source, sink = len(golds) + len(predictions), len(golds) + len(predictions) + 1
    rows = np.concatenate((np.full(len(golds), source), edges[0], len(golds) + np.arange(len(predictions))))
    columns = np.concatenate((np.arange(len(golds)), len(golds) + edges[1], np.full(len(predictions), sink)))
    capacity = np.concatenate((g_copies, g_copies[edges[0]], p_copies)).astype(np.int32)
    graph = csr_array((capacity, (rows, columns)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(graph, source, sink).flow_value)


def _edges(gold: list[Span], predicted: list[Span], tolerance: int) -> tuple[Ints, Ints]:
    """Numbers of the distinct spans that are near enough to match."""
    ends: dict[int, list[tuple[int, int]]] = {}
    for number, (start, end) in enumerate(predicted):
        ends.setdefault(start, []).append((end, number))
    for at_start in ends.values():
        at_start.sort()
    pairs: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(gold):
        for near in range(start - tolerance, start + tolerance + 1):
            at_start = ends.get(near, [])
            first = bisect_left(at_start, (end - tolerance, -1))
            last = bisect_left(at_start, (end + tolerance + 1, -1))
            pairs += [(number, other) for _, other in at_start[first:last]]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def strict(crowd: Crowd) -> Ints:
    """Per note, the multiset intersection of spans."""
    return per_group(paired(*crowd.spans.sides()), crowd.per_note())


def strict_by_label(crowd: Crowd, labels: int) -> Ints:
    """Per label, the same among annotations with that label."""
    gold, predicted = crowd.spans.plus(np.maximum(crowd.label, 0), labels).where(crowd.labelled).sides()
    return np.bincount(predicted[paired(gold, predicted)] % labels, minlength=labels)


def near(crowd: Crowd, tolerance: int) -> Ints:
    """Per note, maximum matching of spans whose lengths are near."""
    gold, predicted = crowd.starts.plus(crowd.length, crowd.long).sides()
    return per_group(near_lengths(gold, predicted, crowd.long, tolerance), crowd.per_note())


def near_by_label(crowd: Crowd, tolerance: int, labels: int) -> Ints:
    """Per label, the same among annotations with that label."""
    keys = crowd.starts.plus(np.maximum(crowd.label, 0), labels).plus(crowd.length, crowd.long)
    gold, predicted = keys.where(crowd.labelled).sides()
    matched = predicted[near_lengths(gold, predicted, crowd.long, tolerance)]
    return np.bincount(matched // crowd.long % labels, minlength=labels)


def carried(crowd: Crowd, carrying: tuple[Mask, Mask]) -> Mask:
    """Masks over both sides, for those of the crowd."""
    return np.concatenate((carrying[0][crowd.gold_rows], carrying[1][crowd.predicted_rows]))


def by_label_rule(crowd: Crowd, values: int, value_of: Ints, carrying: Mask) -> tuple[Ints, Ints]:
    """Per note: annotations with equal values on a span, and predictions that unlabelled gold excuses."""
    keys = crowd.spans.plus(value_of[np.maximum(crowd.label, 0)], values)
    gold, predicted = keys.where(carrying).sides()
    tp = per_group(paired(gold, predicted), crowd.per_note(carrying))
    bare = ~crowd.labelled
    bare[crowd.split :] = False
    if not bare.any():
        return tp, np.zeros(crowd.notes, np.int64)
    left = bare | _unmatched(keys, carrying)
    gold, predicted = crowd.spans.where(left).sides()
    return tp, per_group(paired(gold, predicted), crowd.per_note(left))


def _unmatched(keys: Packed, carrying: Mask) -> Mask:
    """The predictions beyond the tp of their span and value."""
    gold = np.sort(keys.keys[: keys.split][carrying[: keys.split]])
    which = keys.split + np.flatnonzero(carrying[keys.split :])
    order = which[np.argsort(keys.keys[which], kind="stable")]
    mask = np.zeros(len(keys.keys), bool)
    mask[order[~paired(gold, keys.keys[order])]] = True
    return mask
