"""Overlaps between two sides, and the most pairs of them that can be made one to one.

Both sides are sorted once and swept from left to right, so the work grows with the number of overlapping
pairs and not with the product of the two sides.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

Extent = tuple[int, int]
Pair = tuple[int, int]


def overlapping_pairs(gold: Sequence[Extent], predictions: Sequence[Extent]) -> list[Pair]:
    """Every (gold, prediction) pair of indices whose half-open extents share at least one unit."""
    events = [(start, end, 0, i) for i, (start, end) in enumerate(gold)]
    events += [(start, end, 1, i) for i, (start, end) in enumerate(predictions)]
    events.sort()
    waiting: tuple[list[Pair], list[Pair]] = ([], [])
    pairs: list[Pair] = []
    for start, end, side, index in events:
        others = waiting[1 - side]
        if others:
            others[:] = [other for other in others if other[0] > start]
            pairs += [(index, j) if side == 0 else (j, index) for _, j in others]
        waiting[side].append((end, index))
    return pairs


def split_contested(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Pairs whose two members have no other partner, and the rest."""
    gold = Counter(i for i, _ in pairs)
    predictions = Counter(j for _, j in pairs)
    alone = [(i, j) for i, j in pairs if gold[i] == 1 and predictions[j] == 1]
    contested = [(i, j) for i, j in pairs if gold[i] > 1 or predictions[j] > 1]
    return alone, contested


def maximum_matching(pairs: Sequence[Pair]) -> int:
    """How many of these pairs can be taken at most when nobody is taken twice."""
    alone, contested = split_contested(pairs)
    if not contested:
        return len(alone)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, columns = _numbered(i for i, _ in contested), _numbered(j for _, j in contested)
    where = ([rows[i] for i, _ in contested], [columns[j] for _, j in contested])
    graph = coo_array(([1] * len(contested), where), shape=(len(rows), len(columns)))
    partners = maximum_bipartite_matching(graph.tocsr(), perm_type="column")
    return len(alone) + int((partners >= 0).sum())


def heaviest_matching(weights: Mapping[Pair, tuple[int, ...]]) -> list[Pair]:
    """The one-to-one pairs whose weights, added up place by place, are first in lexicographic order.

    Weights are small tuples of 0 and 1, most important place first. Places are folded into one number in a
    base larger than any place's sum, so no number of lesser gains outweighs one greater gain. Every row gets
    a column of its own that stands for "stays alone", which makes a full matching of the rows exist always.
    """
    chosen, contested = split_contested(list(weights))
    if not contested:
        return chosen
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, columns = _numbered(i for i, _ in contested), _numbered(j for _, j in contested)
    base = min(len(rows), len(columns)) + 1
    entries = [(rows[i], columns[j], 1.0 + _folded(weights[i, j], base)) for i, j in contested]
    entries += [(row, len(columns) + row, 1.0) for row in range(len(rows))]
    at_row, at_column, values = zip(*entries, strict=True)
    shape = (len(rows), len(columns) + len(rows))
    graph = coo_array((values, (at_row, at_column)), shape=shape).tocsr()
    matched = min_weight_full_bipartite_matching(graph, maximize=True)
    row_of, column_of = list(rows), list(columns)
    pairs = zip(*(side.tolist() for side in matched), strict=True)
    return chosen + [(row_of[row], column_of[column]) for row, column in pairs if column < len(columns)]


def _numbered(items: Iterable[int]) -> dict[int, int]:
    return {item: number for number, item in enumerate(dict.fromkeys(items))}


def _folded(places: tuple[int, ...], base: int) -> int:
    number = 0
    for place in places:
        number = number * base + place
    return number
